"""Stage b04: the pairs of bodies that may meet, counted, scanned, then filled in blocks.

`search` counts; its result hands out the pairs in lexicographic order, in blocks of any size. Which pairs
there are does not depend on the tree, on the size of the blocks or on the backend.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_collide.pipeline.broad_phase.trees import BodyTree
from gpu_collide.results.report import PairReport

__all__ = ["KeptTree", "Search", "fitted", "search"]

FIRST_STEP = 64  # bodies that ask first if the pairs may be too many
SAMPLE, OUTLIERS = 128, 8  # bodies whose rows say how many pairs are likely, and how many long ones do not
FAR_TOO_MANY = 8  # by so much that must be above what there is room for, to stop before it is filled
WORN = 1.5  # a refitted tree that takes so many times the tests of a new one is built anew in the next step
AHEAD_TESTS = 1 << 31  # where looking means to wait: so many tests are launched before anybody looks
BUILDS = ("b01_bodies", "b03_bodies", "b03_body_nodes", "b03_body_level")
LONGEST = 8192  # partners of one body beyond which its row is made by all work-items together


@dataclass
class Search:
    """Counted pairs on a backend with kernels.

    Attributes
    ----------
    tree : BodyTree
    starts : (n + 1,) int64
        Number of the first pair of each body; the last is how many there are.
    report : PairReport
    complete : bool
        All bodies have been asked.
    likely : int or None
        If not: about how many pairs there are, from a sample without its longest rows.
    """

    tree: BodyTree
    bounds: int
    report: PairReport
    starts: Any = None
    complete: bool = False
    likely: int | None = None
    _bound: dict = field(init=False)  # what all launches have in common
    _leaf_of: Any = None

    @property
    def total(self):
        """Number of pairs."""
        return int(self.starts[-1])

    def __len__(self):
        return self.total

    def __post_init__(self):
        t = self.tree
        ignored = t.rules.ignore
        self._bound = {
            "n": t.n, "n_bodies": t.n_bodies, "n_ignored": len(ignored), "bounds": self.bounds,
            "still_pairs": int(t.rules.still_pairs), "leaves_in": t.leaves, "leaf_ints_in": t.leaf_ints,
            "nodes_in": t.nodes, "segments_in": t.segments,
            "ignored_in": t.run.to_device(ignored if len(ignored) else np.zeros(1, np.int64)),
            **t.origin_args(),
        }  # fmt: skip

    def count(self, most=None, before=None):
        """Launch b04_count; returns self.

        `before`: how many pairs there were in the step before, if it is known.

        With `most`, it stops when there are more pairs than that, or far more are likely; then `starts` holds
        those found so far.
        """
        t, run, be = self.tree, self.tree.run, self.tree.run.backend
        begun = time.perf_counter()
        counts = be.fill(t.buffer("counts", t.n_bodies, np.int32), 0)
        tests = be.fill(t.buffer("tests", max(t.n, 1), np.int32), 0)
        self._bound["kept_in"] = kept = t.buffer("kept", max(t.n_bodies, 1) * t.keep, np.int32)
        first, step = 0, t.n if most is None else FIRST_STEP
        if be.kind == "cuda":  # to look costs more than so many tests
            step = max(step, AHEAD_TESTS // max(t.n, 1))
        if most is not None and before is not None and before <= most // FAR_TOO_MANY:
            step = max(step, t.n // FAR_TOO_MANY)  # few look first, and then all others
        self.starts, tested = np.zeros(t.n_bodies + 1, np.int64), np.zeros(0, np.int32)
        while first < t.n and not (most is not None and self.total > most):
            step = min(step, t.n - first)
            run.launch_noted("b04_count", step, self._bound, n_askers=step, first=first, kept_out=kept,
                             counts_out=counts, tests_out=tests)  # fmt: skip
            first, step = first + step, 2 * step if before is None else t.n
            self._bound["starts_in"] = be.exclusive_scan(counts)
            self.starts, tested = be.to_hosts([self._bound["starts_in"], tests])
            if most is not None and first < t.n and self.total * t.n > FAR_TOO_MANY * most * first:
                self.likely = self._sample()
                if self.likely > FAR_TOO_MANY * most:
                    break
        self.complete = first >= t.n
        self.likely = None if self.complete else max(self._sample(), self.total)
        self.report.tests = int(tested.sum(dtype=np.int64))
        self.report.pairs = self.total
        if not t.n:
            be.synchronize()  # for the tree: nothing was asked, so nobody has waited
        self.report.seconds_search += time.perf_counter() - begun
        self._part(run.settle())
        return self

    def _part(self, took):
        """Say of the seconds that were waited for here which were spent on the tree; `took`: by stage."""
        tree = sum(seconds for stage, seconds in took.items() if stage in BUILDS)
        tree = min(tree, self.report.seconds_search)
        self.report.seconds_build += tree
        self.report.seconds_search -= tree

    def blocks(self, limit, stay=False):
        """Yield the pairs in lexicographic order, as (p, 2) int32 arrays of at most `limit` rows; to `stay`,
        as arrays where they were found, unless a body has very many."""
        at, n = 0, self.tree.n_bodies
        while self.starts[at] < self.total:
            at = (
                int(np.searchsorted(self.starts, self.starts[at], "right")) - 1
            )  # past bodies without partners
            stop = int(np.searchsorted(self.starts, self.starts[at] + limit, "right")) - 1
            begun = time.perf_counter()
            if stop > at:
                block = self._fill(at, min(stop, n), stay)
                self.report.seconds_search += time.perf_counter() - begun
                yield block
            else:
                row = self.row(at)
                self.report.seconds_search += time.perf_counter() - begun
                for k in range(0, len(row), limit):
                    yield row[k : k + limit]
                stop = at + 1
            at = stop

    def _fill(self, first, end, stay=False):
        """Pairs of bodies first to end."""
        t, run, be = self.tree, self.tree.run, self.tree.run.backend
        base, total = int(self.starts[first]), int(self.starts[end] - self.starts[first])
        pairs = be.empty(2 * total, np.int32)
        askers = np.arange(t.n, dtype=np.int32)
        if total < self.total:  # else those outside have no pairs
            askers = askers[(t.order_host >= first) & (t.order_host < end)]
        launch = run.launch_ahead if stay else run.launch_noted
        launch("b04_fill", len(askers), self._bound, n_askers=len(askers), longest=LONGEST, base=base,
               askers_in=run.to_device(askers), pairs_out=pairs)  # fmt: skip
        long = first + np.flatnonzero(np.diff(self.starts[first : end + 1]) > LONGEST)
        if stay and not len(long):
            return pairs.reshape(-1, 2)
        pairs = be.to_host(pairs).reshape(-1, 2)
        run.settle()
        for body in long:
            pairs[self.starts[body] - base : self.starts[body + 1] - base] = self.row(int(body))
        return pairs

    def row(self, body):
        """Pairs of one body, (p, 2) int32."""
        if self._leaf_of is None:
            self._leaf_of = np.full(self.tree.n_bodies, -1, np.int32)
            self._leaf_of[self.tree.order_host] = np.arange(self.tree.n, dtype=np.int32)
        partners = self._partners(int(self._leaf_of[body]))
        return np.stack([np.full(len(partners), body), partners], axis=1).astype(np.int32)

    def _partners(self, leaf):
        """Partners of higher number of the body of a leaf."""
        t, run, be = self.tree, self.tree.run, self.tree.run.backend
        marks = be.zeros(t.n_bodies, np.uint8)
        run.launch("b04_row", t.n, self._bound, asker=int(leaf), marks_out=marks)
        return np.flatnonzero(be.to_host(marks))

    def _sample(self):
        """About how many pairs there are, or fewer: of leaves here and there, without the longest rows."""
        if self.likely is not None:
            return self.likely
        n = self.tree.n
        leaves = np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.int64))
        rows = np.sort([len(self._partners(leaf)) for leaf in leaves])[: -OUTLIERS or None]
        return int(n * int(rows.sum()) // len(leaves))


class KeptTree:
    """The tree of a step, for the next one.

    Attributes
    ----------
    tree : BodyTree or None
    """

    def __init__(self):
        self.tree, self._tests_when_new = None, 0

    def take(self):
        """The tree, which is not there until `keep`: what is interrupted leaves no tree half refitted."""
        tree, self.tree = self.tree, None
        return tree

    def keep(self, found):
        """Keep the tree of a search, unless the bodies have moved so far that it is worn."""
        report = found.report
        self.tree = found.tree
        if not report.refitted or not self._tests_when_new:
            self._tests_when_new = report.tests
        elif report.tests > WORN * self._tests_when_new:
            self.tree = None


def fitted(run, bodies, rules, tree=None, placed=None, margin=0.0):
    """The tree over `bodies` under `rules`: `tree`, of an earlier step, with new boxes if it serves; and
    whether it did."""
    if tree is not None and tree.run.same_kernels(run):
        tree.run = run
        if not np.any(margin) and tree.stands_over(bodies, rules):
            return tree, True
        if tree.serves(bodies, rules):
            return tree.refit(bodies, rules, placed, margin), True
    return BodyTree.build(run, bodies, rules, placed, margin), False


def search(run, bodies, rules, *, everything=False, own=False, tree=None, most=None, placed=None, margin=0.0):
    """Count the pairs of `bodies` that may meet under `rules`.

    Parameters
    ----------
    run : Run
    bodies : Bodies
    rules : Rules
    everything : bool
        All pairs that the rules allow.
    tree : BodyTree, optional
        Of an earlier step: refitted if it serves.
    most : int, optional
        Stop counting beyond this many pairs; then the result is not `complete`, and has no `blocks`.
    placed : dict, optional
        Buffers that hold the poses already.
    margin : float or (n,) float64 ndarray
        Pairs that may come so near count as well, or as near as the mean of two bodies' own.

    Returns
    -------
    Search
    """
    run.build("bvh")
    built = time.perf_counter()
    tree, refitted = fitted(run, bodies, rules, tree, placed, margin)
    report = PairReport(
        "off" if everything else "hierarchy", len(bodies), np.flatnonzero(~tree.valid),
        rules.possible(tree.valid, tree.still), refitted=refitted, seconds_build=time.perf_counter() - built,
    )  # fmt: skip
    bounds = "NONE" if everything else "SWEPT" if own else "SCREW"
    found = Search(tree, int(run.c[f"GC_BOUNDS_{bounds}"]), report).count(
        most, tree.pairs_before if refitted else None
    )
    tree.pairs_before = found.total if found.complete else None
    return found
