"""The first day on a GPU, in one command and ten minutes: `python -m tests.acceptance.first_day`.

Needs an NVIDIA GPU with its driver, CuPy and NVRTC; no network, no OpenCL. Each part is a process of its
own with a share of the time: one that fails, hangs or runs out of its time leaves the others theirs. In the
folder of results: ``report.txt``, a page that is written anew after each part, what each part said
(``bits.txt``), and the rates (``bench/``). Without --out all this is kept in ``bench/results``, beside the
rates of other devices; what --out named is taken there by ``--keep FOLDER``. Ends with 1 if anything failed.

    device     what is there, and all kernels built
    bits       stored results, and random pairs of every family, bit by bit against `cpu`
    opencl     stored results on NVIDIA's OpenCL, if the machine has it
    memcheck, racecheck, initcheck, synccheck     compute-sanitizer on a few pairs of each kind, if there
    profile    the hot kernels in ncu, if there and allowed
    bench      rates: batches on the host and on the device, then cubes, cars, tori, worlds, and poses in Warp
    suite      every everyday test that takes a backend, on `cuda`
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.ptx import install
from tests.support import processes

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
NEEDED = "device"  # without it the others have nothing to run on
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
RATES = ("batches", "cars", "cubes", "tori", "worlds", "sampled")
SMALL = ("--pairs", "8", "--mode", "exact", "--resolution", "6", "--repeat", "1")
EACH = 3000  # MB of the GPU for each process of the suite: its context, its stacks, what the tests take
GRACE = 15.0  # seconds that a part has to say what it did when its time is over
SECONDS = "GPU_COLLIDE_FIRST_DAY_SECONDS"  # tells a part how long it has
NOTHING = 77  # exit code of a part that found nothing to do, as in Automake


@dataclass(frozen=True)
class Part:
    """One process: its share of the time (seconds, if ten minutes are there), and what it lacks to run."""

    name: str
    share: float
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    lacks: str = ""


@dataclass(frozen=True)
class Ended:
    name: str
    how: str
    seconds: float
    last: str

    @property
    def bad(self) -> bool:
        return not self.how.startswith(("well", "left out"))


def parts(folder: Path, small: bool) -> list[Part]:
    """What is run, in its order: what takes all the time it is given comes last."""
    inside = (sys.executable, "-m", "tests.acceptance.first_day_parts")
    size = ("--small",) if small else ()
    found = [Part("device", 80, (*inside, "device", *size)), Part("bits", 110, (*inside, "bits", *size))]
    found.append(Part("opencl", 20, (*inside, "opencl"), (("GPU_COLLIDE_OPENCL_DEVICE", "nvidia"),)))
    sanitizer = sanitizer_command()
    lacks = "" if sanitizer else "there is no compute-sanitizer on PATH or in CUDA_PATH"
    for tool in SANITIZERS:
        watched = (sanitizer or "", "--tool", tool, "--error-exitcode", "9", *inside, "few")
        found.append(Part(tool, 25, watched, lacks=lacks))
    found.append(Part("profile", 30, (*inside, "profile")))
    for case in RATES:
        command = (sys.executable, "-m", "bench", case, "--backend", "cuda", "--repeat", "3",
                   "--results", str(folder / "bench"), *(SMALL if small else ()))  # fmt: skip
        lacks = "Warp is not installed" if case == "sampled" and not importlib.util.find_spec("warp") else ""
        found.append(Part(f"bench {case}", 22, command, lacks=lacks))
    what = ("tests/upload", "tests/backends/test_memory.py") if small else ("tests",)
    suite = (sys.executable, "-m", "pytest", "-q", "-rfEs", "--tb=short", "-p", "no:cacheprovider")
    chosen = (("GPU_COLLIDE_TEST_BACKENDS", "cuda"), ("GPU_COLLIDE_REQUIRE_BACKENDS", "cuda"))
    # what is only compiled, for several devices, needs no GPU and takes its time
    suite += ("-k", "cuda", "--ignore", "tests/dialect/test_cuda_build.py", *side_by_side(small))
    return [*found, Part("suite", 140, (*suite, *what), chosen)]


def side_by_side(small: bool) -> tuple[str, ...]:
    """Options of pytest for as many processes as the processors and the GPU's memory are for."""
    if small or importlib.util.find_spec("xdist") is None:
        return ()
    try:
        asked = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
        megabytes = int(subprocess.run(asked, capture_output=True, text=True, timeout=30).stdout.split()[0])
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        megabytes = 0
    return ("-n", str(max(min(os.cpu_count() or 1, megabytes // EACH), 1)), "--dist", "worksteal")


def sanitizer_command() -> str | None:
    """Path of compute-sanitizer, on PATH or in a toolkit."""
    folders = [os.environ.get("CUDA_PATH", ""), os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"]
    inside = [os.path.join(f, sub) for f in folders if f for sub in ("bin", "compute-sanitizer")]
    return shutil.which("compute-sanitizer", path=os.pathsep.join([os.environ.get("PATH", ""), *inside]))


def play(part: Part, seconds: float, folder: Path) -> Ended:
    """Run a part; what it said goes into a file of its name."""
    if part.lacks:
        return Ended(part.name, f"left out: {part.lacks}", 0.0, "")
    begun = time.monotonic()
    path = os.pathsep.join([str(ROOT), *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", SECONDS: f"{seconds:.0f}"}
    environment |= dict(part.environment)
    try:
        code, text = processes.run(part.command, seconds, ROOT, environment, grace=min(GRACE, seconds))
    except OSError as error:
        code, text = 1, str(error)
    how = {0: "well", NOTHING: "left out", processes.OUT_OF_TIME: f"OUT OF TIME, {seconds:.0f} s"}
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    last = lines[-2] if code == processes.OUT_OF_TIME and len(lines) > 1 else lines[-1]
    (folder / f"{part.name.replace(' ', '_')}.txt").write_text(text, encoding="utf-8")
    return Ended(part.name, how.get(code, f"FAILED with {code}"), time.monotonic() - begun, last)


def page(ended: list[Ended], waiting: list[Part], seconds: float) -> str:
    """The report: a line for each part, and what the first parts said."""
    lines = [f"First day on a GPU, {time.strftime('%Y-%m-%d %H:%M')}, {seconds:.0f} s so far", ""]
    for one in ended:
        lines.append(f"{one.name:<14} {one.seconds:>5.0f} s  {one.how}")
        if one.last:
            lines.append(f"{'':<24}{one.last.strip()[:140]}")
    lines += [f"{part.name:<14} not yet" for part in waiting]
    bad = [one.name for one in ended if one.bad]
    if not waiting:
        lines += ["", f"FAILED: {', '.join(bad)}" if bad else "all well"]
    return "\n".join(lines) + "\n"


def run(listed: list[Part], folder: Path, seconds: float) -> list[Ended]:
    """Run the parts within so many seconds of all. What a part leaves of its share the later ones have."""
    begun, ended = time.monotonic(), []
    folder.mkdir(parents=True, exist_ok=True)
    for k, part in enumerate(listed):
        gone = time.monotonic() - begun
        rest = sum(p.share for p in listed[k:])
        allowed = max((seconds - gone) * part.share / rest, 1.0)
        if any(one.name == NEEDED and one.how.startswith("FAILED") for one in ended):
            one = Ended(part.name, f"NOT RUN: {NEEDED} has failed", 0.0, "")
        else:
            one = play(part, allowed, folder)
        ended.append(one)
        print(f"{one.name:<14} {one.seconds:>5.0f} s  {one.how}  {one.last.strip()[:100]}", flush=True)
        text = page(ended, listed[k + 1 :], time.monotonic() - begun)
        for name in ("device", "bits"):
            said = folder / f"{name}.txt"
            text += f"\n== {name} ==\n{said.read_text(encoding='utf-8')}" if said.is_file() else ""
        (folder / "report.txt").write_text(text, encoding="utf-8")
    return ended


def keep(folder: Path, results: Path) -> bool:
    """Take what a run left to the results of its device: rates by their cases, the rest to ``first_day``."""
    devices = sorted(path for path in folder.glob("bench/*") if path.is_dir())
    if not devices:
        print(f"{folder} has no rates: bench/DEVICE/*.csv; nothing is kept of it")
        return False
    for device in devices:
        to = results / device.name
        shutil.copytree(device, to, dirs_exist_ok=True)
        (to / "first_day").mkdir(exist_ok=True)
        for page in folder.glob("*.txt"):
            shutil.copy(page, to / "first_day" / page.name)
        print(f"kept: {to}")
    return True


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.first_day",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--out", type=Path, help="folder of results; default first-day-DATE-TIME here, and bench/results")
    add("--keep", type=Path, metavar="FOLDER", help="run nothing: take what a run left to bench/results")
    add("--minutes", type=float, default=9.5, help="of all parts together; default 9.5")
    add("--only", action="append", metavar="PART", help="parts to run, such as bits or bench; default all")
    add("--small", action="store_true", help="few pairs and tests: does the command itself work?")
    options = parser.parse_args(argv)
    if options.keep:
        return 0 if keep(options.keep, RESULTS) else 1
    folder = (options.out or Path(time.strftime("first-day-%Y%m%d-%H%M"))).absolute()
    if install.wanted():  # no GPU here: the stand-in of tests/ptx, for the processes too
        install.install()
    listed = parts(folder, options.small)
    if options.only:
        known = {p.name.split(" ")[0] for p in listed} | {p.name for p in listed}
        if unknown := set(options.only) - known:
            parser.error(f"--only: there are {', '.join(sorted(known))}, got {', '.join(sorted(unknown))}")
        listed = [p for p in listed if p.name in options.only or p.name.split(" ")[0] in options.only]
    ended = run(listed, folder, 60 * options.minutes)
    if not (options.out or options.small or install.wanted()):
        keep(folder, RESULTS)
    bad = [one.name for one in ended if one.bad]
    print(f"{'FAILED: ' + ', '.join(bad) if bad else 'all well'}; {folder / 'report.txt'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
