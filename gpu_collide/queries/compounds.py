"""Queries about bodies with compounds: asked of the rows that these are, told of the bodies."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import check_pairs, lengths_of_pairs
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.rules import check_rules
from gpu_collide.results.contacts import Contacts
from gpu_collide.results.of_bodies import clearance_of_bodies, contacts_of_bodies

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    _P = ParamSpec("_P")
    _R = TypeVar("_R")

__all__ = ["for_compounds"]

_RULES = ("world", "group", "mask", "ignore", "still_pairs")
#: Arguments that have a length for each of the given pairs.
_LENGTHS = ("target_distance", "max_distance", "margin")


def for_compounds(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """`call`, a query whose first argument is bodies or a scene, for such with compounds as well.

    The query is asked of rows: a scene has them, of bodies they are `Bodies.rows`. Pairs of bodies become all
    pairs of their rows, rules those of rows of which two of a body never meet; results are put together.
    """
    parameters = inspect.signature(call).parameters
    subject = next(iter(parameters))

    @functools.wraps(call)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        of: Any = args[0] if args else kwargs.get(subject)
        if getattr(of, "expansion", None) is None:
            return call(*args, **kwargs)
        return _of_rows(call, of, dict(zip(parameters, args, strict=False)) | kwargs, subject)

    return asked


def _of_rows(call: Any, of: Any, asked: dict[str, Any], subject: str) -> Any:
    to = of.expansion
    if asked.get("exit"):
        raise ValueError(
            "exit: expected False of bodies with compounds of several meshes, whose parts leave at different "
            "times, got True; ask clearance at some times"
        )
    times: Any = asked.get("at")
    regions = bool(asked.get("regions"))
    if regions and np.size(times) > len(np.unique(times)):
        raise ValueError(
            "at: expected different times with regions of compounds of several meshes, got some that are "
            "equal; ask for each once"
        )
    pairs: Any = None
    owner: Any = None
    if asked.get("pairs") is not None:
        pairs = check_pairs(asked["pairs"], len(of))
        asked["pairs"], owner = to.products(pairs)
    elif isinstance(of, Bodies):
        told = {name: asked[name] for name in _RULES if name in asked}
        told["world"] = of.world if told.get("world") is None else told["world"]
        rules = to.rules(check_rules(len(of), **told).arguments())
        asked.update({name: rules[name] for name in _RULES if name in inspect.signature(call).parameters})
    for name in _LENGTHS:
        if np.ndim(asked.get(name, 0.0)):
            asked[name] = lengths_of_pairs(asked[name], name, None if pairs is None else len(pairs))[owner]
    if isinstance(of, Bodies):
        asked[subject] = of.rows
    found = call(**asked)
    if isinstance(found, np.ndarray):
        return to.bodies_of(found)[0]
    found = found.to_numpy()
    if pairs is None:
        pairs, owner = to.bodies_of(found.pairs)
    bodies = of if isinstance(of, Bodies) else of.bodies
    if bodies.worlds is not None:
        found.info["worlds"] = bodies.worlds
    if "invalid_bodies" in found.info:
        found.info["invalid_bodies"] = np.unique(to.body[found.info["invalid_bodies"]])
    if isinstance(found, Contacts):
        return contacts_of_bodies(found, to, bodies, pairs, owner, asked.get("contacts") == "first")
    if "margin" in found.info:
        return clearance_of_bodies(found, to, pairs, owner, None, True)
    return clearance_of_bodies(found, to, pairs, owner, 1 if times is None else np.size(times), regions)
