"""One scene asked in several ways: what breaks a promise, as sentences."""

import contextlib
import os
import time
import warnings

import numpy as np

import gpu_collide as gc
from gpu_collide import backends
from gpu_collide.errors import MemoryLimitError
from gpu_collide.results import invariants
from tests.oracle.matching import FIELDS
from tests.support.seeds import generator
from tests.support.tuning import keywords

SECONDS = 10.0  # of the processor: more for one call of some pairs is a hang
BITS = (*FIELDS, "status", "toi", "contact_start")


def same_bits(one, two, names=BITS):
    """Fields that differ in any bit."""
    pairs = ((n, np.asarray(getattr(one, n)), np.asarray(getattr(two, n))) for n in names)
    return [n for n, x, y in pairs if x.tobytes() != y.tobytes()]


@contextlib.contextmanager
def one_thread():
    """The `cpu` backend with a single thread, for a while."""
    from gpu_collide.backends.cpu import CpuBackend

    backends.get_backend("cpu")
    usual = backends._open["cpu"]
    if "one" not in _kept:
        _kept["one"] = CpuBackend(threads=1)
    backends._open["cpu"] = _kept["one"]
    try:
        yield
    finally:
        backends._open["cpu"] = usual


_kept = {}


class Calls:
    """Calls on one scene; `announce` is called with the name of each before it begins."""

    def __init__(self, scene, rng, announce=lambda what: None):
        self.scene, self.rng, self.announce, self.findings = scene, rng, announce, []

    def ask(self, what, backend="cpu", *, swap=False, **options):
        """A result checked for invariants; None if it was refused for memory or raised."""
        scene = self.scene
        given = {**scene.options, **options}
        pairs = scene.pairs
        if pairs is None:
            given |= scene.rules
        elif swap:
            pairs = pairs[:, ::-1].copy()
        self.announce(what)
        begin = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = gc.collide(scene.bodies, pairs, backend=backend, **keywords(**given)).to_numpy()
        except MemoryLimitError:
            return None
        except Exception as error:
            self.findings.append(f"{what}: raises {type(error).__name__}: {str(error).splitlines()[0][:200]}")
            return None
        took = time.process_time() - begin
        if took > SECONDS:
            self.findings.append(f"{what}: {took:.1f} s of the processor for {found.n_pairs} pairs")
        names = ("min_properness", "precision", "refine", "contacts", "motion")
        asked = {name: given[name] for name in names if name in given}
        with np.errstate(all="ignore"):
            bad = invariants.violations(found, scene.bodies, found.pairs, **asked)
        self.findings += [f"{what}: {line}" for line in bad]
        return found

    def compare(self, what, first, *args, **options):
        """Another way that has to give the same bits."""
        found = self.ask(what, *args, **options)
        if found is not None:
            differ = same_bits(first, found)
            if differ:
                self.findings.append(f"{what}: other bits in {', '.join(differ)}")

    def run(self, opencl=False):
        """The first call, and some of the other ways, drawn by chance. Returns the number of contacts."""
        rng, options = self.rng, self.scene.options
        first = self.ask("cpu")
        if first is None:
            return 0
        exact = options.get("refine", "exact") == "exact"
        if opencl and rng.random() < 0.3:
            self.compare("opencl", first, "opencl")
        if rng.random() < 0.2:
            with one_thread():
                self.compare("one thread", first)
        if rng.random() < 0.3:
            self.compare("small pieces", first, max_bytes=int(rng.choice([1 << 20, 1 << 21, 1 << 22])))
        # the other modes may see contacts of bodies that do not meet; filters and trees leave some out
        if exact and rng.random() < 0.3:
            self.compare("no filters", first, filters="none")
        if exact and rng.random() < 0.1:
            self.compare("dividing plane", first, filters=("spheres", "boxes", "plane"))
        if exact and self.scene.pairs is None and rng.random() < 0.7:
            self.without_tree(first)
        if exact and options.get("candidates") != "raster" and rng.random() < 0.4:
            self.compare("near faces", first, features="near")
        if exact and options.get("features") != "near":
            if rng.random() < 0.3:
                self.compare("all pairs of features", first, candidates="pairs")
            if rng.random() < 0.2 and options.get("motion") != "body":
                self.compare("rows", first, candidates="raster", resolution=float(rng.integers(1, 9)))
        if exact and options.get("precision", "mixed") == "mixed" and rng.random() < 0.2:
            self.compare("double", first, precision="double")
        if exact and options.get("contacts") != "first" and rng.random() < 0.3:
            self.threshold(first)
        if first.n_pairs <= 8 and exact and rng.random() < 0.1:
            self.ask("reference", "reference")
        return len(first)

    def without_tree(self, first):
        """All pairs that the rules allow: as many contacts, and of the pairs of the tree the same."""
        found = self.ask("without the tree", broad_phase="off")
        if found is None:
            return
        bodies = [tuple(p) for p in first.pairs.tolist()]
        place = {p: k for k, p in enumerate(map(tuple, found.pairs.tolist()))}
        missing = [p for p in bodies if p not in place]
        rows = np.array([place[p] for p in bodies if p in place], int)
        kept = set(rows.tolist())
        extra = [k for k in range(found.n_pairs) if k not in kept and found.status[k] not in (0, 3)]
        if missing or extra:
            left_out = [found.pairs[k].tolist() + [gc.Status(int(found.status[k])).name] for k in extra[:3]]
            self.findings.append(
                f"without the tree: pairs left out by the tree {left_out}, only there {missing[:3]}"
            )
        elif len(found) != len(first) or found.toi[rows].tobytes() != first.toi.tobytes():
            self.findings.append("without the tree: other contacts")

    def threshold(self, first):
        """Contacts at the threshold are those of threshold -1 that reach it."""
        found = self.ask("threshold -1", min_properness=-1.0)
        if found is None:
            return
        keep = found.properness >= self.scene.options["min_properness"]
        if keep.sum() != len(first) or not all(
            np.array_equal(getattr(found, n)[keep], getattr(first, n))
            for n in ("pair", "kind", "feature_a", "time")
        ):
            self.findings.append(
                f"threshold: {len(first)} contacts at {self.scene.options['min_properness']}, "
                f"{keep.sum()} of those at -1 reach it"
            )


def warm_up(opencl=False):
    """Build all kernels, so that no compiler is taken for a hang."""
    bodies = gc.Bodies(gc.shapes.box(), None, gc.Poses.identity(2), gc.Poses.identity(2))
    for backend in ("cpu", "opencl") if opencl else ("cpu",):
        for precision in ("mixed", "double", "single"):
            gc.collide(bodies, backend=backend, precision=precision, still_pairs=True, check_start=True)
            gc.collide(
                bodies, [[0, 1]], backend=backend, precision=precision, tuning=gc.Tuning(features="near")
            )


def run_seed(seed, announce=lambda what: None, opencl=False):
    """Findings of one seed and how much was looked at."""
    from tests.fuzz.scenes import make

    os.environ["GPU_COLLIDE_CHECK"] = "0"  # checked here, so that a broken result does not end the call
    announce("making the scene")
    calls = Calls(scene := make(seed), generator(seed, 7), announce)
    contacts = calls.run(opencl)
    return [f"{scene.name} {scene.options}: {line}" for line in calls.findings], contacts
