"""A PTX module to one C file, which the files of `RUNTIME` complete.

A PTX function becomes a C function, a register a variable, an opcode the expression that `opcodes` has for
it. Each access to memory and each barrier carries the number of its source line, its site; site 0 is unknown.
Lines themselves, and numbers that NVRTC counts through a whole module, are not in the text: a kernel whose
own code has not changed has the text it had, and need not be built again.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.ptx.blocks import Block, ends, numbered
from tests.ptx.opcodes import C_TYPES, FUSED, RULES, SPECIAL, bits_of
from tests.ptx.parse import Array, Brace, Function, Instruction, Label, Module, Param, PtxError

__all__ = ["argument_sizes", "needed", "stack_bytes", "translate"]

RUNTIME = ("shadow.h", "runtime.h", "arithmetic.h")  # before the functions of a module, in this order
MOST_SITES = 1 << 15  # SITE in shadow.h
_REGISTER_TYPES = {"pred": "int", "b16": "uint16_t", "b32": "uint32_t", "b64": "uint64_t"}
_REGISTER_TYPES |= {"f32": "float", "f64": "double"}
_ATOMICS = {
    f"atom.{space}{op}.{t}": (op, t)
    for space in ("", "global.", "shared.")
    for op, t in (
        ("add", "u32"),
        ("max", "s32"),
        ("max", "u32"),
        ("min", "s32"),
        ("min", "u32"),
        ("or", "b32"),
    )
}
_SPACES = ("global", "local", "shared", "const", "param")
_MEMORY = {}  # opcode: (ld or st, space, how many, type)
for _op in ("ld", "st"):
    for _space in ("", "global.nc", *_SPACES):
        for _n in (1, 2, 4):
            for _t in C_TYPES:
                if _t == "pred" or _n * bits_of(_t) > 128:
                    continue
                _parts = [_op, _space, f"v{_n}" if _n > 1 else "", _t]
                _MEMORY[".".join(p for p in _parts if p)] = (_op, _space, _n, _t)


class Translated(NamedTuple):
    """A C text, and the source lines that its sites stand for."""

    text: str
    sites: tuple[str, ...]


def translate(module: Module, kernel: str, *, fused: bool = False, count: bool = False) -> Translated:
    """A kernel and all that it calls as C.

    Parameters
    ----------
    module : Module
    kernel : str
    fused : bool
        Let fused multiply-adds through, for tests that look for what they do.
    count : bool
        Count what warps execute, see lockstep.h.

    Raises
    ------
    PtxError
        An opcode or a form that is not known; the message names kernel, function and source line.
    """
    try:
        return _Translator(needed(module, kernel), RULES | FUSED if fused else RULES, count).whole()
    except PtxError as error:
        raise PtxError(f"kernel {kernel}: {error}") from None


def needed(module: Module, kernel: str) -> Module:
    """The part of a module that a kernel needs: its functions, callees first, and the arrays they name."""
    by_name = {f.name: f for f in module.functions}
    if kernel not in by_name:
        raise PtxError(f"no kernel {kernel}")
    found: dict[str, Function] = {}

    def add(f: Function) -> None:
        for name in called(f):
            if name not in by_name:
                raise PtxError(f"call of {name}, which is not in the module")
            if name not in found:
                add(by_name[name])
        found[f.name] = f

    add(by_name[kernel])
    text = " ".join(
        o for f in found.values() for s in f.body if isinstance(s, Instruction) for o in s.operands
    )
    named = set(re.findall(r"[\w$]+", text))
    return Module(list(found.values()), [a for a in module.arrays if a.name in named])


def called(f: Function) -> list[str]:
    """Names of the functions that a function calls."""
    calls = [s for s in f.body if isinstance(s, Instruction) and s.op.partition(".")[0] == "call"]
    return [next(o for o in s.operands if not o.startswith("(")) for s in calls]


def stack_bytes(module: Module, kernel: str) -> int:
    """Bytes of local memory of a work-item: of a kernel's arrays and, at most, of those that it calls."""
    deep: dict[str, int] = {}
    for f in needed(module, kernel).functions:
        own = sum(-(-a.size // 16) * 16 for a in f.arrays if a.space == "local")
        deep[f.name] = own + max((deep[name] for name in called(f)), default=0)
    return deep[kernel]


def argument_sizes(module: Module, kernel: str) -> list[int]:
    """Bytes of each argument of a kernel."""
    return [p.size for p in next(f for f in module.functions if f.name == kernel).params]


def c_name(name: str) -> str:
    """A PTX name as C takes it, without the number of the compilation; that of a label without the number of
    its function, in which alone it is known."""
    name = re.sub(r"_ZN\d+_INTERNAL_[0-9a-f]+_\d+_\w+?_cu_[0-9a-f]{8}\d+", "f_", name)
    return re.sub(r"\W", "_", re.sub(r"^\$L__BB\d+_", "at_", name))


class _Translator:
    def __init__(self, module: Module, rules: dict, count: bool):
        self.module, self.rules, self.count = module, rules, count
        self.sites: dict[str, int] = {"?": 0}
        self.blocks = numbered(module) if count else []
        self.entered = 0  # how many of them have been written
        self.calls: dict[str, set[str]] = {}
        self.barriers: set[str] = set()

    def whole(self) -> Translated:
        functions = self.module.functions
        arrays = [*self.module.arrays, *(a for f in functions for a in f.arrays if a.space == "shared")]
        bodies = [_Body(self, f).text() for f in functions]
        waits = self._waiting()
        head = [f"#define N_SHARED {sum(-(-a.size // 16) * 16 for a in arrays if a.space == 'shared')}"]
        head.append(f"#define N_BLOCKS {len(self.blocks)}")
        head += [(Path(__file__).parent / name).read_text(encoding="utf-8") for name in RUNTIME]
        head += _declared(arrays)
        if self.count:
            head += [
                *_tables(self.blocks),
                (Path(__file__).parent / "lockstep.h").read_text(encoding="utf-8"),
            ]
        head += [_signature(f) + ";" for f in functions]
        if len(self.sites) > MOST_SITES:
            raise PtxError(f"{len(self.sites)} source lines; shadow.h has room for {MOST_SITES}")
        tail = [_entry(f, f.name in waits) for f in functions if f.entry]
        return Translated("\n".join([*head, *bodies, *tail, ""]), tuple(self.sites))

    def _waiting(self) -> set[str]:
        """Functions that come to a barrier, themselves or in what they call."""
        waits = set(self.barriers)
        while more := {f for f, called in self.calls.items() if f not in waits and called & waits}:
            waits |= more
        return waits


def _tables(blocks: list[Block]) -> list[str]:
    """What lockstep.h needs to know of the blocks, as C."""
    sizes = [[n for s in b.instructions if (n := _bytes_used(s))] for b in blocks]
    starts = [0]
    for of in sizes:
        starts.append(starts[-1] + len(of))
    columns = {
        "joins": [b.join % 2**31 for b in blocks],  # EXIT is GONE
        "callees": [2**31 - 1 if b.callee is None else b.callee for b in blocks],
        "accesses_from": starts,
        "access_bytes": [n for of in sizes for n in of] + [0],
    }
    return [f"static const uint32_t {name}[] = {{{','.join(map(str, v))}}};" for name, v in columns.items()]


def _bytes_used(s: Instruction) -> int:
    """Bytes of memory that an instruction reads or writes; 0 if it is no access, or one to an argument."""
    if s.op in _ATOMICS:
        return bits_of(_ATOMICS[s.op][1]) // 8
    _, space, n, t = _MEMORY.get(s.op, ("", "param", 0, "b8"))
    return 0 if space == "param" else n * bits_of(t) // 8


_IN_FIXED = """static int in_fixed(uint64_t at, int n)
{
    return at - (uint64_t)(uintptr_t)&fixed < sizeof fixed && at + n <= (uint64_t)(uintptr_t)(&fixed + 1);
}"""


def _declared(arrays: list[Array]) -> list[str]:
    """C text of module arrays: data in one struct, so that an address can be told to be in it; shared ones
    at their places in the group's own memory."""
    fixed = [a for a in arrays if a.space != "shared"]
    lines, at = [], 0
    members = "".join(
        f"unsigned char {c_name(a.name)}[{a.size}] __attribute__((aligned(16)));" for a in fixed
    )
    values = "".join(f"{{{a.data or 0}}}," for a in fixed)
    lines.append(f"static struct {{ char first_[16]; {members} }} fixed = {{ {{0}}, {values} }};")
    lines += [f"#define {c_name(a.name)}_AT ((uint64_t)(uintptr_t)fixed.{c_name(a.name)})" for a in fixed]
    for a in arrays:
        if a.space == "shared":
            lines.append(f"#define {c_name(a.name)}_AT (run.shared + {at})")
            at += -(-a.size // 16) * 16
    lines.append(_IN_FIXED)
    return lines


def _signature(f: Function) -> str:
    arguments = "".join(f", const char *arg{i}" for i in range(len(f.params)))
    return f"static void {c_name(f.name)}(struct item *w, char *ret{arguments})"


def _entry(f: Function, waits: bool) -> str:
    passed = "".join(f", args[{i}]" for i in range(len(f.params)))
    return (
        f"static void call_{f.name}(struct item *w, const char **args)\n"
        f"{{ {c_name(f.name)}(w, 0{passed}); }}\n"
        f"int ptx_run_{f.name}(struct device *d, const char **args, int grid, int block, struct report *r)\n"
        f"{{ return ptx_run(d, call_{f.name}, args, grid, block, {int(waits)}, r); }}\n"
    )


class _Body:
    """One function's C text."""

    def __init__(self, of: _Translator, function: Function):
        self.of, self.f = of, function
        self.at: Instruction | None = None
        self.names = {
            name: f"(uint64_t)(uintptr_t)arg{i}" for i, name in enumerate(p.name for p in function.params)
        }
        if function.result:
            self.names[function.result] = "(uint64_t)(uintptr_t)ret"
        self.local = [
            (f"local{i}", a) for i, a in enumerate(a for a in function.arrays if a.space == "local")
        ]
        self.names |= {a.name: f"(uint64_t)(uintptr_t){name}" for name, a in self.local}
        shared = [a for f in of.module.functions for a in f.arrays if a.space == "shared"]
        self.names |= {a.name: f"{c_name(a.name)}_AT" for a in [*of.module.arrays, *shared]}
        of.calls[function.name] = set()

    def text(self) -> str:
        lines = [_signature(self.f), "{"]
        for prefix, (kind, n) in self.f.registers.items():
            names = [prefix.lstrip("%")] if n is None else [f"{prefix.lstrip('%')}{i}" for i in range(1, n)]
            if names:
                lines.append(f"{_REGISTER_TYPES[kind]} " + ", ".join(f"{name} = 0" for name in names) + ";")
        for name, a in self.local:
            lines.append(f"char {name}[{a.size}] __attribute__((aligned(16)));")
            lines.append(f"memset({name}, 0xE5, {a.size});")  # what was never written is no zero
        self._block(lines)
        for s in self.f.body:
            lines.append(self._statement(s))
            if isinstance(s, Label) or ends(s):
                self._block(lines)
        return "\n".join([*lines, "}"])

    def _block(self, lines: list[str]) -> None:
        if self.of.count:
            lines.append(f"ENTERED(w, {self.of.entered});")
            self.of.entered += 1

    def _statement(self, s) -> str:
        if isinstance(s, Brace):
            return s.text
        if isinstance(s, Label):
            return f"{c_name(s.name)}:;"
        if isinstance(s, Param):
            self.names[s.name] = f"(uint64_t)(uintptr_t){s.name}"
            return f"char {s.name}[{max(s.size, 8)}] __attribute__((aligned(16)));"
        self.at = s
        guard, spared = "", ""
        if s.guard:
            guard = f"if ({'!' * s.guard.startswith('!')}{self._name(s.guard.lstrip('!'))}) "
            spared = " else USED(w, 0);" if _bytes_used(s) else ""
        return f"{guard}{{ {self._instruction(s)} }}{spared}"

    def _site(self) -> int:
        return self.of.sites.setdefault(self.at.place, len(self.of.sites))

    def _unknown(self, what: str) -> PtxError:
        return PtxError(
            f"{c_name(self.f.name)}, {self.at.place}: {what} in {self.at.op} {', '.join(self.at.operands)}"
        )

    # -- operands --------------------------------------------------------------------------------------------
    def _name(self, register: str) -> str:
        self._kind(register)
        return register[1:]

    def _kind(self, register: str) -> str:
        prefix = register if register in self.f.registers else re.sub(r"\d+$", "", register)
        if prefix not in self.f.registers:
            raise self._unknown(f"register {register}")
        return self.f.registers[prefix][0]

    def _value(self, operand: str, t: str) -> str:
        """C expression of an operand read as type `t`."""
        c = C_TYPES[t]
        if operand in SPECIAL:
            return f"(({c}){SPECIAL[operand]})"
        if operand.startswith("%"):
            kind, name = self._kind(operand), self._name(operand)
            if t == kind or t == "pred":
                return name
            if t[0] == "f":
                return f"bits_{t}({name})"
            return f"(({c})bits_of_{kind}({name}))" if kind[0] == "f" else f"(({c}){name})"
        if t[0] == "f" and (m := re.fullmatch(r"0[fd]([0-9A-F]+)", operand)):
            return f"bits_{t}(0x{m.group(1)}u{'ll' * (t == 'f64')})"
        if t[0] != "f" and re.fullmatch(r"-?(\d+|0x[0-9a-fA-F]+)", operand):
            return f"(({c})0x{int(operand, 0) % 2**64:x}ull)"
        if operand in self.names:
            return f"(({c}){self.names[operand]})"
        raise self._unknown(f"operand {operand}")

    def _store(self, register: str, expression: str, t: str) -> str:
        """C statement that puts an expression of type `t` into a register, wider ones filled up by its
        sign."""
        if register == "_":
            return f"(void)({expression});"
        kind, name = self._kind(register), self._name(register)
        if kind == t or kind == "pred":
            return f"{name} = {expression};"
        if kind[0] == "f":
            return f"{name} = bits_{kind}({expression});"
        if t[0] == "f":
            return f"{name} = bits_of_{t}({expression});"
        return f"{name} = ({C_TYPES[t]})({expression});"

    def _address(self, operand: str) -> str:
        m = re.fullmatch(r"\[([%$\w]+)(?:\+(-?\d+))?\]", operand)
        if m is None:
            raise self._unknown(f"address {operand}")
        return f"{self._value(m.group(1), 'u64')} + {int(m.group(2) or 0)}ll"

    def _several(self, operand: str, n: int) -> list[str]:
        parts = [p.strip() for p in operand.strip("{}").split(",")]
        if len(parts) != n:
            raise self._unknown(f"{n} parts")
        return parts

    # -- instructions ----------------------------------------------------------------------------------------
    def _instruction(self, s: Instruction) -> str:
        op = s.op
        if op in _MEMORY:
            return self._memory(*_MEMORY[op])
        if op in ("bra", "bra.uni"):
            return f"goto {c_name(s.operands[0])};"
        if op in ("ret", "ret.uni"):
            return "ENTERED(w, GONE); return;"
        if op in ("mov.b64", "mov.b32") and "{" in s.operands[0] + s.operands[1]:
            return self._packed(bits_of(op[4:]) // 2, *s.operands)
        if op in self.of.rules:
            rule = self.of.rules[op]
            to, *values = s.operands
            if len(values) != len(rule.operands):
                raise self._unknown(f"{len(values)} operands")
            c = rule.c.format(
                *map(self._value, values, rule.operands), site=self._site() if "{site}" in rule.c else 0
            )
            return self._store(to, c, rule.result)
        if op in ("call", "call.uni"):
            return self._call(s.operands)
        if op == "bar.sync" and s.operands == ("0",):
            self.of.barriers.add(self.f.name)
            return f"barrier(w, {self._site()});"
        if op in _ATOMICS:
            what, t = _ATOMICS[op]
            value, n = self._value(s.operands[2], t), bits_of(t) // 8
            return (
                f"uint64_t at_ = {self._address(s.operands[1])}; USED(w, at_); atomic_{n}(w, at_, "
                f"{self._site()}); {self._store(s.operands[0], f'atomic_{what}_{t}(at_, {value})', t)}"
            )
        raise self._unknown("an opcode that is not known")

    def _memory(self, op: str, space: str, n: int, t: str) -> str:
        size, c = bits_of(t) // 8, C_TYPES[t]
        memory, register = self.at.operands if op == "st" else reversed(self.at.operands)
        parts = self._several(register, n) if n > 1 else [register]
        text = f"uint64_t at_ = {self._address(memory)}; "
        if space != "param":
            used = "~0u" if self.at.mask is None else f"{self.at.mask}u"
            access = {
                "ld": f"read_{size * n}(w, at_, {used}, ",
                "st": f"write_{size * n}(w, at_, ",
            }[op]
            if space == "global.nc":
                access = f"unchanged_{size * n}(w, at_, {used}, "
            elif space == "local":
                access = f"local_seen(w, at_, {size * n}, "
            text += f"USED(w, at_); {access}{self._site()}); "
        for i, part in enumerate(parts):
            place = f"*({c} ANY *)(at_ + {i * size})"
            text += self._store(part, place, t) if op == "ld" else f"{place} = {self._value(part, t)};"
        return text

    def _packed(self, half: int, to: str, of: str) -> str:
        t, whole = f"b{half}", f"b{2 * half}"
        if to.startswith("{"):
            low, high = self._several(to, 2)
            value = self._value(of, whole)
            return (
                f"uint64_t t_ = {value}; {self._store(low, 't_', t)} {self._store(high, f't_ >> {half}', t)}"
            )
        low, high = (self._value(x, t) for x in self._several(of, 2))
        return self._store(to, f"(uint64_t){low} | (uint64_t){high} << {half}", whole)

    def _call(self, operands: tuple[str, ...]) -> str:
        listed = [o for o in operands if o.startswith("(")]
        name = next(o for o in operands if not o.startswith("("))
        if all(f.name != name for f in self.of.module.functions):
            raise self._unknown(f"call of {name}")
        self.of.calls[self.f.name].add(name)
        result = operands[0].strip("() ") if operands[0].startswith("(") else "0"
        inside = listed[-1] if operands[-1].startswith("(") and len(operands) > 1 else "()"
        passed = "".join(f", {p.strip()}" for p in inside.strip("()").split(",") if p.strip())
        return f"{c_name(name)}(w, {result}{passed});"
