"""Poses of each pair's two bodies as bodies of their own, in float32, relative to where A starts."""

import numpy as np

__all__ = ["apart"]


def apart(pairs, shape, valid, start_position, end_position, start_quat, end_quat):
    """Pairs (p, 2), meshes and validity (2p,), positions (2p, 3) and quaternions (2p, 4) at start and end."""
    of = np.ravel(pairs)
    origin = np.repeat(start_position[np.asarray(pairs)[:, 0]], 2, axis=0)
    good = np.asarray(valid, bool)[of]
    with np.errstate(over="ignore"):
        places = [
            np.where(good[:, None], position[of] - origin, 0.0).astype(np.float32)
            for position in (start_position, end_position)
        ]
        quats = [quat[of].astype(np.float32) for quat in (start_quat, end_quat)]
    return np.arange(len(of)).reshape(-1, 2), np.asarray(shape)[of], good, *places, *quats
