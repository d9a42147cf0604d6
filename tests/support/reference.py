"""The reference by itself, asked with keywords, some of which the public functions refuse."""

import numpy as np

from gpu_collide._options import Options
from gpu_collide.reference import screw


def collide_reference(bodies, pairs, **options):
    """Its contacts, without filters unless they are asked for."""
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return screw.collide_reference(bodies, pairs, Options(**{"filters": (), **options}))
