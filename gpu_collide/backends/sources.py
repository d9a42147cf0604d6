"""The kernel text: where it lies, how its files are joined, which entry points it declares.

Kernels are declared once, in C. This module joins the files of ``kernels/`` into one text, with a ``#line``
before each so that every compiler names our file and line, and reads entry points, constants and the columns
of records from it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

__all__ = [
    "PRECISIONS",
    "PROGRAMS",
    "Arg",
    "Record",
    "Signature",
    "constants",
    "dtypes",
    "c_entry_points",
    "join",
    "joined",
    "kernels_dir",
    "known",
    "needs",
    "parse",
    "program",
    "program_of",
    "record",
    "records",
    "resolve",
    "source",
]

PRECISIONS = {"mixed": 0, "double": 1, "single": 2}
"""Precision name to the value of ``GC_PRECISION``."""

PROGRAMS = {
    "bvh": ("bvh/b01_bounds.c", "bvh/b02_keys.c", "bvh/b03_tree.c", "bvh/b04_pairs.c"),
    "near": ("bvh/b05_features.c", "bvh/b06_gather.c"),
    "screw": ("screw/s01_screw.c", "filters/f01_spheres.c", "filters/f02_boxes.c", "filters/f03_plane.c"),
    "screen": ("screw/screen.c",),
    "solve": ("screw/s07_solve.c", "screw/s08_contacts.c"),
    "answer": ("screw/s07_answer.c",),
    "overlap": ("screw/s09_overlap.c",),
    "pluecker": ("pluecker/p02_translate.c", "pluecker/p03_rotate.c", "pluecker/p04_contacts.c"),
    "primitives": ("pluecker/p01_primitives.c",),
}
"""What is compiled together: stages that a query launches together. A stage with entry points is in one."""

_FIXED_TYPES = {
    "int": "i4", "gc_int": "i4", "gc_uint": "u4", "gc_long": "i8", "gc_uchar": "u1",
    "float": "f4", "double": "f8",
}  # fmt: skip
_BY_PRECISION = {
    "gc_real": {"mixed": "f8", "double": "f8", "single": "f4"},
    "gc_raster": {"mixed": "f4", "double": "f8", "single": "f4"},
}


def dtypes(precision: str) -> tuple[np.dtype, np.dtype]:
    """NumPy dtypes of the solver's numbers (``gc_real``) and of those that cull (``gc_raster``)."""
    real, raster = (np.dtype(_BY_PRECISION[name][precision]) for name in ("gc_real", "gc_raster"))
    return real, raster


@dataclass(frozen=True)
class Arg:
    """One kernel argument: name, C type without qualifiers, is it a buffer, is it only read."""

    name: str
    ctype: str
    pointer: bool
    const: bool

    def dtype(self, precision: str) -> np.dtype:
        """NumPy dtype of the scalar or of the buffer's elements under `precision`."""
        by_precision = _BY_PRECISION.get(self.ctype)
        return np.dtype(by_precision[precision] if by_precision else _FIXED_TYPES[self.ctype])


@dataclass(frozen=True)
class Signature:
    """An entry point as declared in the kernel text."""

    name: str
    args: tuple[Arg, ...]


def kernels_dir() -> Path:
    """Folder of the kernel sources: in the package (wheel), else at the repository's root (editable)."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "kernels", package.parent / "kernels"):
        if (folder / "common" / "gc_platform.h").is_file():
            return folder
    raise FileNotFoundError(
        f"no kernel sources in {package / 'kernels'} or {package.parent / 'kernels'}; reinstall gpu-collide"
    )


def kernel_files() -> list[Path]:
    """All files of the kernels, each behind those it needs."""
    folder = kernels_dir()
    return [folder / name for name in resolve(sorted(known()), known())]


_HEAD = re.compile(r"\s*/\*.*?\*/", re.S)
_NEEDS = re.compile(r"^ \* needs: (.*)$", re.M)


def needs(text: str) -> tuple[str, ...] | None:
    """What the head of a kernel file says that it needs: names behind ``needs:``; None if it does not say."""
    head = _HEAD.match(text)
    lines = _NEEDS.findall(head.group()) if head else []
    names = [name for line in lines for name in line.split()]
    return tuple(name for name in names if name != "nothing") if lines else None


@lru_cache(maxsize=1)
def known() -> dict[str, tuple[str, ...] | None]:
    """What each kernel file needs, by its name, such as ``"common/gc_math.h"``."""
    folder = kernels_dir()
    files = sorted(path for kind in ("*/*.h", "*/*.c") for path in folder.glob(kind))
    return {f.relative_to(folder).as_posix(): needs(f.read_text(encoding="utf-8")) for f in files}


def resolve(wanted: Iterable[str], by_name: Mapping[str, tuple[str, ...] | None]) -> list[str]:
    """`wanted` files and all they need according to `by_name`, each once and behind those it needs.

    The order is that of `wanted` and of the heads, so that one set of files has one text.

    Raises
    ------
    ValueError
        A file is not there, does not say what it needs, or needs itself by way of others.
    """
    done: list[str] = []
    open_: list[str] = []

    def visit(name: str) -> None:
        if name in open_:
            circle = " needs ".join([*open_[open_.index(name) :], name])
            raise ValueError(f"kernel files need each other in a circle: {circle}")
        if name in done:
            return
        if name not in by_name:
            which = f"{open_[-1]} needs {name}, which" if open_ else name
            raise ValueError(f"{which} is no kernel file; a name is folder/file, such as common/gc_math.h")
        if by_name[name] is None:
            raise ValueError(
                f"{name} does not say what it needs; its first comment wants a line ' * needs: ...'"
            )
        open_.append(name)
        for other in by_name[name] or ():
            visit(other)
        done.append(open_.pop())

    for name in wanted:
        visit(name)
    return done


def join(files: list[Path], base: Path | None = None) -> str:
    """Join `files` into one text, a ``#line`` before each naming it relative to `base` (POSIX separators)."""
    parts = []
    for path in files:
        name = path.relative_to(base).as_posix() if base else path.name
        parts.append(f'#line 1 "{name}"\n{path.read_text(encoding="utf-8").rstrip()}\n')
    return "".join(parts)


def joined(*names: str) -> str:
    """The text of some kernel files, such as ``"screw/gc_roots.h"``, and of all that these need."""
    folder = kernels_dir()
    return join([folder / name for name in resolve(names, known())], folder)


@lru_cache(maxsize=1)
def source() -> str:
    """The text of all kernel files."""
    return join(kernel_files(), kernels_dir())


@lru_cache(maxsize=len(PROGRAMS))
def program(name: str) -> str:
    """The text of one of `PROGRAMS`, read once per process.

    Raises
    ------
    KeyError
        There is no such program.
    """
    if name not in PROGRAMS:
        raise KeyError(f"no program named {name!r}; there are {', '.join(PROGRAMS)}")
    return joined(*PROGRAMS[name])


@lru_cache(maxsize=1)
def _homes() -> dict[str, str]:
    """Program of each entry point."""
    return {kernel: name for name in PROGRAMS for kernel in parse(program(name))}


def program_of(kernel: str) -> str:
    """Name of the program that has a kernel; KeyError lists all kernels."""
    if kernel not in _homes():
        raise KeyError(f"no kernel named {kernel!r}; there are {', '.join(_homes())}")
    return _homes()[kernel]


_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_ENTRY = re.compile(r"^\s*GC_KERNEL\s+void\s+(\w+)\s*\(([^)]*)\)\s*\{", re.M)


def strip_comments(text: str) -> str:
    """`text` with comments blanked, lines kept."""
    return _COMMENT.sub(lambda m: "\n" * m.group().count("\n") or " ", text)


def parse(text: str) -> dict[str, Signature]:
    """Entry points defined in `text`, by name, in order of appearance.

    Raises
    ------
    ValueError
        An argument has a type the launcher cannot pass, or a name appears twice.
    """
    found: dict[str, Signature] = {}
    for name, body in _ENTRY.findall(strip_comments(text)):
        if name == "gc_set_group":
            continue
        if name in found:
            raise ValueError(f"kernel {name} is defined twice")
        args = tuple(_parse_arg(name, part) for part in body.split(",") if part.strip())
        if len({a.name for a in args}) != len(args):
            raise ValueError(f"kernel {name} has two arguments of one name")
        found[name] = Signature(name, args)
    return found


def _parse_arg(kernel: str, text: str) -> Arg:
    words = text.replace("*", " * ").split()
    qualifiers = {"GC_GLOBAL", "GC_RESTRICT", "const"}
    plain = [w for w in words if w not in qualifiers]
    pointer = "*" in plain
    if plain.count("*") > 1 or len(plain) != 2 + pointer or pointer != ("GC_GLOBAL" in words):
        raise ValueError(
            f"kernel {kernel}: cannot read argument '{' '.join(words)}'; "
            "write 'type name' or 'GC_GLOBAL [const] type *name'"
        )
    ctype, name = plain[0], plain[-1]
    if ctype not in _FIXED_TYPES and ctype not in _BY_PRECISION:
        known = ", ".join([*_FIXED_TYPES, *_BY_PRECISION])
        raise ValueError(f"kernel {kernel}: argument {name} has type '{ctype}'; known types are {known}")
    return Arg(name, ctype, pointer, "const" in words)


_DRIVER_HEAD = """#line 1 "gc_entry_points"
#include <time.h>
static gc_long gc_now_(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (gc_long)t.tv_sec * 1000000000 + t.tv_nsec;
}
"""
_DRIVER = """
GC_KERNEL int gc_run_NAME(void *const *args, int *job, int *mine)
{
    const int n = job[2], shares = job[3];
    const gc_long turn = mine ? (gc_long)mine[2] * 1000 : 0, begun = mine ? gc_now_() : 0;
    gc_long last = begun;
    int g = mine ? mine[0] : -1, k = mine ? mine[1] : 0, ran = 0, rest = 2, stride = 1;
    for (;;) {
        if (g < 0) {
            g = __atomic_fetch_add(&job[0], 1, __ATOMIC_RELAXED);
            k = 0;
            if (g >= n) {
                break;
            }
        }
        for (; k < shares; ++k) {
            if (__atomic_load_n(&job[4], __ATOMIC_RELAXED)) {
                return 0;
            }
            if (mine && --rest == 0) {
                const gc_long now = gc_now_();
                if (now - begun > turn) {
                    mine[0] = g;
                    mine[1] = k;
                    __atomic_add_fetch(&job[1], ran, __ATOMIC_ACQ_REL);
                    return 2;
                }
                stride = now - last > 1000000 ? 1 : stride < 8 ? 2 * stride : 8;
                rest = stride;
                last = now;
            }
            gc_set_group(g, n, k, shares);
            NAME(PASSED);
        }
        g = -1;
        ++ran;
    }
    return ran > 0 && __atomic_add_fetch(&job[1], ran, __ATOMIC_ACQ_REL) == n;
}
"""


def passed_arguments(sig: Signature) -> str:
    """C text of the arguments that a driver passes on, out of ``args``, where each has 8 bytes."""
    return ", ".join(
        f"({a.ctype} *)args[{i}]" if a.pointer else f"*({a.ctype} const *)(args + {i})"
        for i, a in enumerate(sig.args)
    )


def c_entry_points(signatures: dict[str, Signature]) -> str:
    """C text of one driver per kernel: ``int gc_run_NAME(void *const *args, int *job, int *mine)``.

    A driver takes groups off ``job = {next, done, n_groups, shares, stop}`` until none is left, so a thread
    enters C once per launch however many groups there are. It plays a group in so many shares, and leaves
    between two of them once ``stop`` is set. It returns 1 to the thread that finished the last group, else 0.

    A thread that gives ``mine = {group, share, turn}``, at first ``{-1, 0, turn}``, gets 2 after ``turn``
    microseconds if there is more to do; it calls again with the same ``mine``, and goes on there. Each call
    plays a share at least.
    """
    return _DRIVER_HEAD + "".join(
        _DRIVER.replace("NAME", sig.name).replace("PASSED", passed_arguments(sig))
        for sig in signatures.values()
    )


@dataclass(frozen=True)
class Record:
    """The columns of a record as the kernel text lists them.

    Attributes
    ----------
    name : str
    offsets, widths : dict of str to int
        Of each column, in order: where it begins and how many numbers it has.
    stride : int
        Numbers from one record to the next.
    """

    name: str
    offsets: dict[str, int]
    widths: dict[str, int]
    stride: int

    def __getitem__(self, column: str) -> Any:
        """Place of a column: a number, or a slice if it has several."""
        try:
            at, width = self.offsets[column], self.widths[column]
        except KeyError:
            raise KeyError(
                f"record {self.name} has no column {column!r}; it has {', '.join(self.offsets)}"
            ) from None
        return at if width == 1 else slice(at, at + width)


_LIST = re.compile(r"#define GC_(\w+)_COLUMNS\(ONE, MANY, X\)([^\n]*)")
_COLUMN = re.compile(r"ONE\(X, (\w+)\)|MANY\(X, (\w+), (\d+)\)|GC_(\w+)_COLUMNS\(ONE, MANY, X\)")


def record(name: str) -> Record:
    """The record that the kernels call ``GC_NAME``, such as ``record("screw")``; KeyError lists all."""
    declared = records(source())
    if name not in declared:
        raise KeyError(f"no record named {name!r}; there are {', '.join(declared)}")
    return declared[name]


@lru_cache(maxsize=8)
def records(text: str) -> dict[str, Record]:
    """Records that `text` declares by ``GC_RECORD(GC_NAME)`` from the list ``GC_NAME_COLUMNS`` (gc_types.h).

    Raises
    ------
    ValueError
        A list holds something else than columns, names one twice, or has more than the stride.
    """
    text = strip_comments(text.replace("\\\n", " "))
    lists = dict(_LIST.findall(text))
    strides = dict(re.findall(r"#define GC_(\w+)_STRIDE (\d+)", text))
    found = {}
    for name in re.findall(r"^GC_RECORD\(GC_(\w+)\)", text, re.M):
        columns = _columns(name, lists)
        widths = dict(columns)
        total = sum(widths.values())
        if len(widths) != len(columns) or name not in strides or total > int(strides[name]):
            raise ValueError(
                f"record GC_{name} must name each column once and have a GC_{name}_STRIDE of at least "
                f"{total}, got {strides.get(name, 'none')}"
            )
        ends = dict(zip(widths, itertools.accumulate(widths.values()), strict=True))
        offsets = {column: end - widths[column] for column, end in ends.items()}
        found[name.lower()] = Record(name.lower(), offsets, widths, int(strides[name]))
    return found


def _columns(name: str, lists: dict[str, str]) -> list[tuple[str, int]]:
    """Columns and their widths of a list, with those of the lists it takes in."""
    if name not in lists or _COLUMN.sub("", lists[name]).strip():
        raise ValueError(
            f"GC_{name}_COLUMNS(ONE, MANY, X) must list ONE(X, name), MANY(X, name, n) and other lists, "
            f"got {lists.get(name, 'no such list')!r}"
        )
    out: list[tuple[str, int]] = []
    for one, many, width, other in _COLUMN.findall(lists[name]):
        out += _columns(other, lists) if other else [(one or many, int(width or 1))]
    return out


_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*(.*)")
_CONDITION = re.compile(r"GC_PRECISION[ \t]*(==|!=)[ \t]*(\d)")
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(GC_\w+)[ \t]+(\S.*)")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


@lru_cache(maxsize=16)
def constants(precision: str = "mixed", text: str | None = None) -> dict[str, int | float]:
    """Numbers that ``gc_constants.h`` and ``gc_types.h`` (or `text`) define under `precision`.

    A value is a number, alone or inside ``GC_R(...)``, ``GC_F(...)`` or parentheses; others are left out.
    Conditions on ``GC_PRECISION`` are heeded, include guards pass.
    """
    if text is None:
        names = ("gc_constants.h", "gc_types.h")
        text = "".join((kernels_dir() / "common" / name).read_text(encoding="utf-8") for name in names)
    found: dict[str, int | float] = {}
    taken: list[tuple[bool, bool]] = []  # per open #if: this branch is live, some branch has been
    for line in strip_comments(text).splitlines():
        if directive := _DIRECTIVE.match(line):
            word, rest = directive.groups()
            if word.startswith("if"):
                live = word != "if" or _holds(rest, precision)
                taken.append((live, live))
            elif word == "endif":
                taken.pop()
            else:
                done = taken[-1][1]
                live = not done and (word == "else" or _holds(rest, precision))
                taken[-1] = (live, done or live)
        elif all(live for live, _ in taken) and (define := _DEFINE.match(line)):
            value = re.sub(r"GC_[RF]\b|[()\s]", "", define.group(2)).rstrip("fF")
            if _NUMBER.fullmatch(value):
                found[define.group(1)] = int(value) if re.fullmatch(r"[-+]?\d+", value) else float(value)
    return found


def _holds(condition: str, precision: str) -> bool:
    match = _CONDITION.fullmatch(condition.strip())
    if match is None:
        raise ValueError(
            f"gc_constants.h: condition '{condition.strip()}' must compare GC_PRECISION with a digit"
        )
    return (PRECISIONS[precision] == int(match.group(2))) == (match.group(1) == "==")
