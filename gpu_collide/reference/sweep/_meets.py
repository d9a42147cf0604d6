"""Which casts meet a body, by groups, masks and the body that each ignores."""

from __future__ import annotations

import numpy as np

__all__ = ["meets"]


def meets(casts, rules, body):
    """(n,) bool. A cast meets a body if each has a bit in its group that is in the other's mask, and it does
    not ignore it, and both are in one world; without rules a cast has all bits, and so has a body that is in
    no scene."""
    if casts.rules is None:
        return np.ones(len(casts), bool)
    group, mask, ignore, world = casts.rules.T
    place = 0 if rules is None or rules.world is None else rules.rank_of(rules.world[[body]])[0]
    own_group = own_mask = np.uint32(0xFFFFFFFF)
    if rules is not None and rules.group is not None:
        own_group = rules.group[body]
    if rules is not None and rules.mask is not None:
        own_mask = rules.mask[body]
    seen = np.bitwise_and(group.view(np.uint32), own_mask) > 0
    sees = np.bitwise_and(mask.view(np.uint32), own_group) > 0
    return seen & sees & (ignore != body) & ((world == 0) | (place == 0) | (world == place))
