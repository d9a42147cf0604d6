"""Ids of bodies as a recording gives them, of any kind, and the number that each row's body has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import first_few, how_many
from gpu_collide.results.ids import array_of_ids

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["check_distinct", "numbered_ids"]

_NONE = ("NAType", "NaTType")  # what pandas puts where there is nothing


def numbered_ids(values: Array, name: str) -> tuple[Array, Array]:
    """The different ids in order, (n,), and the number of each row's id among them, (r,) int64.

    Numbers come in their order, then texts, then all others by class and text, so that the order of rows has
    no say.

    Raises
    ------
    TypeError
        Ids that cannot be told apart, such as lists.
    ValueError
        Rows without an id, or ids of different kinds that are the same as text.
    """
    if values.dtype.kind in "iu" and values.dtype.itemsize <= 8:
        ids, codes = np.unique(values, return_inverse=True)
        return array_of_ids(ids.tolist()), codes.ravel()
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8")
    rows = values.tolist()
    try:
        known = dict.fromkeys(rows)
    except TypeError as error:
        raise TypeError(f"{name}: expected ids such as numbers or texts, got {error}") from None
    if any(map(_is_nothing, known)):
        empty = [k for k, value in enumerate(rows) if _is_nothing(value)]
        raise ValueError(
            f"{name}: expected an id in each row, got none in {how_many(len(empty), 'row')}, first: "
            f"{first_few(empty)}; leave these rows out"
        )
    plain = [value.item() if isinstance(value, np.generic) else value for value in known]
    ids = array_of_ids(sorted(plain, key=_place))
    check_distinct(ids.tolist(), name)
    number = {value: k for k, value in enumerate(ids.tolist())}
    return ids, np.fromiter(map(number.__getitem__, rows), np.int64, len(rows))


def check_distinct(ids: list[Any], name: str) -> None:
    """Raise unless ids differ, as texts too: in files a number and its text would be one."""
    seen: dict[str, Any] = {}
    for value in ids:
        other = seen.setdefault(str(value), value)
        if other is not value:
            raise ValueError(
                f"{name}: expected ids that differ as text, got {other!r} and {value!r}; is this one body? "
                "Make all ids of one kind, such as column.astype(str)"
            )


def _is_nothing(value: Any) -> bool:
    return value is None or type(value).__name__ in _NONE or (isinstance(value, float) and value != value)


def _place(value: Any) -> tuple[int, Any, str]:
    if isinstance(value, (int, float)):
        return 0, value, ""
    return (1, 0, value) if isinstance(value, str) else (2, 0, f"{type(value).__name__} {value}")
