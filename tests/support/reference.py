"""The reference by itself, asked with keywords, some of which the public functions refuse."""

import numpy as np

from gpu_collide._options import Options
from gpu_collide.reference import narrow_phase


def collide_reference(bodies, pairs, **options):
    """Its contacts, without filters unless they are asked for."""
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    tuning = options.pop("tuning", None)
    parts = {"filters": ()} if tuning is None else vars(tuning)
    return narrow_phase.collide_reference(bodies, pairs, Options(**{**parts, **options}))
