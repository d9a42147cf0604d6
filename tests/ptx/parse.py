"""PTX text, as NVRTC writes it, to functions and their statements."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpu_collide.backends import sources

__all__ = ["Array", "Brace", "Function", "Instruction", "Label", "Module", "Param", "PtxError", "parse"]


class PtxError(Exception):
    """PTX that is not understood; the message names kernel or function, and source line."""


@dataclass(frozen=True)
class Label:
    name: str


@dataclass(frozen=True)
class Brace:
    text: str


@dataclass(frozen=True)
class Param:
    """Room for an argument or a result of a call."""

    name: str
    size: int


@dataclass(frozen=True)
class Instruction:
    """One instruction; `guard` is ``""``, ``"%p1"`` or ``"!%p1"``, `mask` the bytes of a load that are
    used."""

    op: str
    operands: tuple[str, ...]
    guard: str = ""
    place: str = ""
    mask: int | None = None


@dataclass(frozen=True)
class Array:
    """Memory with a name: space ``const``, ``global``, ``shared`` or ``local``; `data` what it holds at
    first."""

    space: str
    name: str
    size: int
    data: str = ""


@dataclass
class Function:
    """A function or, with `entry`, a kernel."""

    name: str
    entry: bool
    result: str | None
    params: list[Param]
    registers: dict[str, tuple[str, int | None]] = field(default_factory=dict)  # prefix: type, how many
    arrays: list[Array] = field(default_factory=list)
    body: list = field(default_factory=list)


@dataclass
class Module:
    functions: list[Function] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)


_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}
_ARRAY = re.compile(
    r"\.(const|global|shared|local)\s+(?:\.align\s+\d+\s+)?\.[bsuf](\d+)\s+([\w$]+)(?:\[(\d+)\])?\s*(?:=\s*(.*))?"
)
_PARAM = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.[bsuf](\d+)\s+([\w$]+)(?:\[(\d+)\])?")
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+(%?[\w$]+)(?:<(\d+)>)?")
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+\d+(?:,.*inlined_at\s+(\d+)\s+(\d+))?")
_HEAD = re.compile(r"(?:\.visible\s+|\.weak\s+)?\.(entry|func)\s*(?:\((.*?)\)\s*)?([\w$]+)\s*\((.*?)\)", re.S)
_OPERAND = re.compile(r"\{[^}]*\}|\([^)]*\)|\[[^\]]*\]|[^,\s]+")
_MASK = re.compile(r'\.pragma "used_bytes_mask (\w+)"')


def parse(text: str) -> Module:
    """Functions and arrays of a PTX module.

    Raises
    ------
    PtxError
        A statement of a form that NVRTC was not seen to write.
    """
    text = re.sub(r"//[^\n]*", "", text)
    files = {n: _short(path) for n, path in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M)}
    text = re.sub(
        r"^\s*\.(file|version|target|address_size|maxntid|minnctapersm)\b[^\n]*$", "", text, flags=re.M
    )
    text = re.sub(r"^\s*\.section\s.*?^\s*\}", "", text, flags=re.M | re.S)
    module, at = Module(), 0
    while at < len(text):
        brace, end = text.find("{", at), text.find(";", at)
        if brace < 0 and end < 0:
            break
        equals = text.find("=", at)
        if end >= 0 and (brace < 0 or end < brace or (0 <= equals < brace)):  # an array, or a prototype
            _outside(module, text[at:end].strip())
            at = end + 1
            continue
        close = _closing(text, brace)
        module.functions.append(_function(text[at:brace].strip(), text[brace + 1 : close], files))
        at = close + 1
    if text[at:].strip():
        raise PtxError(f"after the last function: {text[at:].strip()[:80]!r}")
    return module


def _short(path: str) -> str:
    """The end of a source path as the kernels' README names it: ``narrow_phase/rows/s04_sort.c``."""
    parts = path.split("/")
    ends = ["/".join(parts[-n:]) for n in (3, 2)]
    return next((end for end in ends if end in sources.known()), ends[-1])


def _closing(text: str, brace: int) -> int:
    depth = 0
    for m in re.compile(r"[{}]").finditer(text, brace):
        depth += 1 if m.group() == "{" else -1
        if depth == 0:
            return m.start()
    raise PtxError("a brace is not closed")


def _array(text: str) -> Array:
    m = _ARRAY.search(text)
    if m is None or ".extern" in text:
        raise PtxError(f"a declaration that is not understood: {text[:80]!r}")
    space, bits, name, count, data = m.groups()
    if data and bits != "8":
        raise PtxError(f"{name}: data that are not bytes")
    return Array(space, name, _BYTES[bits] * int(count or 1), (data or "").strip("{} "))


def _param(text: str) -> Param:
    bits, name, count = _PARAM.search(text).groups()
    return Param(name, _BYTES[bits] * int(count or 1))


def _outside(module: Module, text: str) -> None:
    if _HEAD.match(text):  # a prototype
        return
    module.arrays.append(_array(text))


def _function(head: str, body: str, files: dict[str, str]) -> Function:
    m = _HEAD.match(head)
    if m is None:
        raise PtxError(f"a function's head that is not understood: {head[:80]!r}")
    kind, result, name, params = m.groups()
    taken = [_param(p) for p in params.split(",") if p.strip()]
    made = Function(name, kind == "entry", _param(result).name if result else None, taken)
    place, mask, pending = "?", None, ""
    for line in body.splitlines():
        line = line.strip()
        if loc := _LOC.match(line):
            where = f"{files.get(loc.group(1), '?')}:{loc.group(2)}"
            place = where + (f" in {files.get(loc.group(3), '?')}:{loc.group(4)}" if loc.group(3) else "")
            continue
        pending += " " + line
        *whole, pending = _statements(pending)
        for text in whole:
            if used := _MASK.match(text):
                mask = int(used.group(1), 0)
            elif _statement(made, text, place, mask):
                mask = None
    if pending.strip():
        raise PtxError(f"{name}: a statement that does not end: {pending.strip()[:80]!r}")
    return made


def _statements(text: str) -> list[str]:
    """`text` cut into whole statements and what is left; braces and labels stand alone."""
    found, at, depth = [], 0, 0
    for i, c in enumerate(text):
        if c == "{" and not text[at:i].strip() or c == "}" and depth == 0:
            found.append(c)
            at = i + 1
        elif c in "{}":  # around the parts of a vector
            depth += 1 if c == "{" else -1
        elif c == ";" or (c == ":" and re.fullmatch(r"\s*[$\w]+", text[at:i])):
            found.append(text[at : i + 1].strip())
            at = i + 1
    return [*found, text[at:]]


def _statement(made: Function, text: str, place: str, mask: int | None) -> bool:
    """Add a statement; True for an instruction."""
    if text in "{}":
        made.body.append(Brace(text))
    elif text.endswith(":"):
        made.body.append(Label(text[:-1]))
    elif m := _REGISTERS.match(text):
        kind, name, count = m.groups()
        made.registers[name] = (kind, int(count) if count else None)
    elif text.startswith(".param"):
        made.body.append(_param(text))
    elif re.match(r"\.(local|shared)\b", text):
        made.arrays.append(_array(text))
    elif text.startswith(".pragma"):
        pass
    elif m := re.fullmatch(r"(?:@(!?%\w+)\s+)?([a-z][\w.:]*)\s*(.*?);", text):
        guard, op, rest = m.groups()
        operands = re.findall(_OPERAND, rest)
        if re.sub(_OPERAND, "o", rest).split(", ") != ["o"] * len(operands) and rest:
            raise PtxError(f"{made.name}, {place}: {text[:80]!r} is not understood")
        made.body.append(Instruction(op, tuple(operands), guard or "", place, mask))
        return True
    else:
        raise PtxError(f"{made.name}, {place}: {text[:80]!r} is not understood")
    return False
