"""Meshes out of pickles: found by their content in the process that has them, made again in another.

The story: a task of a pool was sent a mesh of 320,000 faces, and prepared it anew each time, for 0.94 s.
"""

import gc as garbage
import os
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import fork
from gpu_collide.geometry.mesh import pickled
from gpu_collide.geometry.preparation import prepared

TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
PYRAMID = (
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]],
    [[0, 3, 2, 1], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
)


def meshes():
    box = gc.shapes.box()
    doubled = np.repeat(box.vertices, 2, axis=0)
    squares = [[x, y, 0.0] for y in range(3) for x in range(4)]
    sides = [[x + 4 * y, x + 1 + 4 * y, x + 5 + 4 * y, x + 4 + 4 * y] for y in range(2) for x in range(3)]
    return {
        "box": box,
        "tetrahedron": gc.Mesh(*TETRAHEDRON),
        "mixed": gc.Mesh(*PYRAMID),
        "ball": gc.shapes.icosphere(3),
        "car": gc.shapes.car(),
        "sheet": gc.Mesh(squares, sides, two_sided=True),
        "merged": gc.Mesh(squares, sides, merge_coplanar=True, parts=["a", "a", "", "b", "a", "b"]),
        "cut": gc.Mesh(box.vertices, box.faces, triangulate=True, parts=list("abcdef")),
        "welded": gc.Mesh(doubled, [2 * f + 1 for f in box.faces], merge_vertices=True),
        "odd": gc.Mesh([*squares, [9, 9, 9]], [*sides, [0, 1, 1], [0, 1, 5], [5, 4, 4, 0]]),
        "far": box.scaled(1e-3)._again(box.vertices + 1e9, box.face_vertices),
    }  # fmt: skip


MESHES = meshes()


@pytest.fixture
def another_process(monkeypatch):
    """The table of meshes as another process has it: empty. Called, it is emptied again."""

    def renew():
        monkeypatch.setattr(pickled, "_meshes", pickled._Meshes())
        return pickled._meshes

    renew()
    return renew


def same(one, other):
    assert vars(one).keys() == vars(other).keys()
    for name, value in vars(one).items():
        again = vars(other)[name]
        if isinstance(value, np.ndarray):
            assert (again.dtype, again.shape) == (value.dtype, value.shape), name
            assert again.tobytes() == value.tobytes() and not again.flags.writeable, name
        elif name == "parts" and value is not None:
            assert again.names == value.names
            assert np.array_equal(again.start, value.start) and np.array_equal(again.members, value.members)
        elif name == "report":
            assert list(again) == list(value)
        else:
            assert again == value and type(again) is type(value), name


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", MESHES)
def test_a_mesh_is_made_again_to_the_last_bit(another_process, name, protocol):
    mesh = MESHES[name]
    raw = pickle.dumps(mesh, protocol)
    assert pickle.loads(raw) is mesh
    another_process()
    again = pickle.loads(raw)
    assert again is not mesh and again.digest == mesh.digest
    same(mesh, again)


def test_a_pickle_holds_25_bytes_a_triangle():
    mesh = gc.shapes.icosphere(5)
    assert len(pickle.dumps(mesh)) < 25 * mesh.n_faces + 1000


def test_what_was_prepared_is_found_again(another_process, monkeypatch):
    """Task after task of a pool: each is sent the mesh, asks, and drops it."""
    raw, made, make = pickle.dumps(gc.shapes.icosphere(3)), [], prepared.make_solids
    monkeypatch.setattr(prepared, "make_solids", lambda mesh: made.append(1) or make(mesh))
    another_process()
    for _ in range(3):
        mesh = pickle.loads(raw)
        where = gc.Poses([[0, 0, 0], [0.5, 0, 0]], [[1.0, 0, 0, 0]] * 2)
        gc.collide(gc.Bodies(mesh, None, where, where), [[0, 1]], backend="cpu")
        del mesh
        garbage.collect()
    assert len(made) == 1


def test_arrays_of_a_known_mesh_are_not_read():
    """What an engine need not deserialise: 37 ms a task, for nothing."""
    mesh = gc.shapes.icosphere(2)
    buffers = []
    raw = pickle.dumps(mesh, 5, buffer_callback=buffers.append)
    assert len(raw) < 1000 and len(buffers) == 2
    assert pickle.loads(raw, buffers=[b"", b""]) is mesh


def test_buffers_beside_the_pickle_may_be_written_to_later(another_process):
    mesh, buffers = gc.shapes.icosphere(2), []
    raw = pickle.dumps(mesh, 5, buffer_callback=buffers.append)
    theirs = [bytearray(b.raw()) for b in buffers]
    another_process()
    again = pickle.loads(raw, buffers=theirs)
    for buffer in theirs:
        buffer[:] = bytes(len(buffer))
    same(mesh, again)


DIGESTS = {
    "box": "b1e89203871e0992c5294ebab005c16e2f39c49776a6e42e0e5d5563219b6bcf",
    "tetrahedron": "5212ac5752913db84f35dd9ab74aa17475f1948397fd63857bba4e4cd8c24576",
    "merged": "2424f96817bb8de7b6520fb780f602fe0f1ea6dbd530a793a81141e9f3f1bf89",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_digests_stay(name):
    assert MESHES[name].digest == DIGESTS[name]


def test_whatever_changes_the_mesh_changes_the_digest():
    vertices, faces = TETRAHEDRON
    base = gc.Mesh(vertices, faces)
    assert gc.Mesh(np.array(vertices, np.float32), np.array(faces, np.uint8)).digest == base.digest
    moved = np.array(vertices, float)
    moved[3, 2] = np.nextafter(1, 2)
    variants = [
        base,
        gc.Mesh(moved, faces),
        gc.Mesh(vertices, faces[:3]),
        gc.Mesh(vertices, [faces[k] for k in (1, 0, 2, 3)]),
        gc.Mesh(vertices, [[2, 1, 0], *faces[1:]]),
        base.flip(),
        gc.Mesh(vertices, faces, two_sided=True),
        gc.Mesh(vertices, faces, parts=["a"] * 4),
        gc.Mesh(vertices, faces, parts=["b"] * 4),
        gc.Mesh(vertices, faces, parts=["a", "a", "a", ""]),
        gc.Mesh(vertices, [[0, 0, 1], *faces]),
        gc.Mesh([*vertices, [0.1, 0.1, 0.1]], faces),
    ]
    assert len({mesh.digest for mesh in variants}) == len(variants)


def test_a_mesh_of_another_report_is_another(another_process):
    vertices, faces = TETRAHEDRON
    plain, repaired = gc.Mesh(vertices, faces), gc.Mesh(vertices, [[0, 2, 2, 1], *faces[1:]])
    assert plain.digest == repaired.digest and len(repaired.report) and not len(plain.report)
    first, second = (pickle.loads(pickle.dumps(mesh)) for mesh in (plain, repaired))
    assert first is plain and second is repaired


def taken_apart(mesh):
    _, key, head, arrays = pickled.reduced(mesh, 4)[1]
    return key, head, list(arrays)


NAMES = tuple(pickled._TYPES)


def forged(mesh, name, change):
    """What a forger sends, who knows how digests are made."""
    (_, report), head, arrays = taken_apart(mesh)
    at = NAMES.index(name)
    array = np.frombuffer(arrays[at], pickled._TYPES[name]).copy()
    arrays[at] = np.ascontiguousarray(change(array)).tobytes()
    kinds = pickled._TYPES.values()
    as_arrays = [None if a is None else np.frombuffer(a, t) for a, t in zip(arrays, kinds, strict=True)]
    return (pickled._digest(head, as_arrays), report), head, arrays


def put(at, value):
    def change(array):
        array[at] = value
        return array

    return change


FORGED = {
    "a corner beyond the vertices": ("cut", "face_vertices", put(5, 2**30)),
    "a corner below them": ("cut", "face_vertices", put(5, -1)),
    "a side from a corner to itself": ("cut", "face_vertices", put(slice(0, 2), 3)),
    "corners missing": ("cut", "face_vertices", lambda a: a[:-1]),
    "a vertex missing": ("cut", "vertices", lambda a: a[:-3]),
    "half a vertex": ("cut", "vertices", lambda a: a[:-1]),
    "NaN": ("cut", "vertices", put(3, np.nan)),
    "all in one place": ("cut", "vertices", put(slice(None), 1.0)),
    "loops that end late": ("mixed", "face_start", put(-1, 2**30)),
    "loops that run back": ("mixed", "face_start", put(2, 0)),
    "a loop missing": ("mixed", "face_start", lambda a: a[:-1]),
    "sources missing": ("cut", "source_face", lambda a: a[:-1]),
    "sources that run back": ("merged", "source_faces_start", put(1, 99)),
    "vertices' sources missing": ("merged", "source_vertex", lambda a: a[:-1]),
    "parts beyond the names": ("cut", "part_members", put(1, 6)),
    "parts that run back": ("cut", "part_start", put(1, 77)),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_pickle_makes_no_mesh(another_process, case):
    """Kernels index by these arrays without looking again."""
    name, array, change = FORGED[case]
    sent = forged(MESHES[name], array, change)
    table = another_process()
    with pytest.raises(ValueError, match="^(mesh|vertices|cannot reshape)"):
        pickled.made_again(gc.Mesh, *sent)
    assert not table._living and not table._last


@pytest.mark.parametrize("name", ["box", "mixed", "merged", "cut"])
def test_damage_is_noticed_and_takes_no_other_meshes_place(another_process, name):
    key, head, arrays = taken_apart(MESHES[name])
    table = another_process()
    for k, array in enumerate(arrays):
        for at in () if array is None else {0, len(array) // 2, len(array) - 1}:
            wrong = bytearray(array)
            wrong[at] ^= 1
            with pytest.raises(ValueError, match="^mesh: expected what was pickled"):
                pickled.made_again(gc.Mesh, key, head, [*arrays[:k], wrong, *arrays[k + 1 :]])
    other_side = (not head[0], *head[1:])
    with pytest.raises(ValueError, match="^mesh: expected what was pickled"):
        pickled.made_again(gc.Mesh, key, other_side, arrays)
    assert not table._living
    same(MESHES[name], pickled.made_again(gc.Mesh, key, head, arrays))


def test_meshes_out_of_pickles_are_let_go_the_longest_unused_first(another_process, monkeypatch):
    raws = [pickle.dumps(gc.shapes.box((1, 1, k + 1.0))) for k in range(4)]
    monkeypatch.setattr(pickled, "MOST_CORNERS", 3 * 24)
    another_process()
    living = [weakref.ref(pickle.loads(raw)) for raw in raws[:3]]
    assert all(ref() for ref in living)
    pickle.loads(raws[0])
    living.append(weakref.ref(pickle.loads(raws[3])))
    garbage.collect()
    assert [ref() is not None for ref in living] == [True, False, True, True]


def test_the_last_one_stays_however_large(another_process, monkeypatch):
    raw = pickle.dumps(gc.shapes.icosphere(2))
    monkeypatch.setattr(pickled, "MOST_CORNERS", 1)
    another_process()
    first = weakref.ref(pickle.loads(raw))
    garbage.collect()
    assert first() is pickle.loads(raw)
    pickle.loads(pickle.dumps(gc.shapes.box()))
    garbage.collect()
    assert first() is None


def test_a_mesh_that_was_only_pickled_is_freed_with_its_last_name(another_process):
    mesh = gc.shapes.icosphere(2)
    pickle.dumps(mesh)
    gone = weakref.ref(mesh)
    del mesh
    garbage.collect()
    assert gone() is None


def test_threads_that_unpickle_at_once_get_one_mesh(another_process):
    raw = pickle.dumps(gc.shapes.icosphere(3))
    another_process()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(pickle.loads, [raw] * 32))
    assert len(set(map(id, found))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_lock_is_new_in_a_forked_child(another_process):
    raw = pickle.dumps(gc.shapes.box())
    table = another_process()
    held = table._lock
    with ThreadPoolExecutor(1) as pool:
        pool.submit(held.acquire).result()
        assert table in fork._owners, "asked in every child; here alone, since drivers would be lost"
        table._after_fork()
        assert table._lock is not held and pickle.loads(raw).n_faces == 6
        pool.submit(held.release).result()


class Named(gc.Mesh):
    """A class of the user's own, with more."""

    def __init__(self, name, *args):
        object.__setattr__(self, "name", name)
        super().__init__(*args)


def test_a_class_of_the_users_keeps_what_it_adds():
    again = pickle.loads(pickle.dumps(Named("mine", *TETRAHEDRON)))
    assert type(again) is Named and again.name == "mine" and again.n_faces == 4


def test_meshes_of_bodies_travel_with_them(another_process):
    where = gc.Poses([[0, 0, 0], [3, 0, 0], [6, 0, 0]], [[1.0, 0, 0, 0]] * 3)
    bodies = gc.Bodies([MESHES["box"], MESHES["car"]], [0, 1, 0], where, where)
    raw = pickle.dumps(bodies)
    another_process()
    one, two = pickle.loads(raw), pickle.loads(raw)
    assert one is not two and one.meshes == two.meshes
    assert one.meshes[0] is not MESHES["box"]
