"""Large meshes lie on a shelf, once each: the tables of every set say the same as tables of its own."""

import gc as garbage
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.backends.cpu import CpuBackend
from gpu_collide.errors import MemoryLimitError
from gpu_collide.geometry.preparation.face_tree import level_counts
from gpu_collide.pipeline.mesh_tables import arena, layout, tables
from gpu_collide.pipeline.mesh_tables.layout import TABLES
from tests.mesh._meshes import meshes, prism, soup

MESH, NODE, TREE = (sources.record(name) for name in ("mesh", "node", "tree"))
#: Entries of each index table of a part with nv, ne, nf features and the rest of `parts.SIZES`.
LENGTHS = {
    "face_start": lambda s: s[2] + 1, "face_vertices": lambda s: s[3], "face_edges": lambda s: s[3],
    "edges": lambda s: 2 * s[1], "edge_face_start": lambda s: s[1] + 1, "edge_faces": lambda s: s[4],
    "vertex_edge_start": lambda s: s[0] + 1, "vertex_edges": lambda s: s[5],
    "vertex_face_start": lambda s: s[0] + 1, "vertex_faces": lambda s: s[6], "edge_flags": lambda s: s[1],
    "vertex_flags": lambda s: s[0], "source_vertices": lambda s: s[0], "source_edges": lambda s: s[1],
    "source_faces": lambda s: s[2], "edge_faces_away": lambda s: s[4], "vertex_edges_away": lambda s: s[5],
    "vertex_faces_away": lambda s: s[6],
}  # fmt: skip


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch):
    monkeypatch.setattr(tables, "FEW_FACES", 0)
    monkeypatch.setattr(arena, "MOST_SMALL", 4)


def said(found, backend):
    """All that kernels can read of a set of meshes, wherever it lies: bytes, in an order of its own."""
    buffers = {name: backend.to_host(b).reshape(-1) for name, b in found.buffers.items()}
    screen = {name: backend.to_host(b).reshape(-1) for name, b in found.screen.items()}
    headers = buffers["headers_in"].reshape(-1, MESH.stride)
    out = [buffers[name] for name in ("mesh_reals_in", "solids_in")]
    out += [found.counts, found.largest, found.part_sizes, found.part_flags]
    for k, (row, size) in enumerate(zip(headers.tolist(), found.part_sizes.tolist(), strict=True)):
        whole = k < len(found.counts)
        assert row[:3] == size[:3]
        out.append(np.array([row[MESH[name]] for name in ("two_sided", "closed", "near_faces")]))
        for name, length in LENGTHS.items():
            at = row[MESH[name]]
            assert (at < 0) == (whole and name.startswith(("source", "edge_faces_away", "vertex_edges_away",
                                                           "vertex_faces_away")))  # fmt: skip
            out += [] if at < 0 else [buffers["topology_in"][at : at + length(size)]]
        first = {"vertex": row[MESH["vertex0"]], "face": row[MESH["face0"]], "edge": screen["edge0_in"][k]}
        count = {"vertex": size[0], "edge": size[1], "face": size[2]}
        for name, table in TABLES.items():
            kind = table.kinds[0]
            if kind in first and (whole or "." in name):
                array = screen[name.split(".")[1]] if "." in name else buffers[name]
                begin = table.width * first[kind]
                out.append(array[begin : begin + table.width * count[kind]])
                assert len(out[-1]) == table.width * count[kind]
    trees = buffers["trees_in"].reshape(-1, TREE.stride).copy()
    for tree in trees:
        n = NODE.stride * sum(level_counts(int(tree[TREE["faces"]]))) if tree[TREE["faces"]] else 0
        out.append(buffers["nodes_in"][NODE.stride * tree[TREE["node"]] :][:n])
    trees[:, TREE["node"]] = 0
    return [x.tobytes() for x in (*out, trees, screen["reach_in"])]


def same(meshes, backend, precision="mixed", near=True):
    found = tables.tables_for(meshes, backend, precision, near)
    return said(found, backend) == said(tables.build_tables(meshes, backend, precision, near), backend)


def put(monkeypatch):
    """Meshes that are put on a shelf from now on, as weak references."""
    seen, pieces = [], arena.pieces_of

    def watched(mesh, *args):
        seen.append(weakref.ref(mesh))
        return pieces(mesh, *args)

    monkeypatch.setattr(arena, "pieces_of", watched)
    return seen


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_tables_say_what_joined_ones_say(backend, precision, near):
    some = meshes()
    for chosen in ([2], [2, 0], [1, 2, 0], [0, 0], [5, 2, 5, 3], [6, 4, 3, 2, 1, 0]):
        assert same([some[k] for k in chosen], backend, precision, near)


def test_contacts_are_the_same(monkeypatch, backend):
    ball, some = gc.shapes.icosphere(3), [gc.shapes.box(), gc.shapes.torus(), gc.shapes.star()]
    start = gc.Poses(np.array([[0.0, 0, 0], [6, 0.3, 0.2]]), np.tile([1.0, 0, 0, 0], (2, 1)))
    end = gc.Poses(np.array([[0.0, 0, 0], [-6, 0.1, 0.1]]), np.tile([1.0, 0, 0, 0], (2, 1)))

    def all_contacts():
        found = []
        for other in some:
            bodies = gc.Bodies([ball, other], [0, 1], start, end)
            for options in (dict(tuning=gc.Tuning(features="near")), dict(tuning=gc.Tuning(features="all"))):
                c = gc.collide(bodies, [[0, 1]], backend=backend.kind, check_start=True, **options)
                found.append((c.time.tobytes(), c.position.tobytes(), c.normal.tobytes(), len(c)))
        return found

    on_shelf = all_contacts()
    monkeypatch.setattr(tables, "FEW_FACES", 1 << 20)
    some = [gc.shapes.box(), gc.shapes.torus(), gc.shapes.star()]
    assert all_contacts() == on_shelf and all(n for *_, n in on_shelf)


def test_a_mesh_is_copied_once(monkeypatch):
    backend, ball, small = CpuBackend(), gc.shapes.icosphere(3), [gc.shapes.box((1, 1, k)) for k in (1, 2, 3)]
    tables.tables_for([ball], backend, "mixed", True)
    seen = put(monkeypatch)
    found = [tables.tables_for([ball, other], backend, "mixed", True) for other in small]
    assert [ref() for ref in seen] == small
    for name in ("topology_in", "nodes_in", "vertices_in", "insets_in"):
        assert len({id(t.buffers[name]) for t in found}) == 1
    assert tables.tables_for([ball, small[1]], backend, "mixed", True) is found[1]
    assert all(t.nbytes < 1 << 16 for t in found), "what is shared is not counted as theirs"


def test_what_does_not_fit_gets_a_new_shelf_and_takes_others_along(monkeypatch):
    backend, a, b = CpuBackend(), gc.shapes.icosphere(2), gc.shapes.icosphere(2)
    first = tables.tables_for([a], backend, "mixed", True)
    seen = put(monkeypatch)
    assert same([b], backend)
    assert {id(ref()) for ref in seen} == {id(a), id(b)}
    del seen[:]
    assert tables.tables_for([a], backend, "mixed", True) is not first, "the old shelf let go"
    assert same([a], backend) and same([a, b], backend) and seen == []
    crowd = [gc.shapes.icosphere(1) for _ in range(12)]
    assert all(same([mesh], backend) for mesh in crowd)
    monkeypatch.setattr(arena, "OTHERS", 1)
    del seen[:]
    large = gc.shapes.icosphere(3)
    assert same([large], backend)
    assert len(seen) > 2 and seen[-1]() is large, "those asked for last go along"
    del seen[:]
    prisms = [prism(400), prism(401)]
    monkeypatch.setattr(arena, "OTHERS", 0)
    assert same(prisms, backend) and {id(ref()) for ref in seen} == set(map(id, prisms))


def held_by(backend):
    return [s for key, s in backend.kept["tables"]._shelves.items()]


def test_a_dropped_mesh_frees_what_it_took():
    backend, box = CpuBackend(), gc.shapes.box()
    tables.tables_for([box, soup()], backend, "mixed", True)
    garbage.collect()
    garbage.disable()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        mesh = gc.shapes.icosphere(4).prepare(near=True)
        found = tables.tables_for([box, mesh], backend, "mixed", True)
        held, gone = tracemalloc.get_traced_memory()[0] - before, weakref.ref(mesh)
        assert held > held_by(backend)[0].nbytes > 1 << 20
        del mesh, found
        assert gone() is None and held_by(backend)[0].gone
        assert tracemalloc.get_traced_memory()[0] - before < 0.02 * held
    finally:
        tracemalloc.stop()
        garbage.enable()
    assert same([box], backend)


def test_half_of_a_shelf_may_be_of_lost_meshes():
    backend = CpuBackend()
    kept, lost = [gc.shapes.icosphere(2) for _ in range(2)], [gc.shapes.icosphere(2) for _ in range(3)]
    found = tables.tables_for([*kept, *lost], backend, "mixed", True)
    (here,) = held_by(backend)
    del lost[0], found
    assert not here.gone
    assert same(kept, backend) and held_by(backend) == [here]
    del lost[0]
    assert not here.gone
    del lost[0]
    assert here.gone and here.nbytes == 0
    assert same(kept, backend) and held_by(backend) != [here]


def test_a_shelf_that_no_set_uses_any_more_is_let_go(monkeypatch):
    backend, mesh = CpuBackend(), gc.shapes.icosphere(2)
    monkeypatch.setattr(tables, "MOST_SETS", 2)
    monkeypatch.setattr(tables, "FEW_FACES", 300)
    tables.tables_for([mesh], backend, "mixed", True)
    gone = weakref.ref(held_by(backend)[0])
    others = [gc.shapes.box((1, 1, k)) for k in (1, 2)]
    for other in others:
        tables.tables_for([other], backend, "mixed")
    assert held_by(backend) == [] and gone() is None


def test_without_room_for_a_shelf_tables_are_joined(monkeypatch):
    backend, mesh = CpuBackend(), gc.shapes.icosphere(2)

    class NoRoom(MemoryLimitError, MemoryError):
        pass

    def refuse(*_):
        raise NoRoom

    with monkeypatch.context() as patch:
        patch.setattr(arena.MeshArena, "renewed", refuse)
        found = tables.tables_for([mesh], backend, "mixed", True)
        assert tables.tables_for([mesh], backend, "mixed", True) is found
    assert held_by(backend) == [] and said(found, backend) == said(
        tables.build_tables([mesh], backend, "mixed", True), backend
    )


def test_an_interrupt_while_a_mesh_is_put_leaves_nothing_behind(monkeypatch):
    backend, ball, box = CpuBackend(), gc.shapes.icosphere(3), gc.shapes.box()
    tables.tables_for([ball], backend, "mixed", True)
    write, left = backend.write, [7]

    def interrupted(*args):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return write(*args)

    (here,) = held_by(backend)
    monkeypatch.setattr(backend, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tables.tables_for([ball, box], backend, "mixed", True)
    assert same([ball, box], backend) and same([ball], backend) and held_by(backend) == [here]


def test_a_forked_child_begins_anew():
    backend, mesh = CpuBackend(), gc.shapes.icosphere(2)
    found = tables.tables_for([mesh], backend, "mixed", True)
    sets = backend.kept["tables"]
    sets._shelving.acquire()  # another thread of the parent is at it
    sets._after_fork()
    assert held_by(backend) == [] and tables.tables_for([mesh], backend, "mixed", True) is found
    assert same([mesh, gc.shapes.box()], backend)


def test_too_many_index_entries_are_refused():
    with pytest.raises(
        ValueError, match=r"meshes: expected index tables below 2\*\*31 entries in all, got 2147483648"
    ):
        layout.check_index(2**31)
    layout.check_index(2**31 - 1)


def test_threads_on_a_crowded_shelf(monkeypatch):
    """Eight threads ask for sets that push each other from the shelf, while some meshes come to an end."""
    monkeypatch.setattr(arena, "OTHERS", 1)
    backend, some = CpuBackend(), meshes()
    sets = [[some[j] for j in chosen] for chosen in ([0, 1], [2], [2, 3], [4, 5], [6, 0], [1, 2, 3], [5])]
    expected = [said(tables.build_tables(s, backend, "mixed", True), backend) for s in sets]
    begin, wrong = threading.Barrier(8), []

    def work(k):
        rng = np.random.default_rng(k)
        begin.wait()
        for _ in range(25):
            j = int(rng.integers(len(sets)))
            if rng.random() < 0.3:
                extra = gc.shapes.icosphere(1)
                tables.tables_for([*sets[j], extra], backend, "mixed", True)
            elif said(tables.tables_for(sets[j], backend, "mixed", True), backend) != expected[j]:
                wrong.append(j)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert wrong == []
