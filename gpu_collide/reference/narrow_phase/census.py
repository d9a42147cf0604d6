"""The amount of work in a pair: records on the rows of its screen, and candidates among them."""

from __future__ import annotations

from gpu_collide.reference.narrow_phase import _screen, s02_facing, s03_project
from gpu_collide.reference.narrow_phase._tables import tables_of
from gpu_collide.reference.narrow_phase.s01_screw import pose_arrays, screw_of_pair

__all__ = ["census"]


def census(bodies, pairs, resolution, approximate=False):
    """Records and candidates of each pair, before any bound on properness.

    Parameters
    ----------
    bodies : Bodies
    pairs : (p, 2) int array
    resolution : float
        Rows per typical short edge.
    approximate : bool, optional
        Of the approximate answers, whose records are not padded and whose rows are not bounded in number.

    Returns
    -------
    list of (int, int)
        Records of edges of both bodies, and candidates; zeros where the two do not meet on the screen.
    """
    (p0, q0, _), (p1, q1, _) = (pose_arrays(p) for p in (bodies.start, bodies.end))
    found = []
    for i, j in pairs:
        one, two = (bodies.meshes[bodies.shape[k]] for k in (i, j))
        screw = screw_of_pair(one, two, (p0[i], q0[i]), (p1[i], q1[i]), (p0[j], q0[j]), (p1[j], q1[j]))
        tables = tables_of(one), tables_of(two)
        sides = [s02_facing.side_of(screw, table, name) for table, name in zip(tables, "ab", strict=True)]
        a, b = (_screen.Body(screw, side) for side in sides)
        height = s03_project.pixel_of(
            tables[0], tables[1], resolution, None, "pixels" if approximate else "exact"
        )
        pad = 0.0 if approximate else s02_facing.POSITION_PAD * screw.size
        raster = _screen.Raster(screw, a, b, height, pad)
        if raster.rows is None:
            found.append((0, 0))
            continue
        records = sum(len(side.edges[0].row) for side in raster.sides)
        found.append((records, sum(len(some) for some in raster.candidates())))
    return found
