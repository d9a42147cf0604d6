"""Ids of bodies in results: what the recording calls each moving body, beside its number.

They stand in ``info["ids"]``, a list with one for each moving body; results of recordings without ids have no
such entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.results.indexing import has_bodies

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

    from gpu_collide._types import Array

__all__ = ["BodyIds", "array_of_ids"]


def array_of_ids(ids: Sequence[Any]) -> Array:
    """Ids (n,) as an array: of numbers or texts if all are of that kind, else of the objects themselves."""
    kinds = {type(value) for value in ids}
    if kinds == {int} and all(-(1 << 63) <= value < 1 << 63 for value in ids):
        return np.array(ids, np.int64)
    if kinds == {str} or kinds == {float}:
        return np.array(ids)
    array = np.empty(len(ids), object)
    array[:] = ids
    return array


class BodyIds:
    """What results with `body_a` and `body_b` say of the ids of the bodies of a recording."""

    info: dict[str, Any]
    body_a: Array
    body_b: Array

    @property
    def id_a(self) -> Array:
        """Id of body A in each row, (len,); its number where the recording has no ids, None where it stands
        still."""
        return self.ids_of(self.body_a)

    @property
    def id_b(self) -> Array:
        """Id of body B, as `id_a`."""
        return self.ids_of(self.body_b)

    def _told(self, rows: slice) -> dict[str, Array]:
        told: dict[str, Array] = super()._told(rows)  # type: ignore[misc]  # of `Result`
        if "ids" in self.info:
            told |= {"id_a": self.ids_of(self.body_a[rows]), "id_b": self.ids_of(self.body_b[rows])}
        return told

    def ids_of(self, bodies: Any) -> Array:
        """Ids of bodies given by their numbers.

        Parameters
        ----------
        bodies : (...) array_like of int
            Such as ``found.pairs["body_a"]`` or ``found.skipped["body"]``.

        Returns
        -------
        (...) array
            Integers or texts if all ids are of that kind, else objects; None for what stands still, which has
            no id. Where the recording has no ids, `bodies` as they are.
        """
        bodies = np.asarray(bodies)
        if "ids" not in self.info:
            return bodies
        ids = array_of_ids(self.info["ids"])
        still = bodies >= len(ids)
        if not still.any():
            return ids[bodies]
        told = np.empty(bodies.shape, object)
        told[~still] = ids[bodies[~still]].astype(object)
        return told

    def _table_ids(self, bodies: Array) -> Any:
        """`ids_of` as a column of a table: of one type, ids of several kinds as texts, masked where a body
        stands still. Whether it can be masked depends on the query, not on the rows."""
        ids = array_of_ids(self.info["ids"])
        if ids.dtype == object:
            ids = np.array([str(value) for value in self.info["ids"]], "U")
        if not self.info.get("n_static", 0):
            return ids[bodies]
        still = bodies >= len(ids)
        return np.ma.array(
            np.append(ids, np.zeros(1, ids.dtype))[np.where(still, len(ids), bodies)], mask=still
        )

    def of_ids(self, a: Any, b: Any = None) -> Self:
        """The rows of a body given by its id, or of two bodies in whichever order.

        Raises
        ------
        KeyError
            No body has that id.
        """
        other = None if b is None else self._number_of(b)
        rows = has_bodies(self.body_a, self.body_b, self._number_of(a), other)
        return self[rows]  # type: ignore[index]  # of `Result`

    def _number_of(self, value: Any) -> int:
        if "ids" not in self.info:
            raise KeyError(f"{value!r}: the bodies of this result have no ids; compare body_a and body_b")
        ids = self.info["ids"]
        if value not in ids:
            some = ", ".join(map(repr, ids[:5])) + (", ..." if len(ids) > 5 else "")
            raise KeyError(f"{value!r}: no body has this id; it has {some}")
        return int(ids.index(value))
