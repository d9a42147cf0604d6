"""The primitives of the Pluecker method (stage p01) on arrays that are broadcast against each other.

A test is one of a row and a column: every input has a stride for rows and one for columns, zero where it is
broadcast, so that many vertices against many polygons are not written out.
"""

from __future__ import annotations

import math

import numpy as np

from gpu_collide.backends import declarations

__all__ = ["PROGRAM", "Primitives", "layout"]

PROGRAM = "primitives"
MOST_TESTS = 1 << 28  # of one launch; more are several


def layout(shapes):
    """Rows, columns and the strides of inputs that are broadcast against each other.

    Parameters
    ----------
    shapes : sequence of tuple of int

    Returns
    -------
    shape : tuple of int
        What they have together.
    rows, columns : int
    strides : list of (int, int) or None
        By which one row, and one column, moves each input; None if it must be written out as `shape` first.
    """
    shape = np.broadcast_shapes(*shapes)
    n = len(shape)
    varies = [
        [size == 1 and whole != 1 for size, whole in zip((1,) * (n - len(s)) + s, shape, strict=True)]
        for s in shapes
    ]
    found = []
    for cut in range(n + 1):
        rows, columns = math.prod(shape[:cut]), math.prod(shape[cut:])
        strides = [_strides(still, shape, cut, columns) for still in varies]
        whole = sum(stride is None for stride in strides)
        if columns <= MOST_TESTS:
            found.append((whole, rows, columns, strides))
    # the first of the best; one column for each row always does
    return shape, *min(found, key=lambda way: way[0])[1:]


def _strides(still, shape, cut, columns):
    """Strides of an input that is broadcast along the axes marked in `still`, None if two cannot tell."""
    parts = [still[:cut], still[cut:]]
    wide = [[s for s, size in zip(part, sizes, strict=True) if size != 1]
            for part, sizes in zip(parts, (shape[:cut], shape[cut:]), strict=True)]  # fmt: skip
    if any(any(part) and not all(part) for part in wide):
        return None
    by_row, by_column = (bool(part) and not any(part) for part in wide)
    return (columns if by_column else 1) * by_row, int(by_column)


class Primitives:
    """Launches on one backend; `gpu_collide.reference.pluecker.p01_primitives` has the same functions.

    Arrays are float64, with the axes said here behind those that are broadcast. What has several, such as a
    turn (angle, axis and origin), has them of one shape.

    Parameters
    ----------
    backend : Backend
        One with kernels.
    precision : str
    """

    def __init__(self, backend, precision):
        self.backend, self.module = backend, backend.module(PROGRAM, precision)
        self.real = declarations.dtypes(precision)[0]

    def line(self, a, b):
        """Lines (.., 6) through points (.., 3)."""
        return self._tests("p01_lines", {"a": [("a_in", a, 1)], "b": [("b_in", b, 1)]}, "lines_out", (6,))

    def side(self, p, q):
        """Sides of lines (.., 6)."""
        return self._tests("p01_sides", {"p": [("p_in", p, 1)], "q": [("q_in", q, 1)]}, "side_out")

    def vertex_polygon_translation(self, vertex, vector, polygon, expel, lateral):
        """Fractions for vertices and vectors (.., 3) and polygons (.., corners, 3)."""
        inputs = {"vertex": [("vertex_in", vertex, 1)], "vector": [("vector_in", vector, 1)],
                  "polygon": self._polygons(polygon)}  # fmt: skip
        return self._tests("p01_vertex_translation", inputs, "fraction_out", corners=polygon.shape[-2],
                           expel=expel, lateral=lateral)  # fmt: skip

    def vertex_polygon_rotation(self, vertex, turn, polygon, expel, lateral):
        """The same for a turn: angles (..,), axes and origins (.., 3)."""
        inputs = {"vertex": [("vertex_in", vertex, 1)], "turn": _turn(turn),
                  "polygon": self._polygons(polygon)}  # fmt: skip
        return self._tests("p01_vertex_rotation", inputs, "fraction_out", corners=polygon.shape[-2],
                           expel=expel, lateral=lateral)  # fmt: skip

    def edge_edge_translation(self, edge, vector, still, expel, lateral):
        """Fractions for edges, each as its ends (.., 2, 3) and normals (.., faces, 3), and vectors."""
        inputs = {**_edges(edge, still), "vector": [("vector_in", vector, 1)]}
        return self._tests("p01_edge_translation", inputs, "fraction_out", edge_faces=edge[1].shape[-2],
                           still_faces=still[1].shape[-2], expel=expel, lateral=lateral)  # fmt: skip

    def edge_edge_rotation(self, edge, turn, still, expel, lateral):
        """The same for a turn."""
        inputs = {**_edges(edge, still), "turn": _turn(turn)}
        return self._tests("p01_edge_rotation", inputs, "fraction_out", edge_faces=edge[1].shape[-2],
                           still_faces=still[1].shape[-2], expel=expel, lateral=lateral)  # fmt: skip

    def _polygons(self, polygon):
        return [("polygon_in", polygon, 2), ("plane_in", None, 2)]

    def _planes(self, polygons, n, corners):
        """Areas along the normals, their lengths and outermost corners of polygons, as a buffer (n, 8)."""
        planes = self.backend.empty(8 * n, self.real)
        self.backend.launch_items(self.module["p01_planes"], n, n=n, corners=corners, polygons_in=polygons,
                                  planes_out=planes)  # fmt: skip
        return planes

    def _tests(self, kernel, inputs, out_name, tail=(), **numbers):
        """Launch `kernel` for all tests.

        Parameters
        ----------
        inputs : dict of str to list of (str, array, int)
            By the name that strides go by: names of kernel arguments, arrays, and how many of their last axes
            belong to one element. None stands for the planes of the polygons before it.
        tail : tuple of int
            Shape of the answer to one test.
        """
        leads = {name: given[0][1].shape[: -given[0][2] or None] for name, given in inputs.items()}
        shape, rows, columns, strides = layout(list(leads.values()))
        args = dict(numbers)
        for (name, given), stride in zip(inputs.items(), strides, strict=True):
            args[f"{name}_row"], args[f"{name}_column"] = stride or (columns, 1)
            for argument, array, axes in given:
                if array is None:
                    corners = given[0][1].shape[-2]
                    count = math.prod(leads[name] if stride else shape)
                    args[argument] = self._planes(args["polygon_in"], count, corners)
                    continue
                if stride is None:
                    array = np.broadcast_to(array, shape + array.shape[array.ndim - axes :])
                args[argument] = self._put(array)
        out = self.backend.empty(rows * columns * math.prod(tail), self.real)
        for first in range(0, rows, max(MOST_TESTS // max(columns, 1), 1)):
            n = min(rows - first, max(MOST_TESTS // max(columns, 1), 1)) * columns
            self.backend.launch_items(self.module[kernel], n, n=n, first_row=first, columns=columns,
                                      **{out_name: out}, **args)  # fmt: skip
        return self.backend.to_host(out).astype(np.float64, copy=False).reshape(shape + tail)

    def _put(self, array):
        """A buffer of at least one number: kernels are not handed empty ones."""
        flat = np.ascontiguousarray(array, self.real).reshape(-1)
        return self.backend.to_device(flat if flat.size else np.zeros(1, self.real), copy=False)


def _turn(turn):
    """The inputs of turns: angles, axes, origins."""
    angle, axis, origin = turn
    return [("angle_in", angle, 0), ("axis_in", axis, 1), ("origin_in", origin, 1)]


def _edges(edge, still):
    """The inputs of moving and of still edges: ends and normals."""
    return {"edge": [("edge_in", edge[0], 2), ("edge_normal_in", edge[1], 2)],
            "still": [("still_in", still[0], 2), ("still_normal_in", still[1], 2)]}  # fmt: skip
