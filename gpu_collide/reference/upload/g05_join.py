"""Which patches are joined to which mesh, from a list in any order."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from gpu_collide.backends import sources

__all__ = ["Joined", "joined", "parted"]

MESH = sources.record("mesh")
TALLY = list(sources.record("tally").offsets)


class Joined(NamedTuple):
    """What the launches read of the joined meshes; places count from the first of all.

    Attributes
    ----------
    entries : (n, 9) int
        Of each patch its number, what lies before it in its mesh, its faces as bits.
    mesh : (n,) int
        Joined mesh of each entry.
    mesh_start, edge0, side, headers, items : arrays of int
        Of each joined mesh: first entry, first edge, 2 pair + side, header. Pair and meshes of each item.
    totals : list of int
        Items, vertices, edges, faces, entries of index tables.
    """

    entries: np.ndarray
    mesh: np.ndarray
    mesh_start: np.ndarray
    edge0: np.ndarray
    side: np.ndarray
    headers: np.ndarray
    items: np.ndarray
    totals: list


def parted(todo, items, near, small):
    """For each number: does its pair look at near faces; of the others, has it two small meshes; neither?"""
    pairs = [None if pair < 0 else items[pair, 1:] for pair in todo]
    close = [pair is not None and bool(near[pair].any()) for pair in pairs]
    both = [
        pair is not None and not one and bool(small[pair].all())
        for pair, one in zip(pairs, close, strict=True)
    ]
    rest = [pair is not None and not (one or two) for pair, one, two in zip(pairs, close, both, strict=True)]
    return close, both, rest


def joined(listed, sizes, headers, n_pairs):
    """`Joined` of the rows of `listed` with a side; a pair has both sides or is left out."""
    faces: defaultdict = defaultdict(lambda: defaultdict(int))
    for side, part, mask in listed.tolist():
        if side >= 0:
            faces[side][part] |= mask
    sides = [side for side in sorted(faces) if side ^ 1 in faces]
    entries, mesh, start, made, edge0 = [], [], [0], [], []
    at = dict.fromkeys(("vertices", "edges", "faces", "topology"), 0)
    for m, side in enumerate(sides):
        sums = np.zeros(len(TALLY), np.int64)
        for part in sorted(faces[side]):
            entries.append([part, *sums, faces[side][part]])
            mesh.append(m)
            sums += sizes[part]
        start.append(len(entries))
        edge0.append(at["edges"])
        made.append(_header(dict(zip(TALLY, sums.tolist(), strict=True)), at, headers[min(faces[side])]))
    items = [(side // 2, m, m + 1) for m, side in enumerate(sides) if side % 2 == 0]
    arrays = (entries, mesh, start, edge0, sides, made, items)
    columns = dict(zip(Joined._fields, (np.array(array, np.int64) for array in arrays), strict=False))
    return Joined(**columns, totals=[len(items), *at.values()])


def _header(has, at, part):
    """Header of a mesh with so many of each, from `at` on, which moves behind it."""
    nv, ne, nf, corners = (has[name] for name in ("vertices", "edges", "faces", "corners"))
    header = dict.fromkeys(MESH.offsets, -1)
    header |= {"nv": nv, "ne": ne, "nf": nf, "vertex0": at["vertices"], "face0": at["faces"]}
    lengths = {
        "face_start": nf + 1, "face_vertices": corners, "face_edges": corners, "edges": 2 * ne,
        "edge_face_start": ne + 1, "edge_faces": has["edge_faces"], "vertex_edge_start": nv + 1,
        "vertex_edges": has["vertex_edges"], "vertex_face_start": nv + 1,
        "vertex_faces": has["vertex_faces"], "edge_flags": ne, "vertex_flags": nv, "source_vertices": nv,
        "source_edges": ne, "source_faces": nf, "near_faces": nf,
    }  # fmt: skip
    for name, length in lengths.items():
        header[name] = at["topology"]
        at["topology"] += length
    for name, length in (("vertices", nv), ("edges", ne), ("faces", nf)):
        at[name] += length
    header |= {name: int(part[MESH[name]]) for name in ("two_sided", "closed")}
    return [*header.values(), *[-1] * (MESH.stride - len(header))]
