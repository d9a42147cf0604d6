"""Polygons of files: concave ones had been cut like fans, with faces that overlap and look both ways."""

import itertools

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.geometry.io.polygons import read_polygons

RNG = np.random.default_rng(5)
L_SHAPE = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float)
SHAPES = {
    "L": L_SHAPE,
    "L with points on its sides": np.array(
        [[0, 0], [1, 0], [2, 0], [2, 0.3], [2, 1], [1.5, 1], [1, 1], [1, 1.9], [1, 2], [0, 2], [0, 1.0]],
        float,
    ),
    "arrow of four corners": np.array([[0, 0], [1, 0.3], [2, 0], [1, 1]], float),
    "nearly flat arrow": np.array([[0, 0], [1, 1e-5], [2, 0], [1, 1]], float),
    "comb": np.array(
        [[5, 0], [5, 2], [4.5, 2], [4, 0.2], [3, 0.2], [2.5, 2], [2, 0.2], [1, 0.2], [0, 2], [0, 0]], float
    ),
    "U": np.array([[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]], float),
    "convex": np.array([[np.cos(a), np.sin(a)] for a in np.arange(7) * 2 * np.pi / 7]),
}  # fmt: skip
TILT = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
TILT *= np.sign(np.linalg.det(TILT))
PLANES = {"xy": np.eye(3), "yz": np.eye(3)[[2, 0, 1]], "zx": np.eye(3)[[1, 2, 0]], "tilted": TILT}
FORMS = ("obj", "obj v/vt/vn", "obj back", "off", "ply ascii", "ply little", "ply big")


def write(folder, form, points, loops):
    """A file of polygons in one of `FORMS`."""
    suffix, _, how = form.partition(" ")
    path = folder / f"shape.{suffix}"
    rows = ["{!r} {!r} {!r}".format(*map(float, p)) for p in points]
    if suffix == "obj":
        name = {"": lambda i: i + 1, "v/vt/vn": lambda i: f"{i + 1}/1/1", "back": lambda i: i - len(points)}[
            how
        ]
        lines = [f"v {row}" for row in rows] + ["vt 0 0", "vn 0 0 1", "o thing", "g part", "usemtl none"]
        path.write_text(
            "\n".join(lines + ["f " + " ".join(str(name(i)) for i in loop) for loop in loops]) + "\n"
        )
    elif suffix == "off":
        faces = [f"{len(loop)} " + " ".join(map(str, loop)) + " 255 0 0" for loop in loops]
        path.write_text("\n".join(["OFF # a comment", f"{len(points)} {len(loops)} 0", *rows, *faces]) + "\n")
    else:
        name = {"ascii": "ascii", "little": "binary_little_endian", "big": "binary_big_endian"}[how]
        head = (
            f"ply\nformat {name} 1.0\ncomment a test\nelement vertex {len(points)}\nproperty double x\n"
            f"property double y\nproperty double z\nelement face {len(loops)}\n"
            "property list uchar int vertex_indices\nproperty uchar red\nend_header\n"
        )
        if how == "ascii":
            faces = [f"{len(loop)} " + " ".join(map(str, loop)) + " 7" for loop in loops]
            path.write_text(head + "\n".join(rows + faces) + "\n")
        else:
            order = "<" if how == "little" else ">"
            faces = [bytes([len(lo)]) + np.asarray(lo, order + "i4").tobytes() + b"\7" for lo in loops]
            path.write_bytes(head.encode() + np.asarray(points, order + "f8").tobytes() + b"".join(faces))
    return path


def signed_area(flat):
    x, y = flat.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def vector_areas(mesh):
    """Area times normal of every face, by the loop."""
    p = [mesh.vertices[loop] - mesh.vertices[loop[0]] for loop in mesh.faces]
    return np.array([0.5 * np.cross(q, np.roll(q, -1, axis=0)).sum(axis=0) for q in p])


def prism(flat, turn, height=1.0):
    """A solid with the polygon `flat` as floor and ceiling, of quads otherwise."""
    flat = flat if signed_area(flat) > 0 else flat[::-1]
    n = len(flat)
    points = np.concatenate([np.c_[flat, np.zeros(n)], np.c_[flat, np.full(n, height)]]) @ turn.T
    walls = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    return points, [list(range(n))[::-1], list(range(n, 2 * n)), *walls]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_polygon_is_covered_once(tmp_path, form, shape):
    # how a polygon is cut does not depend on how its file was written
    planes = PLANES if form == "obj" else ["tilted"]
    for plane, backwards, merge in itertools.product(planes, (False, True), (False, True)):
        flat = SHAPES[shape][::-1] if backwards else SHAPES[shape]
        for shift in (0, 3):
            flat = np.roll(flat, shift, axis=0)
            points = np.c_[flat, np.zeros(len(flat))] @ PLANES[plane].T
            mesh = gc.load_mesh(write(tmp_path, form, points, [list(range(len(flat)))]), merge_coplanar=merge)
            areas = vector_areas(mesh)
            normal = PLANES[plane][:, 2] * np.sign(signed_area(flat))
            assert (areas @ normal > 0).all(), "no face looks the other way"
            # Worst measured: 8.9e-16 of an area of 2.5.
            assert np.linalg.norm(areas, axis=1).sum() == pytest.approx(abs(signed_area(flat)), rel=1e-13)
            if shape == "convex" and merge:
                assert mesh.n_faces == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", ["L", "L with points on its sides", "comb", "U"])
def test_solids_stay_closed(tmp_path, form, shape):
    for plane, merge in itertools.product(PLANES, (False, True)):
        mesh = gc.load_mesh(write(tmp_path, form, *prism(SHAPES[shape], PLANES[plane])), merge_coplanar=merge)
        assert mesh.closed
        assert mesh.volume == pytest.approx(abs(signed_area(SHAPES[shape])), rel=1e-12)


def test_nothing_is_met_in_a_notch(tmp_path):
    """A box that moves through the notch of an L, where the fan had faces: 7 contacts for none."""
    corner = gc.load_mesh(write(tmp_path, "obj", *prism(np.roll(L_SHAPE, 4, axis=0), np.eye(3))))
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [1.5, 1.5, -2]], [[1.0, 0, 0, 0]] * 2)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [1.5, 1.5, 3]], [[1.0, 0, 0, 0]] * 2)
    bodies = gc.Bodies([corner, gc.shapes.box((0.4, 0.4, 0.4))], [0, 1], start, end)
    assert len(gc.collide(bodies, [[0, 1]], min_properness=-1)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_random_polygons_in_random_planes(seed):
    """Stars with points on their sides, far from the origin, in float32: covered once all the same."""
    rng = np.random.default_rng(seed)
    for _ in range(25):
        angle = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(5, 25)))
        if np.diff(np.append(angle, angle[0] + 2 * np.pi)).max() > 3:
            continue
        star = rng.uniform(0.2, 1, len(angle))[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        sides = np.roll(star, -1, axis=0) - star
        fine = np.concatenate([[p, p + rng.uniform(0.1, 0.9) * s] for p, s in zip(star, sides, strict=True)])
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        size = 10 ** rng.uniform(-3, 3)
        points = (size * (np.c_[fine, np.zeros(len(fine))] @ turn.T + rng.normal(size=3))).astype(np.float32)
        mesh = gc.Mesh(points, [np.arange(len(points))], triangulate=True)
        areas = vector_areas(mesh)
        assert (areas @ turn[:, 2] > 0.9 * np.linalg.norm(areas, axis=1)).all()
        # Worst measured: 3e-7, the rounding of the coordinates.
        assert np.linalg.norm(areas, axis=1).sum() == pytest.approx(size**2 * signed_area(star), rel=3e-6)


def test_a_hole_that_is_joined_to_the_border():
    """A square with a square hole: the side that joins them is walked twice."""
    points = np.array(
        [[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0], [1, 1, 0], [1, 3, 0], [3, 3, 0], [3, 1, 0.0]]
    )
    loop = [0, 1, 2, 3, 0, 4, 5, 6, 7, 4]
    for mesh in (
        gc.Mesh(points, [loop], triangulate=True),
        gc.Mesh(points[loop], [range(10)], triangulate=True),
    ):
        assert vector_areas(mesh)[:, 2].sum() == pytest.approx(12) and (vector_areas(mesh)[:, 2] > 0).all()


CROSSED = {
    "star": [[np.cos(4 * np.pi * k / 5), np.sin(4 * np.pi * k / 5), 0] for k in range(5)],
    "bow tie": [[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]],
    "loop in the border": [[0, 0, 0], [3, 0, 0], [3, 2, 0], [1, -1, 0], [0, 2, 0]],
    # A band that goes round by more than a turn: each corner is an ear in its turn, and the ends overlap.
    "band over itself": [
        [r * np.cos(a), r * np.sin(a), 0]
        for r, angles in ((2, np.linspace(0, 7, 20)), (1, np.linspace(7, 0, 20)))
        for a in angles
    ],
}


@pytest.mark.parametrize("name", CROSSED)
def test_polygons_that_cross_themselves_are_refused(name, tmp_path):
    for form in ("obj", "off", "ply ascii"):
        path = write(tmp_path, form, CROSSED[name], [list(range(len(CROSSED[name])))])
        with pytest.raises(ValueError, match="shape.*face 0 crosses itself .* repair its loop"):
            gc.load_mesh(path)


def test_a_polygon_of_many_corners_takes_no_time():
    angle = np.linspace(0, 2 * np.pi, 600, endpoint=False)
    radius = np.random.default_rng(0).uniform(0.5, 1, len(angle))
    mesh = gc.Mesh(
        np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], axis=1),
        [np.arange(len(angle))],
        triangulate=True,
    )
    assert mesh.n_faces == 598 and (mesh.face_planes[:, 2] > 1 - 1e-15).all()


def test_faces_lead_back_to_the_file(tmp_path):
    points, loops = prism(L_SHAPE, np.eye(3))
    for form in FORMS:
        mesh = gc.load_mesh(write(tmp_path, form, points, loops), merge_coplanar=False)
        assert set(mesh.source_face.tolist()) == set(range(len(loops)))
        assert np.array_equal(mesh.vertices, points[mesh.source_vertex])


OBJ_POINTS, OFF_POINTS = "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n"
DAMAGED = {
    "obj": [
        "v 0 0\nf 1 2 3\n",
        "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        *(OBJ_POINTS + f"f {loop}\n" for loop in ("1 2 0", "1 2 4", "1 2 -4", "a b c", f"1 2 {10**20}")),
        OBJ_POINTS,
    ],
    "off": [
        "OFF\n",
        "OFF\n3 1\n",
        "OFF\n-3 1 0\n",
        "4OFF\n0 0 0\n",
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 x\n3 0 1 2\n",
        *(OFF_POINTS + loop for loop in ("", "3 0 1\n", "3 0 1 -1\n", "3 0 1 3\n")),
    ],
}


@pytest.mark.parametrize("suffix", DAMAGED)
def test_damaged_text_is_told(suffix, tmp_path):
    for text in DAMAGED[suffix]:
        path = tmp_path / f"bad.{suffix}"
        path.write_text(text)
        with pytest.raises(ValueError, match=rf"path: .*bad.{suffix}'"):
            gc.load_mesh(path)


def test_lines_that_go_on_and_comments(tmp_path):
    path = tmp_path / "a.obj"
    path.write_text("# head\nv 0 0 0 1 0 0 # red\nv 1 0 0\n  v 0 1 0\nf 1 \\\n 2 3\nl 1 2\np 1\n")
    assert gc.load_mesh(path).n_faces == 1
    rows = ["COFF 3 1 0", "0 0 0 1 0 0 1", "", "# between", "1 0 0 1 1 1 1", "0 1 0 1 1 1 1", "3 0 1 2", ""]
    (tmp_path / "a.off").write_text("\n".join(rows))
    assert gc.load_mesh(tmp_path / "a.off").n_faces == 1


@pytest.mark.parametrize("form", FORMS)
def test_no_damage_ends_in_anything_but_a_value_error(form, tmp_path):
    """Bytes changed, files cut short: a mesh or a ``ValueError`` that names the file."""
    path = write(tmp_path, form, *prism(SHAPES["U"], TILT))
    raw, rng = path.read_bytes(), np.random.default_rng(1)
    for k in range(150):
        damaged = bytearray(raw[: rng.integers(len(raw))] if k % 3 == 0 else raw)
        for _ in range(rng.integers(1, 4) if k % 3 and damaged else 0):
            damaged[rng.integers(len(damaged))] = rng.integers(256)
        path.write_bytes(bytes(damaged))
        try:
            gc.load_mesh(path)
        except ValueError as error:
            assert str(error).startswith("path: ") and path.name in str(error)


def test_a_mesh_reads_as_its_own_polygons(tmp_path):
    points, loops = prism(SHAPES["comb"], np.eye(3))
    for form in FORMS:
        path = write(tmp_path, form, points, loops)
        vertices, start, corners, _ = read_polygons(path, path.suffix)
        assert np.array_equal(vertices, points)
        assert [loop.tolist() for loop in np.split(corners, start[1:-1])] == loops
