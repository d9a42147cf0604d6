"""Tables of the features that may touch in each mesh, as the kernels for movers read them
(``kernels/pluecker/gc_form.h``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_collide.backends import declarations, sources
from gpu_collide.geometry.preparation import prepared
from gpu_collide.geometry.preparation.collidable_features import POINT
from gpu_collide.pipeline.broad_phase.trees import mesh_bounds
from gpu_collide.pipeline.mesh_tables.tables import kept_for

__all__ = ["MoverTables", "build_mover_tables", "mover_tables_for", "point_tables"]

FORM = sources.record("form")


@dataclass(frozen=True)
class MoverTables:
    """Device buffers of all meshes.

    Attributes
    ----------
    buffers : dict
        ``forms_in``, ``sizes_in``, ``ints_in``, ``reals_in``, ``form_nodes_in``.
    vertices : int
        Most vertices of a mesh.
    nbytes : int
    """

    buffers: dict
    vertices: int
    nbytes: int

    def of_movers(self):
        """The buffers by the names that they have as those of the movers."""
        names = ("mover_forms_in", "mover_sizes_in", "mover_ints_in", "mover_reals_in", "mover_nodes_in")
        return dict(zip(names, self.buffers.values(), strict=True))


def build_mover_tables(meshes, backend, precision):
    """`MoverTables` of meshes."""
    forms = [
        (prepared.collidable_features_of(m), m.vertices - m.center, size, m.two_sided)
        for m, size in zip(meshes, mesh_bounds(meshes), strict=True)
    ]
    return _joined(forms, backend, precision)


def mover_tables_for(meshes, backend, precision):
    """`build_mover_tables`, kept for the last few sets of meshes."""
    return kept_for("mover_tables", build_mover_tables, meshes, backend, precision)


def point_tables(backend, precision):
    """`MoverTables` of a single point."""
    return _joined([(POINT, np.zeros((1, 3)), np.zeros(7), False)], backend, precision)


def _joined(forms, backend, precision):
    """Tables of forms: wedges, vertices, centre and size, two-sided."""
    real, raster = declarations.dtypes(precision)
    heads = np.zeros((len(forms), FORM.stride), np.int64)
    ints, reals, nodes, at_int, at_real, at_node = [], [], [], 0, 0, 0
    for head, (w, places, _, two_sided) in zip(heads, forms, strict=True):
        head[FORM["faces"]], head[FORM["height"]] = len(w.source), w.height
        head[FORM["vertices"]], head[FORM["two_sided"]] = len(places), two_sided
        tables = {
            "face": w.faces,
            "source": w.source,
            "corner": w.corners,
            "across": w.across,
            "edge": w.edges,
            "vertex": w.vertices,
            "border": w.borders,
            "fan": w.fans,
            "spoke": w.spokes,
        }
        for name, array in tables.items():
            head[FORM[name]], at_int = at_int, at_int + array.size
            ints.append(array.reshape(-1))
        for name, array in {"plane": w.planes, "wedge": w.normals, "place": places}.items():
            head[FORM[name]], at_real = at_real, at_real + array.size
            reals.append(array.reshape(-1))
        head[FORM["node"]], at_node = at_node, at_node + w.nodes.size
        nodes.append(_outwards(w.nodes, raster).reshape(-1))
    if max(at_int, at_real, at_node) >= 2**31:
        raise ValueError(
            f"meshes: expected tables below 2**31 entries in all, got {max(at_int, at_real, at_node)}"
        )
    host = {
        "forms_in": heads.astype(np.int32),
        "sizes_in": np.array([f[2] for f in forms], real),
        "ints_in": np.concatenate(ints),
        "reals_in": np.concatenate(reals).astype(real),
        "form_nodes_in": np.concatenate(nodes),
    }
    buffers = {name: backend.to_device(array.reshape(-1), copy=False) for name, array in host.items()}
    vertices = max(len(f[1]) for f in forms)
    return MoverTables(buffers, vertices, sum(array.nbytes for array in host.values()))


def _outwards(boxes, dtype):
    """Boxes in `dtype`, not smaller than they were."""
    out = boxes.astype(dtype)
    if out.dtype == boxes.dtype:
        return out
    low, high = out[:, :3], out[:, 3:]
    inf = out.dtype.type(np.inf)
    np.copyto(low, np.nextafter(low, -inf), where=low > boxes[:, :3])
    np.copyto(high, np.nextafter(high, inf), where=high < boxes[:, 3:])
    return out
