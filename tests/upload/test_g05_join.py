"""g05_join: listed patches in order, each once, and the meshes that they are joined to."""

import numpy as np
import pytest

from gpu_collide.backends import sources
from gpu_collide.reference.upload import g05_join

MESH, GATHER, LISTED = (sources.record(name) for name in ("mesh", "gather", "listed"))
N, PARTS, MOST = 9, 12, 400
ROOM = {"vertices": 10_000, "edges": 10_000, "faces": 10_000, "topology": 200_000}


class Tables:
    """Sizes and headers of some parts, of which only the flags are read."""

    def __init__(self, rng):
        self.sizes = rng.integers(1, 40, (PARTS, 7), dtype=np.int32)
        self.headers = np.full((PARTS, MESH.stride), -5, np.int32)
        self.headers[:, [MESH["two_sided"], MESH["closed"]]] = rng.integers(0, 2, (PARTS, 2))


def listed(rng, n=300, sides=None):
    """A list as b05 leaves it, with patches listed more than once, of some of the pairs."""
    rows = np.stack([
        rng.choice(sides if sides is not None else [0, 1, 4, 5, 6, 7, 16, 17], n),
        rng.integers(0, PARTS, n), 1 << rng.integers(0, 31, n),
    ], axis=1)  # fmt: skip
    whole = np.full((MOST, LISTED.stride), -1, np.int32)
    whole[:n] = rows
    return whole


def launched(be, rows, tables, room=ROOM):
    """What the five launches behind b05 write, from the list on."""
    kernels = be.module("join_near_faces", "mixed")
    held = {
        "list_in": be.to_device(rows.reshape(-1)), "part_sizes_in": be.to_device(tables.sizes.reshape(-1)),
        "headers_in": be.to_device(tables.headers.reshape(-1)),
    }  # fmt: skip
    sizes = {
        "count": 2 * N, "cursor": 2 * N, "order": MOST, "part": MOST, "faces": MOST, "first": MOST,
        "entries": MOST * GATHER.stride, "sums": 9 * N, "headers": 2 * N * MESH.stride, "edge0": 2 * N,
        "side": 2 * N, "mesh_start": 2 * N + 1, "mesh": MOST, "items": 3 * N, "todo": N,
    }  # fmt: skip
    out = {name: be.fill(be.empty(size, np.int32), -7) for name, size in sizes.items()}
    for name, value in (("count", 0), ("cursor", 0), ("mesh", -1), ("todo", -1)):
        be.fill(out[name], value)

    def launch(name, n, **more):
        kernel, args = kernels[name], dict(more)
        for arg in kernel.args[1:]:
            stem = arg.name.removesuffix("_in").removesuffix("_out")
            if arg.name not in args:
                args[arg.name] = out[stem] if arg.name not in held else held[arg.name]
        be.launch_items(kernel, n, **{kernel.args[0].name: n}, **args)

    launch("g05_count", MOST)
    held["start_in"] = be.exclusive_scan(out["count"])
    launch("g05_place", MOST)
    launch("g05_order", MOST, n_sides=2 * N)
    held["unique_in"] = be.exclusive_scan(out["first"])
    launch("g05_measure", N)
    held["sums_in"] = be.exclusive_scan(out["sums"])
    launch("g05_headers", N, **{f"most_{name}": n for name, n in room.items()})
    found = {name: be.to_host(buffer) for name, buffer in out.items()}
    return found | {"totals": np.diff(be.to_host(held["sums_in"])[N :: 2 * N], prepend=0).tolist()}


@pytest.mark.parametrize("seed", range(3))
def test_against_the_reference(backend, seed):
    rng = np.random.default_rng(seed)
    tables, rows = Tables(rng), listed(rng)
    found = launched(backend, rows, tables)
    again = launched(backend, np.concatenate([rng.permutation(rows[:300]), rows[300:]]), tables)
    wanted = g05_join.joined(rows, tables.sizes, tables.headers, N)
    for told in (found, again):  # whatever the order of the list
        n, m = len(wanted.mesh), len(wanted.side)
        assert told["entries"].reshape(-1, GATHER.stride)[:n].tolist() == wanted.entries.tolist()
        assert told["mesh"].tolist() == wanted.mesh.tolist() + [-1] * (MOST - n)
        assert told["mesh_start"][: m + 1].tolist() == wanted.mesh_start.tolist()
        assert told["headers"].reshape(-1, MESH.stride)[:m].tolist() == wanted.headers.tolist()
        assert told["edge0"][:m].tolist() == wanted.edge0.tolist()
        assert told["side"][:m].tolist() == wanted.side.tolist()
        assert told["items"].reshape(-1, 3)[: m // 2].tolist() == wanted.items.tolist()
        assert told["todo"].tolist() == [*range(m // 2)] + [-1] * (N - m // 2)
        assert told["totals"] == wanted.totals
    assert m == 8 and wanted.entries[:, GATHER["near"]].max() > 1 << 20


def test_an_empty_list(backend):
    tables = Tables(np.random.default_rng(0))
    found = launched(backend, np.full((MOST, 3), -1, np.int32), tables)
    assert found["totals"] == [0] * 5 and (found["todo"] == -1).all() and (found["mesh"] == -1).all()


def test_a_pair_with_one_side_only_is_left_out(backend):
    """As a list that was too short may have it; nothing takes its place."""
    rng = np.random.default_rng(1)
    tables, rows = Tables(rng), listed(rng, sides=[0, 1, 4, 7, 16, 17])
    found = launched(backend, rows, tables)
    assert found["totals"][0] == 2 and found["todo"].tolist() == [0, 1] + [-1] * (N - 2)
    assert found["items"].reshape(-1, 3)[:2, 0].tolist() == [0, 8]
    entries = np.isin(rows[:300, 0], [4, 7]).sum()
    assert entries and set(found["mesh"].tolist()) == {-1, 0, 1, 2, 3}


@pytest.mark.parametrize("short", ROOM)
def test_a_pair_without_room_is_left_out(backend, short):
    """What did not fit has neither item nor entries, and the totals say how much it takes."""
    rng = np.random.default_rng(2)
    tables, rows = Tables(rng), listed(rng)
    wanted = g05_join.joined(rows, tables.sizes, tables.headers, N)
    total = wanted.totals[1 + list(ROOM).index(short)]
    found = launched(backend, rows, tables, ROOM | {short: total - 1})
    assert found["totals"] == wanted.totals
    assert found["todo"].tolist() == [0, 1, 2] + [-1] * (N - 3)
    assert set(found["mesh"].tolist()) == {-1, *range(6)}


def test_pairs_are_parted_by_their_meshes(backend):
    be, rng = backend, np.random.default_rng(3)
    items = np.column_stack([np.arange(N), rng.integers(0, 4, (N, 2))]).astype(np.int32)
    near, todo = np.array([0, 1, 0, 0], np.uint8), np.array([0, 2, 3, 7, 8, -1, -1], np.int32)
    small = np.array([1, 1, 0, 1], np.uint8)
    told = "near_out", "small_out", "whole_out"
    out = {name: be.fill(be.empty(len(todo), np.uint8), 7) for name in told}
    be.launch_items(
        be.module("join_near_faces", "mixed")["g05_near"], len(todo), n_todo=len(todo),
        todo_in=be.to_device(todo), items_in=be.to_device(items.reshape(-1)), near_in=be.to_device(near),
        small_in=be.to_device(small), **out,
    )  # fmt: skip
    parted = g05_join.parted(todo, items, near, small)
    for name, wanted in zip(told, parted, strict=True):
        assert be.to_host(out[name]).tolist() == wanted and sum(wanted), name
    assert sum(map(sum, parted)) == 5
