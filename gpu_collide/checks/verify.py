"""All families of scenes on all backends: against the reference, against brute force, and bit by bit."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import gpu_collide as gc
from gpu_collide.checks.bits import same_bits
from gpu_collide.checks.families import FAMILIES, Family
from gpu_collide.checks.verdicts import Verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

LEGEND = """\
Asked: pairs, movers or casts. Found: contacts or touches of the first backend, all of them compared with the
reference. By brute force: contacts that it is sure of (every feature against every feature at 65 times), none
of which may be missing; casts, that their path is clear until they stop. Worst error: of lengths, over the
size. Right: so judged or the same bits as the first, and the same bits by other ways; nothing met: nothing
was found where nothing is, which says little: ask for more pairs."""

__all__ = ["Line", "Verified", "page", "present", "verify"]


@dataclass(frozen=True)
class Line:
    """What came of a family: what was judged on the first backend, how each fared, seconds of each."""

    family: Family
    judged: Verdicts
    verdicts: dict[str, str]
    seconds: dict[str, float]


@dataclass
class Verified:
    """What `verify` returns.

    Attributes
    ----------
    devices : dict of str to str
        The backends that were asked, and what each computes on.
    left_out : list of str
        Backends that were not asked, and why.
    lines : list of Line
    wrong : list of str
        Everything that is wrong, a sentence each, with what repeats it.
    """

    seed: int
    pairs: int
    devices: dict[str, str]
    left_out: list[str]
    lines: list[Line] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Something was asked, and nothing is wrong."""
        return bool(self.lines) and not self.wrong


def present(names: Sequence[str] = ()) -> tuple[dict[str, str], list[str]]:
    """Backends with kernels that can be asked, by name with their devices, and why others cannot.

    Raises
    ------
    BackendUnavailableError
        One of `names`, or all, if none are given, cannot be used.
    """
    from gpu_collide.backends import get_backend
    from gpu_collide.errors import DOCTOR, BackendUnavailableError

    found: dict[str, str] = {}
    left_out: list[str] = []
    for name in names or ("cpu", "opencl", "cuda"):
        try:
            backend: Any = get_backend(name)
        except BackendUnavailableError as error:
            if names:
                raise
            left_out.append(str(error).splitlines()[0])
            continue
        if backend.has_float64:
            found[name] = backend.device
        else:
            left_out.append(f"backend {name!r}: {backend.device} has no float64, which the reference has")
    if not found:
        raise BackendUnavailableError(f"there is nothing to verify: {'; '.join(left_out)}; {DOCTOR}")
    return found, left_out


def verify(
    pairs: int = 100,
    seed: int = 0,
    backends: Sequence[str] = (),
    families: Sequence[str] = (),
    progress: Callable[[str], Any] = lambda what: None,
) -> Verified:
    """Ask every family of scenes on every backend, and judge the answers.

    The first backend is judged by the reference and by brute force; so is each other one whose bits differ
    from the first's, and that they do is wrong by itself. On each, other ways to the same answer (precision,
    rows instead of pairs of features, without filters) must have the same bits.

    Parameters
    ----------
    pairs : int, optional
        Of the largest families; the others have a share of them.
    seed : int, optional
    backends : sequence of str, optional
        Default: all that are present.
    families : sequence of str, optional
        Names out of `FAMILIES`; default: all.
    progress : callable, optional
        Called with what is done next.

    Returns
    -------
    Verified
    """
    devices, left_out = present(backends)
    known = {family.name: family for family in FAMILIES}
    if unknown := set(families) - set(known):
        raise ValueError(f"family must be one of {', '.join(known)}, got {', '.join(sorted(unknown))!r}")
    done = Verified(seed, pairs, devices, left_out)
    begin = time.perf_counter()
    for family in [known[name] for name in families] or FAMILIES:
        progress(f"{family.name}: {family.what}")
        done.lines.append(_family(family, done))
    done.seconds = time.perf_counter() - begin
    return done


def _family(family: Family, done: Verified) -> Line:
    """One family on all backends; what is wrong is appended to ``done.wrong``."""
    scene = family.make(done.seed, max(1, round(done.pairs * family.share)))
    truth = scene.ask("reference")
    first, shown = None, Verdicts()
    verdicts, seconds = {}, {}
    for name in done.devices:
        begin = time.perf_counter()
        wrong: list[str] = []
        try:
            found = scene.ask(name)
            differ: list[str] = [] if first is None else same_bits(first, found)
            if differ:
                wrong.append(f"other bits than {next(iter(done.devices))} in {', '.join(differ)}")
            if first is None or differ:
                judged = scene.judge(found, truth)
                wrong += judged.wrong
                shown = judged if first is None else shown
            wrong += _ways(scene, name, found)
            first = found if first is None else first
        except Exception as error:  # whatever a driver does: the other families are asked all the same
            last = traceback.extract_tb(error.__traceback__)[-1]
            wrong.append(f"{type(error).__name__}: {error} ({last.name}, line {last.lineno})")
        seconds[name] = time.perf_counter() - begin
        right = "right" if shown.found else "nothing met"
        verdicts[name] = f"{len(wrong)} wrong" if wrong else right
        again = f"--family {family.name} --seed {done.seed} --pairs {done.pairs}"
        done.wrong += [f"{family.name} on {name}: {text}  [{again} --backend {name}]" for text in wrong]
    return Line(family, shown, verdicts, seconds)


def _ways(scene: Any, name: str, found: Any) -> list[str]:
    """Where other ways to the same answer on a backend lead elsewhere."""
    wrong = []
    for way in scene.ways:
        differ = same_bits(found, scene.ask(name, **way))
        if differ:
            how = ", ".join(f"{key}={value!r}" for key, value in way.items())
            wrong.append(f"with {how} other bits in {', '.join(differ)}")
    return wrong + scene.more(name, found)


def page(done: Verified) -> str:
    """The result as a page of Markdown."""
    names = list(done.devices)
    lines = [
        f"# gpu_collide {gc.__version__}: verification", "",
        f"{sum(line.judged.asked for line in done.lines):,} pairs, movers and casts of {len(done.lines)} "
        f"families, seed {done.seed}, in {done.seconds:.0f} s: "
        + ("all right." if done.ok else f"**{len(done.wrong)} things are wrong.**"), "",
        *(f"- `{name}`: {device}" for name, device in done.devices.items()),
        *(f"- not asked: {why}" for why in done.left_out), "",
        f"| family | what | asked | found | by brute force | worst error | {' | '.join(names)} |",
        "|---|---|---:|---:|---:|---:|" + "---|" * len(names),
    ]  # fmt: skip
    for line in done.lines:
        j = line.judged
        cells = [f"{j.asked:,}", f"{j.found:,}", f"{j.sure:,}" if j.sure else "-", f"{j.worst:.1e}"]
        cells += [line.verdicts[name] for name in names]
        lines.append(f"| {line.family.name} | {line.family.what} | {' | '.join(cells)} |")
    lines += [
        "", LEGEND,
    ]  # fmt: skip
    if done.wrong:
        lines += ["", "## What is wrong", "", *(f"- {text}" for text in done.wrong)]
    return "\n".join(lines) + "\n"
