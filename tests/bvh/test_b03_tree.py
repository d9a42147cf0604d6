"""b03_tree: boxes of the nodes, refits, and walks over ranges of leaves."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from gpu_collide.backends import sources
from gpu_collide.bodies.rules import check_rules
from gpu_collide.pipeline.bvh import MOST_LEAVES, BodyTree, Levels, Tree, tree_constants
from gpu_collide.pipeline.run import Run
from gpu_collide.reference.bvh import b03_tree as reference
from tests.bvh._scenes import moving
from tests.support.probes import with_probes

C = tree_constants("mixed")
CROWD, LEAF = sources.record("crowd"), sources.record("leaf")
STILL, SWEPT, START, END = (CROWD.offsets[k] for k in ("still", "swept", "start", "end"))
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000]


def random_boxes(n, seed=0):
    rng = np.random.default_rng(seed + n)
    low = rng.normal(size=(n, 3))
    return np.concatenate([low, low + rng.uniform(0, 0.2, (n, 3))], axis=1)


def build(backend, boxes, precision="mixed", **ranks):
    real = "f4" if precision == "single" else "f8"
    return Tree.build(
        backend, backend.module("bvh", precision), backend.to_device(boxes.astype(real)), **ranks
    )


def check_nodes(backend, tree, boxes):
    nodes = backend.to_host(tree.nodes).reshape(-1, 6)
    for k, level in enumerate(reference.levels_of(boxes.astype(nodes.dtype), tree.order_host)):
        start = tree.levels.starts[k]
        assert np.array_equal(nodes[start : start + tree.levels.counts[k]], level)
    assert k + 1 == len(tree.levels.counts)


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("n", SIZES)
def test_levels(backend, n, precision):
    boxes = random_boxes(n)
    check_nodes(backend, build(backend, boxes, precision), boxes)


@pytest.mark.parametrize("n", SIZES)
def test_refit_is_the_tree_of_the_new_boxes_in_the_old_order(backend, n):
    tree = build(backend, random_boxes(n))
    order, new = tree.order_host.copy(), random_boxes(n, seed=9)
    assert tree.refit(backend.to_device(new)) is tree
    assert np.array_equal(tree.order_host, order)
    check_nodes(backend, tree, new)


def test_empty_tree_and_too_many_leaves(backend):
    tree = build(backend, np.zeros((0, 6)))
    assert tree.n == 0 and len(tree.order_host) == 0
    assert tree.refit(backend.to_device(np.zeros((0, 6)))).n == 0
    with pytest.raises(ValueError, match="leaves"):
        Levels(MOST_LEAVES + 1)
    with pytest.raises(ValueError, match="boxes: expected 0 boxes"):
        tree.refit(backend.to_device(np.zeros((1, 6))))


def test_no_numbers_are_everywhere(backend):
    """A box with a NaN in it must not be lost: the nodes above it reach as far as can be on that side."""
    boxes = random_boxes(9)
    boxes[4, 1], boxes[5, 3] = np.nan, np.inf
    tree = build(backend, boxes)
    root = backend.to_host(tree.nodes).reshape(-1, 6)[-1]
    assert root[1] < -1e300 and root[3] > 1e300 and np.isfinite(root).all()


def test_segments(backend):
    ranks = np.array([2, 0, 1, 2, 0, 0, 1], np.int32)
    tree = build(backend, random_boxes(7), ranks=backend.to_device(ranks), n_ranks=3)
    assert ranks[tree.order_host].tolist() == [0, 0, 0, 1, 1, 2, 2]


# ---- bodies


@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
@pytest.mark.parametrize("n", [1, 4, 5, 17, 300])
def test_nodes_of_bodies_hold_their_leaves(backend, n, precision):
    """Rounded outwards: never a leaf outside, and never far inside (2.4e-7 of the coordinates)."""
    bodies = moving(n, n, turn=2.0, way=3.0, still=0.3, far=50.0)
    tree = BodyTree.build(Run(backend, precision, 1 << 30), bodies, check_rules(n))
    leaves = backend.to_host(tree.leaves).reshape(n, -1).astype(float)
    still = backend.to_host(tree.leaf_ints).reshape(n, -1)[:, sources.record("leaf_int")["rank"]] & 1 == 1
    nodes = backend.to_host(tree.nodes).reshape(-1, tree.node_width).astype(float)
    assert np.array_equal(still, tree.still[tree.order_host])
    boxes = np.hstack([leaves[:, LEAF[k]] - tree.origin for k in ("low", "high")])
    start, end = (leaves[:, LEAF[k]] - tree.origin for k in ("start", "end"))
    ways = np.linalg.norm(end - start, axis=1)
    for k, (first, count) in enumerate(zip(tree.levels.starts, tree.levels.counts, strict=True)):
        for j in range(count):
            node, which = nodes[first + j], np.zeros(n, bool)
            which[j << (k + tree.low) : (j + 1) << (k + tree.low)] = True
            check_box(node[STILL : STILL + 6], boxes[which & still])
            check_box(node[SWEPT : SWEPT + 6], boxes[which & ~still])
            check_box(node[START : START + 6], np.tile(start, 2)[which & ~still])
            check_box(node[END : END + 6], np.tile(end, 2)[which & ~still])
            greatest = [-1.0, 0.0, 0.0]
            if (which & ~still).any():
                greatest = [
                    x[which & ~still].max()
                    for x in (leaves[:, LEAF["radius"]], leaves[:, LEAF["angle"]], ways)
                ]
            bounds = node[[CROWD[k] for k in ("radius", "angle", "way")]]
            assert (bounds >= greatest).all() and np.allclose(bounds, greatest, rtol=1e-6, atol=1e-6)


def check_box(node, boxes):
    if not len(boxes):
        assert (node[:3] > node[3:]).all()
        return
    low, high = boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)
    assert (node[:3] <= low).all() and (node[3:] >= high).all()
    slack = 1e-6 * max(1.0, np.abs(boxes).max())
    assert np.allclose(node, [*low, *high], rtol=0, atol=slack)


def test_invalid_bodies_have_no_leaf(backend):
    import gpu_collide as gc

    position = np.arange(30.0).reshape(10, 3)
    position[[2, 7]] = np.nan
    poses = gc.Poses.from_quat_wxyz(position, [[1, 0, 0, 0]] * 10)
    bodies = gc.Bodies(gc.shapes.box(), None, poses, poses)
    tree = BodyTree.build(Run(backend, "mixed", 1 << 30), bodies, check_rules(10))
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
