"""Tables of the features that may touch in each mesh, as the kernels for movers read them
(``kernels/pluecker/gc_form.h``)."""

from __future__ import annotations

import numpy as np

from gpu_collide.backends import declarations, sources
from gpu_collide.geometry.preparation import prepared
from gpu_collide.geometry.preparation.bvh8 import outwards
from gpu_collide.geometry.preparation.collidable_features import POINT
from gpu_collide.pipeline.broad_phase.trees import mesh_bounds
from gpu_collide.pipeline.mesh_tables.flat import Flat, Placed
from gpu_collide.pipeline.mesh_tables.tables import sets_of

__all__ = ["build_mover_tables", "mover_tables_for", "of_movers", "point_tables"]

FORM = sources.record("form")
#: The arguments of the obstacles' tables, and of the movers'.
NAMES = {"forms_in": "mover_forms_in", "sizes_in": "mover_sizes_in", "ints_in": "mover_ints_in",
         "reals_in": "mover_reals_in", "form_nodes_in": "mover_nodes_in"}  # fmt: skip


def build_mover_tables(meshes, backend, precision):
    """`Placed` tables of meshes; `more`: the most vertices of a mesh."""
    forms = [
        (prepared.collidable_features_of(m), m.vertices - m.center, size, m.two_sided)
        for m, size in zip(meshes, mesh_bounds(meshes), strict=True)
    ]
    return _joined(forms, backend, precision)


def mover_tables_for(meshes, backend, precision):
    """`build_mover_tables`, kept for the last few sets of meshes, as `tables_for` keeps tables."""
    return sets_of(backend, "mover tables", build_mover_tables).get(meshes, backend, precision)


def point_tables(backend, precision):
    """Tables of a single point."""
    return _joined([(POINT, np.zeros((1, 3)), np.zeros(7), False)], backend, precision)


def of_movers(tables):
    """The buffers by the names that they have as those of the movers."""
    return {own: tables.buffers[name] for name, own in NAMES.items()}


def _joined(forms, backend, precision):
    """Tables of forms: wedges, vertices, centre and size, two-sided."""
    real, raster = declarations.dtypes(precision)
    heads = np.zeros((len(forms), FORM.stride), np.int32)
    ints, reals, nodes = Flat(np.int32), Flat(real), Flat(raster)
    for head, (w, places, _, two_sided) in zip(heads, forms, strict=True):
        head[FORM["faces"]], head[FORM["height"]] = len(w.source), w.height
        head[FORM["vertices"]], head[FORM["two_sided"]] = len(places), two_sided
        ints.add(head, FORM, {
            "face": w.faces, "source": w.source, "corner": w.corners, "across": w.across, "edge": w.edges,
            "vertex": w.vertices, "border": w.borders, "fan": w.fans, "spoke": w.spokes,
        })  # fmt: skip
        reals.add(head, FORM, {"plane": w.planes, "wedge": w.normals, "place": places})
        nodes.add(head, FORM, {"node": outwards(w.nodes, raster)})
    sizes = np.array([f[2] for f in forms], real)
    arrays = heads, sizes, ints.joined(), reals.joined(), nodes.joined()
    return Placed.of(dict(zip(NAMES, arrays, strict=True)), backend, max(len(f[1]) for f in forms))
