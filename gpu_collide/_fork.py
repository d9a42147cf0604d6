"""What a forked child makes anew: locks that another thread of the parent may have held, devices."""

from __future__ import annotations

import os
import weakref

__all__ = ["renew_after_fork"]

_owners: weakref.WeakSet = weakref.WeakSet()


def renew_after_fork(owner):
    """Call ``owner._after_fork()`` in every child that is forked while `owner` lives."""
    _owners.add(owner)


def _in_child():
    for owner in list(_owners):
        owner._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
