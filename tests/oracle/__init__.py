"""A brute force over all feature pairs, and an honest comparison: the second opinion of the tests.

It shares nothing with the library: it reads vertices, face loops and poses, and derives everything else
itself.
To try any `collide` function (same call as `gpu_collide.collide`):

    from tests import oracle
    from tests.oracle import scenes

    scene = scenes.FAMILIES["random_cars"](seed=1, n=200)
    found = gpu_collide.collide(scene.bodies(), scene.pairs, backend="cpu")
    report = oracle.check(found, scene)          # or oracle.compare(found, oracle.expect(scene))
    print(report)                                # what was missed, invented, and by which margins
    assert report.ok, report

`oracle.contacts(mesh_a, mesh_b, start_a, end_a, start_b, end_b)` gives the atoms (tests/oracle/judge.py) of
pairs of
two meshes, poses being (position (p, 3), quaternion w, x, y, z (p, 4)).
"""

from tests.oracle.judge import ATOM, NOMINAL, OPTIONAL, REQUIRED
from tests.oracle.matching import Report, check, compare
from tests.oracle.query import Expected, contacts, expect
from tests.oracle.roots import EE, FV, VF
from tests.oracle.solid import RawMesh, Solid

__all__ = [
    "ATOM", "EE", "FV", "NOMINAL", "OPTIONAL", "REQUIRED", "VF", "Expected", "RawMesh", "Report", "Solid",
    "check",
    "compare", "contacts", "expect",
]  # fmt: skip
