"""Parts of the long run: a file of tests, or the stored bits, at one group size; and what each of them did.

What a part did is kept under digests of what it depends on, so that a run which was broken off goes on where
it was, one after a change of a test repeats that test's file alone, and one after a change of a kernel those
that launched kernels of the same program.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from gpu_collide.backends import nvrtc, sources
from tests.ptx import install
from tests.support import processes

__all__ = ["BITS", "ROOT", "Outcome", "Part", "files_of_tests", "kept", "play"]

ROOT = Path(__file__).resolve().parents[2]
BITS = "stored bits"
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-k", "cuda")
_OWN = {Path(__file__).resolve(), Path(__file__).resolve().with_name("__main__.py")}  # they run nothing
LONG_TEXT = 3000  # characters that are kept of a failure
LONG = 5.0  # seconds: tests that took as long are kept by name
PROBE = "gc_probe"  # the self test of backends, whose text is the package's but for the platform's
# What is run under another name: the stored bits are a part of their own.
TWICE = ("tests/acceptance/test_stored_bits.py",)


@dataclass(frozen=True)
class Part:
    """What runs in one process: `what` is a file of tests (or a test, as pytest takes it), or `BITS`, with
    which of them if not all, as in "stored bits 1/4"."""

    size: int
    what: str
    marks: str = ""  # an expression for pytest's -m; by itself what is not slow

    @property
    def of_bits(self) -> bool:
        return self.what.startswith(BITS)

    def command(self, results: Path) -> list[str]:
        if self.of_bits:
            return [sys.executable, "-m", "tests.ptx.stored_bits", *self.what.removeprefix(BITS).split()]
        marks = ["-m", self.marks] if self.marks else []
        return [*PYTEST, *marks, f"--junitxml={results}", self.what]

    def environment(self, folder: str) -> dict[str, str]:
        """Environment of a process whose backend `cuda` is the stand-in, with so many work-items a group."""
        chosen = {"GPU_COLLIDE_CHECK": "0"} if self.of_bits else {}
        return os.environ | chosen | {
            install.VARIABLE: f"ptx:{self.size}",
            install.REPORT: folder,
            "GPU_COLLIDE_TEST_BACKENDS": "cuda",
            "GPU_COLLIDE_REQUIRE_BACKENDS": "cuda",
            "PYTHONPATH": os.pathsep.join([str(ROOT), *(p for p in sys.path if p)]),
        }  # fmt: skip

    def sources(self) -> str:
        """Digest of what decides what this part does, but for the kernels that it turns out to launch: the
        package, helpers of tests, its own file, and NVRTC."""
        own = ROOT / ("tests/acceptance/stored_bits.json" if self.of_bits else self.what.split("::")[0])
        sha = hashlib.sha256(shared_sources())
        sha.update(f"{self.marks}\0".encode())
        for path in [own] if own.is_file() else sorted(own.rglob("test_*.py")):
            sha.update(path.read_bytes())
        return sha.hexdigest()[:24]


@cache
def shared_sources() -> bytes:
    """Digest of all that every part depends on: what is no test, and kernel files that are in no program."""
    sha = hashlib.sha256(repr(nvrtc.version()).encode())
    known = sources.known()
    launched = {ROOT / "kernels" / f for of in sources.PROGRAMS.values() for f in sources.resolve(of, known)}
    for folder in ("kernels", "gpu_collide", "tests"):
        for path in sorted({*(ROOT / folder).rglob("*")} - launched - _OWN):
            if path.suffix in (".py", ".c", ".h") and not path.name.startswith("test_"):
                sha.update(f"{path.relative_to(ROOT)}\0".encode())
                sha.update(path.read_bytes())
    return sha.digest()


def kernel_texts(kernels: Iterable[str]) -> str:
    """Digest of the programs that have these kernels, without their comments; all programs for one that is
    none of ours."""
    programs, text = {}, sources.joined("common/gc_platform.h")
    for kernel in kernels:
        try:
            programs[sources.program_of(kernel)] = True
        except KeyError:
            programs |= {} if kernel == PROBE else dict.fromkeys(sources.PROGRAMS, True)
    text += "".join(map(sources.program, sorted(programs)))
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S).split()
    return hashlib.sha256(" ".join(bare).encode()).hexdigest()[:24]


@dataclass
class Outcome:
    """What a part did. `counts` are tests by how they ended, `totals` what its launches did, by kernel,
    `long` the tests that took long; `kernels` is a digest of the programs of what was launched."""

    size: int
    what: str
    marks: str
    sources: str
    code: int
    seconds: float  # of processor time
    ended: str
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[list[str]] = field(default_factory=list)  # test, text
    skipped: list[list[str]] = field(default_factory=list)  # test, reason
    totals: list[list] = field(default_factory=list)  # kernel, what, how many
    long: list[list] = field(default_factory=list)  # test, seconds
    kernels: str = ""
    fresh: bool = True  # of the sources as they are

    @property
    def launched(self) -> set[str]:
        return {kernel for kernel, _, _ in self.totals if kernel}

    @property
    def good(self) -> bool:
        return self.code == 0 and not self.failures


def files_of_tests(marks: str = "") -> list[str]:
    """Files with tests that run on `cuda`, those with few first, without what is run `TWICE`."""
    command = [*PYTEST, "--collect-only", *(["-m", marks] if marks else []), "tests"]
    done = subprocess.run(
        command, cwd=ROOT, env=Part(64, BITS).environment(""), capture_output=True, text=True
    )
    found: dict[str, int] = {}
    for line in done.stdout.splitlines():
        file, _, test = line.partition("::")
        if re.search(r"\[.*\bcuda\b", test) and (marks or file not in TWICE):
            found[file] = found.get(file, 0) + 1
    if not found:
        raise RuntimeError(f"pytest found no tests for cuda:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return sorted(found, key=lambda file: (found[file], file))


def kept(folder: Path, part: Part) -> Outcome | None:
    """What a part did when it last ran to its end; `fresh` says whether of the sources as they are."""
    try:
        found = Outcome(**json.loads(_file(folder, part).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    found.fresh = found.sources == part.sources() and found.kernels == kernel_texts(found.launched)
    return found


def _file(folder: Path, part: Part) -> Path:
    name = re.sub(r"\W+", "_", f"{part.size} {part.what} {part.marks}".strip())
    return folder / f"{name}.json"


def play(part: Part, limit: float, folder: Path | None) -> Outcome:
    """Run a part and keep what it did, unless it ran out of its time."""
    before = os.times()
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch, "results.xml")
        sources = part.sources()
        code, text = processes.run(part.command(results), limit, ROOT, part.environment(scratch))
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        made = Outcome(part.size, part.what, part.marks, sources, code, round(used, 1),
                       time.strftime("%Y-%m-%d %H:%M"))  # fmt: skip
        if results.is_file():
            _read(made, results)
        elif part.of_bits:
            made.counts = {"cases": int((re.findall(r"^(\d+) cases", text, re.M) or ["0"])[0])}
        if code not in (0, 5) and not made.failures:
            made.failures.append([part.what, text[-LONG_TEXT:]])
        for path in Path(scratch).glob("*.json"):
            made.totals += json.loads(path.read_text())
        made.kernels = kernel_texts(made.launched)
    if folder is not None and code != processes.OUT_OF_TIME:
        folder.mkdir(parents=True, exist_ok=True)
        whole = _file(folder, part)
        whole.with_suffix(".part").write_text(json.dumps(asdict(made), indent=0), encoding="utf-8")
        whole.with_suffix(".part").replace(whole)
    return made


def _read(made: Outcome, results: Path) -> None:
    """Tests of pytest's XML by how they ended."""
    for case in ET.parse(results).iter("testcase"):
        name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        kinds = [child for child in case if child.tag in ("failure", "error", "skipped")]
        how = "passed"
        for child in kinds:
            how = {"failure": "failed", "error": "failed", "skipped": "skipped"}[child.tag]
            text = child.get("message") or ""
            if how == "failed":
                made.failures.append([name, f"{text}\n{child.text or ''}"[-LONG_TEXT:]])
            else:
                made.skipped.append([name, text.splitlines()[0] if text else ""])
        made.counts[how] = made.counts.get(how, 0) + 1
        seconds = float(case.get("time") or 0)
        if seconds >= LONG:
            made.long.append([name, round(seconds, 1)])
