"""The filters between broad phase and narrow phase in NumPy float64, by other means than the kernels.

Each module has ``may_meet(screw, mesh_a, mesh_b)``, which is False only if nothing can touch during the step.
"""

import time as clock

from gpu_collide.reference.filters import f01_spheres, f02_boxes, f03_plane

__all__ = ["keeps"]

_TESTS = {"spheres": f01_spheres.may_meet, "boxes": f02_boxes.may_meet, "plane": f03_plane.may_meet}


def keeps(names, screw, mesh_a, mesh_b, report=None):
    """Whether the filters `names` leave a pair to the narrow phase; adds to `report`, if there is one."""
    for name in names:
        begun = clock.perf_counter()
        meets = _TESTS[name](screw, mesh_a, mesh_b)
        if report is not None:
            report.add(name, 1, int(not meets), clock.perf_counter() - begun)
        if not meets:
            return False
    return True
