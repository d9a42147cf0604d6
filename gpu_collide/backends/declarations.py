"""What a kernel text declares: entry points and their arguments, the columns of records, constants.

Kernels are declared once, in C; whatever Python knows of them is read from their text here. Which text, and
where it lies, is up to `sources`.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

__all__ = [
    "PRECISIONS",
    "Arg",
    "Record",
    "Signature",
    "constants",
    "dtypes",
    "parse",
    "records",
    "strip_comments",
]

PRECISIONS = {"mixed": 0, "double": 1, "single": 2}
"""Precision name to the value of ``GC_PRECISION``."""

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


_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_ENTRY = re.compile(r"^\s*GC_(?:CROWDED_)?KERNEL\s+void\s+(\w+)\s*\(([^)]*)\)\s*\{", re.M)

_ARGS = re.compile(r"^#define (GC_\w+_ARGS) (.*)", re.M)  # of several entry points, listed once


def strip_comments(text: str) -> str:
    """`text` with comments blanked, lines kept."""
    return _COMMENT.sub(lambda m: "\n" * m.group().count("\n") or " ", text)


def parse(text: str) -> dict[str, Signature]:
    """Entry points defined in `text`, by name, in order of appearance; ``GC_..._ARGS`` among their arguments
    is what the macro of this name lists.

    Raises
    ------
    ValueError
        An argument has a type the launcher cannot pass, or a name appears twice.
    """
    found: dict[str, Signature] = {}
    text = strip_comments(text).replace("\\\n", " ")
    lists = dict(_ARGS.findall(text))
    for name, body in _ENTRY.findall(text):
        if name == "gc_set_group":
            continue
        if name in found:
            raise ValueError(f"kernel {name} is defined twice")
        parts = [lists.get(part.strip(), part) for part in body.split(",") if part.strip()]
        args = tuple(_parse_arg(name, part) for part in ",".join(parts).split(","))
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


@lru_cache(maxsize=8)
def records(text: str) -> dict[str, Record]:
    """Records that `text` declares by ``GC_RECORD(GC_NAME)`` from the list ``GC_NAME_COLUMNS`` (gc_types.h).

    Raises
    ------
    ValueError
        A list holds something else than columns, names one twice, or has more than the stride; two records
        of one name.
    """
    text = strip_comments(text.replace("\\\n", " "))
    lists = dict(_LIST.findall(text))
    strides = dict(re.findall(r"#define GC_(\w+)_STRIDE (\d+)", text))
    found = {}
    for name in re.findall(r"^GC_RECORD\(GC_(\w+)\)", text, re.M):
        if name.lower() in found:
            raise ValueError(
                f"record GC_{name} is declared twice: programs that hold one of them would mix both up"
            )
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


def constants(text: str, precision: str) -> dict[str, int | float]:
    """Numbers that `text`, such as that of ``gc_constants.h``, defines under `precision`.

    A value is a number, alone or inside ``GC_R(...)``, ``GC_F(...)`` or parentheses; others are left out.
    Conditions on ``GC_PRECISION`` are heeded, include guards pass.
    """
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
        raise ValueError(f"constants: condition '{condition.strip()}' must compare GC_PRECISION with a digit")
    return (PRECISIONS[precision] == int(match.group(2))) == (match.group(1) == "==")
