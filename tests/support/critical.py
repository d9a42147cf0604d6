"""What `gc.clearance` tells, against the critical points of each pair."""

import numpy as np

import gpu_collide as gc
from tests.oracle.clearance import Passage
from tests.oracle.critical_points import clearance_of

#: Of sizes and of ways, as tests/acceptance/clearance.py has them. Worst seen, of 12 pairs of each family and
#: motion: 1.1e-12 of the size, where a gap of 1e-12 is touch; else 2e-13 (`alike`).
TOLERANCE, ROUNDING, OF_WAY = 1e-9, 2e-12, 4e-13


def off(bodies, pairs, found, motion):
    """Rows that are told wrongly, (k,), and how far distances are off, (n,), in sizes: above 0 too far. Pairs
    that overlap at the start are not looked at."""
    size = np.array([mesh.radius for mesh in bodies.meshes])[bodies.shape[pairs]].max(axis=1)
    way = np.linalg.norm(bodies.end.position - bodies.start.position, axis=1).max()
    close = np.maximum(ROUNDING * size, OF_WAY * way)
    least, looked = np.zeros(len(pairs)), found.status != gc.Status.INITIAL_OVERLAP
    for k in np.flatnonzero(looked):
        least[k], _ = clearance_of(Passage.of(bodies, *pairs[k], motion))
    good = np.isin(found.status, [gc.Status.MISS, gc.Status.HIT])
    good &= np.abs(found.distance - least) <= close
    good &= (found.lower_bound <= least + close) & (found.lower_bound >= least - TOLERANCE * size - close)
    error = np.where(looked, found.distance - least, 0.0) / size
    return np.flatnonzero(looked & ~good), error
