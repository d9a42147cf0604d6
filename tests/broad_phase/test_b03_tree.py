"""b03_tree: boxes of the nodes, refits, and walks over ranges of leaves."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from gpu_collide.backends import sources
from gpu_collide.bodies.rules import check_rules
from gpu_collide.pipeline.broad_phase.trees import MOST_LEAVES, BodyTree, Levels, leaf_order, tree_constants
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.reference.broad_phase import b03_tree as reference
from tests.broad_phase._scenes import moving
from tests.support.probes import with_probes

C = tree_constants("mixed")
CROWD, LEAF = sources.record("crowd"), sources.record("leaf")
STILL, SWEPT, START, END = (CROWD.offsets[k] for k in ("still", "swept", "start", "end"))


def test_too_many_leaves():
    with pytest.raises(ValueError, match="leaves"):
        Levels(MOST_LEAVES + 1)


def test_segments(backend):
    """Boxes of one segment are neighbours among the leaves."""
    ranks, rng = np.array([2, 0, 1, 2, 0, 0, 1], np.int32), np.random.default_rng(7)
    low = rng.normal(size=(7, 3))
    boxes = backend.to_device(np.concatenate([low, low + rng.uniform(0, 0.2, (7, 3))], axis=1))
    order, _ = leaf_order(backend, backend.module("bvh", "mixed"), boxes, 7, backend.to_device(ranks), 3)
    order = backend.to_host(order)
    assert sorted(order) == list(range(7)) and ranks[order].tolist() == [0, 0, 0, 1, 1, 2, 2]


# ---- bodies


@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
@pytest.mark.parametrize("n", [1, 4, 5, 17, 300])
def test_nodes_of_bodies_hold_their_leaves(backend, n, precision):
    """Rounded outwards: never a leaf outside, and never far inside (2.4e-7 of the coordinates)."""
    bodies = moving(n, n, turn=2.0, way=3.0, still=0.3, far=50.0)
    tree = BodyTree.build(Launcher(backend, precision, 1 << 30), bodies, check_rules(n))
    leaves = backend.to_host(tree.leaves).reshape(n, -1).astype(float)
    still = backend.to_host(tree.leaf_ints).reshape(n, -1)[:, sources.record("leaf_int")["rank"]] & 1 == 1
    nodes = backend.to_host(tree.nodes).reshape(-1, tree.node_width).astype(float)
    assert np.array_equal(still, tree.still[tree.order_host])
    boxes = np.hstack([leaves[:, LEAF[k]] - tree.origin for k in ("low", "high")])
    start, end = (leaves[:, LEAF[k]] - tree.origin for k in ("start", "end"))
    ways = np.linalg.norm(end - start, axis=1)
    columns = ((STILL, boxes, still), (SWEPT, boxes, ~still), (START, np.tile(start, 2), ~still),
               (END, np.tile(end, 2), ~still))  # fmt: skip
    expected = {column: reference.levels_of(held, which) for column, held, which in columns}
    for k, (first, count) in enumerate(zip(tree.levels.starts, tree.levels.counts, strict=True)):
        for j in range(count):
            node, which = nodes[first + j], np.zeros(n, bool)
            which[j << (k + tree.low) : (j + 1) << (k + tree.low)] = True
            for column, levels in expected.items():
                level = levels[min(k + tree.low, len(levels) - 1)]
                check_box(node[column : column + 6], level[j])
            greatest = [-1.0, 0.0, 0.0]
            if (which & ~still).any():
                greatest = [
                    x[which & ~still].max()
                    for x in (leaves[:, LEAF["radius"]], leaves[:, LEAF["angle"]], ways)
                ]
            bounds = node[[CROWD[k] for k in ("radius", "angle", "way")]]
            assert (bounds >= greatest).all() and np.allclose(bounds, greatest, rtol=1e-6, atol=1e-6)


def check_box(node, box):
    if box[0] > box[3]:
        assert (node[:3] > node[3:]).all()
        return
    assert (node[:3] <= box[:3]).all() and (node[3:] >= box[3:]).all()
    assert np.allclose(node, box, rtol=0, atol=1e-6 * max(1.0, np.abs(box).max()))


def test_invalid_bodies_have_no_leaf(backend):
    import gpu_collide as gc

    position = np.arange(30.0).reshape(10, 3)
    position[[2, 7]] = np.nan
    poses = gc.Poses.from_quat_wxyz(position, [[1, 0, 0, 0]] * 10)
    bodies = gc.Bodies(gc.shapes.box(), None, poses, poses)
    tree = BodyTree.build(Launcher(backend, "mixed", 1 << 30), bodies, check_rules(10))
    assert tree.n == 8 and sorted(tree.order_host) == [0, 1, 3, 4, 5, 6, 8, 9]


# ---- walks


@lru_cache(maxsize=1)
def probe_text():
    return with_probes([Path(__file__).with_name("probe_visit.c")])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 16, 17, 33])
@pytest.mark.parametrize("low", [0, 2])
def test_walks_hand_out_each_leaf_of_the_range_once(backend, n, low):
    """All ranges of leaves, with all nodes passing and with those of one level failing."""
    ranges = np.array([(a, b) for a in range(n) for b in range(a, n + 1)], np.int32)
    kernel = backend.compile(probe_text(), "mixed")["b99_visit"]
    for deny in (-1, 0, 1, 2, 3):
        k = len(ranges)
        leaves, nodes, wrong = backend.zeros(k * n, "i4"), backend.zeros(k, "i4"), backend.zeros(k, "i4")
        backend.launch_items(kernel, k, n_walks=k, n=n, low=low, deny=deny, nodes_out=nodes, wrong_out=wrong,
                             ranges_in=backend.to_device(ranges.reshape(-1)), leaves_out=leaves)  # fmt: skip
        assert not backend.to_host(wrong).any()
        leaves, nodes = backend.to_host(leaves).reshape(k, n), backend.to_host(nodes)
        inside = (np.arange(n) >= ranges[:, :1]) & (np.arange(n) < ranges[:, 1:])
        if deny < low:
            assert np.array_equal(leaves, inside)
        else:
            assert (leaves <= inside).all()
        assert (nodes[ranges[:, 0] == ranges[:, 1]] == 0).all()
        assert (nodes <= Levels(n, low).total).all()
