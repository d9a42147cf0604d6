"""Every contact of a car with its race track over a recorded race: ``python examples/race.py [RACE.npz]``.

Between two recorded poses the car moves by up to several times its own length, so looking for overlaps at the
recorded poses misses much. Without a file a made-up race is taken; what a file holds is in the help of
``gpu-collide race``, which does the same and draws a picture.
"""

import argparse
import sys

import numpy as np

import gpu_collide as gc
from gpu_collide.scenes import demo_race


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "recording", nargs="?", help="file of a race (.npz, .zarr); without it one is made up"
    )
    asked = parser.parse_args(arguments)
    if asked.recording:
        recording = gc.load_recording(asked.recording)
    else:
        recording = gc.Recording.from_arrays(demo_race())
    # The made-up car is put back onto the road once: such a step is no motion, so it is skipped and listed.
    found = recording.collide(max_speed=70.0)

    print(recording)
    print(found)
    contacts = np.diff(found.contact_start)
    for i in np.flatnonzero(contacts)[:8]:
        first = found.contact_start[i]
        x, y, z = found.position[first]
        print(
            f"{found.time[first]:9.3f} s at ({x:8.2f}, {y:8.2f}, {z:7.2f}), "
            f"approaching at {-found.normal_speed[first]:5.2f} m/s, {contacts[i]} contacts in the step"
        )
    for step, body, reason in found.skipped.tolist():
        print(f"{recording.times[step]:9.3f} s body {body} was skipped: {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
