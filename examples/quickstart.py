"""A cube flies past another one and turns: every contact of the step.

python examples/quickstart.py
"""

import numpy as np

import gpu_collide as gc

cube = gc.shapes.box()
still = gc.Poses.identity(2)

# Two pairs: B flies straight into A, and B turns by 90 degrees about z while it passes A's corner.
half = np.sqrt(0.5)
start_b = gc.Poses.from_quat_wxyz([[-3.0, 0.1, 0.2], [-3.0, 1.1, 0.0]], [[1, 0, 0, 0], [1, 0, 0, 0]])
end_b = gc.Poses.from_quat_wxyz([[3.0, 0.1, 0.2], [3.0, 1.1, 0.0]], [[1, 0, 0, 0], [half, 0, 0, half]])

# Bodies 0 and 1 are A in the two pairs, bodies 2 and 3 are B. All have the same shape.
start = gc.Poses.from_quat_wxyz(
    np.concatenate([still.position, start_b.position]), np.concatenate([still.quat_wxyz, start_b.quat_wxyz])
)
end = gc.Poses.from_quat_wxyz(
    np.concatenate([still.position, end_b.position]), np.concatenate([still.quat_wxyz, end_b.quat_wxyz])
)
bodies = gc.Bodies(cube, None, start, end)

contacts = gc.collide(bodies, [[0, 2], [1, 3]])
print(contacts)
for pair in range(2):
    print(f"\npair {pair}: first contact at {contacts.toi[pair]:.6f}")
    for c in contacts.of_pair(pair):
        print(f"  {gc.Kind(c['kind']).name} t = {c['time']:.6f} at {c['position']} normal {c['normal']}")
