"""Tables of large meshes in shared buffers: each is stored once, whatever other meshes it is used with."""

from __future__ import annotations

import weakref

from gpu_collide.pipeline.mesh_tables.layout import (
    BEHIND,
    KINDS,
    TABLES,
    assemble,
    check_index,
    pieces_of,
    sizes_of,
)

__all__ = ["MeshArena"]

#: What a shelf has room for, in shares of what it is made for; and how much of older meshes goes along to a
#: new shelf, in shares of what the new ones need.
ROOM, OTHERS = 1.5, 3
MOST_SMALL = 1 << 10  # rows of each kind beyond that


class MeshArena:
    """Buffers of one backend in one precision that meshes are put into, one after another.

    What is there stays where it is. If a mesh does not fit, there is to be a new shelf (`renewed`); if the
    greater part of what is there is of meshes that are gone, the shelf lets go of everything. For one thread
    at a time, but for what the end of a mesh does.

    Parameters
    ----------
    backend : Backend
    precision : str
    near : bool
        With the patches and trees of the meshes.

    Attributes
    ----------
    gone : bool
        It has let go of everything: nothing can be put there any more.
    """

    def __init__(self, backend, precision, near):
        self.backend, self.precision, self.near = backend, precision, near
        self.gone = False
        self._room = dict.fromkeys(KINDS, 0)
        self._used = dict.fromkeys(KINDS, 0)
        self._tables, self._lost = {}, []
        self._places: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # asked for last, comes last
        self._users: weakref.WeakSet = weakref.WeakSet()
        self._ends = []

    @property
    def nbytes(self):
        """Bytes of its buffers."""
        return sum(buffer.nbytes for buffer in list(self._tables.values()))

    def renewed(self, meshes):
        """A shelf with room for `meshes`, and for those asked for last, which are there already; this one
        lets go of its buffers."""
        new = MeshArena(self.backend, self.precision, self.near)
        parts = {mesh: sizes_of(mesh, self.near) for mesh in meshes}
        limit = OTHERS * sum(p.rows["index"] for p in parts.values())
        for mesh, (part, _) in reversed(list(self._places.items())):
            if mesh not in parts and (limit := limit - part.rows["index"]) >= 0:
                parts[mesh] = part
        self.clear()
        need = {kind: sum(p.rows[kind] for p in parts.values()) for kind in KINDS}
        new._room = {kind: int(ROOM * rows) + MOST_SMALL for kind, rows in need.items()}
        check_index(new._room["index"])
        for name, table in TABLES.items():
            size = table.width * sum(new._room[kind] for kind in table.kinds)
            new._tables[name] = self.backend.empty(size, table.dtype(self.precision))
        for mesh, part in reversed(parts.items()):
            new._put(mesh, part)
        return new

    def tables(self, meshes, user):
        """`MeshTables` of some meshes, or None if there is no room for all of them.

        `user` is told when the shelf lets go: its attribute `tables` becomes None.
        """
        for mesh in dict.fromkeys(meshes):
            place = self._places.pop(mesh, None)
            if place is not None:
                self._places[mesh] = place
            elif not self._put(mesh, sizes_of(mesh, self.near)):
                return None
        self._users.add(user)
        found = [self._places[mesh] for mesh in meshes]
        places = {kind: [begins[kind] for _, begins in found] for kind in KINDS}
        for kind, before in BEHIND.items():
            places[kind] = [begin + self._room[before] for begin in places[kind]]
        parts = [part for part, _ in found]
        return assemble(meshes, parts, places, self._tables, self.backend, self.precision, self.near)

    def _put(self, mesh, part):
        """Write a mesh behind the others; False if there is no room."""
        if self.gone or any(self._used[kind] + rows > self._room[kind] for kind, rows in part.rows.items()):
            return False
        begins = dict(self._used)
        for (name, kind), arrays in pieces_of(mesh, self.near, self.precision).items():
            table, before = TABLES[name], self._room[BEHIND[kind]] if kind in BEHIND else 0
            at, dtype = table.width * (before + begins[kind]), table.dtype(self.precision)
            for array in arrays:
                self.backend.write(self._tables[name], array.astype(dtype, copy=False), at)
                at += array.size
        # known from here on; what an interrupt leaves before is written over
        self._used = {kind: begins[kind] + rows for kind, rows in part.rows.items()}
        self._places[mesh] = part, begins
        this, size = weakref.ref(self), part.rows["index"]

        def end(_):
            if (shelf := this()) is not None:
                shelf._lost.append(size)
                if 2 * sum(shelf._lost) > shelf._used["index"]:
                    shelf.clear()

        self._ends.append(weakref.ref(mesh, end))
        return True

    def clear(self):
        """Let go of everything; those who have tables of it forget them."""
        self.gone, self._tables = True, {}
        self._places = weakref.WeakKeyDictionary()
        for user in list(self._users):
            user.tables = None
