"""What each PTX opcode computes, as a C expression of its operands.

The whole opcode is the key, with all its suffixes, so that none is let through whose meaning was not looked
up (PTX ISA 8.8, chapter 9.7). What is missing on purpose: arithmetic without ``.rn``, which ptxas may fuse,
``fma`` and everything approximate or flushed to zero (``.approx``, ``.ftz``); the kernels promise to have
none of it.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["C_TYPES", "FUSED", "RULES", "SPECIAL", "Rule", "bits_of"]

C_TYPES = {
    "u8": "uint8_t", "s8": "int8_t", "b8": "uint8_t", "u16": "uint16_t", "s16": "int16_t", "b16": "uint16_t",
    "u32": "uint32_t", "s32": "int32_t", "b32": "uint32_t", "u64": "uint64_t", "s64": "int64_t",
    "b64": "uint64_t", "f32": "float", "f64": "double", "pred": "int",
}  # fmt: skip
SPECIAL = {"%tid.x": "w->tid", "%ntid.x": "run.block", "%ctaid.x": "run.group", "%nctaid.x": "run.grid"}


class Rule(NamedTuple):
    """Type of the result, types of the operands, the result in C."""

    result: str
    operands: tuple[str, ...]
    c: str


def bits_of(kind: str) -> int:
    return 1 if kind == "pred" else int(kind[1:])


RULES: dict[str, Rule] = {}
FUSED: dict[str, Rule] = {}
"""What a build with fused multiply-adds would have besides: for tests that such a build is found out."""


def _rule(op: str, result: str, operands: str, c: str) -> None:
    RULES[op] = Rule(result, tuple(operands.split()), c)


def _floats() -> None:
    for t in ("f32", "f64"):
        f = "f" if t == "f32" else ""
        for op, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")):
            _rule(f"{op}.rn.{t}", t, f"{t} {t}", f"{{0}} {sign} {{1}}")
            if op != "div":
                FUSED[f"{op}.{t}"] = RULES[f"{op}.rn.{t}"]
        FUSED[f"fma.rn.{t}"] = Rule(t, (t, t, t), f"fma{f}({{0}}, {{1}}, {{2}})")
        _rule(f"rcp.rn.{t}", t, t, "1 / {0}")
        _rule(f"sqrt.rn.{t}", t, t, f"sqrt{f}({{0}})")
        _rule(f"abs.{t}", t, t, f"fabs{f}({{0}})")
        _rule(f"neg.{t}", t, t, "-{0}")
        _rule(f"min.{t}", t, f"{t} {t}", f"min_{t}({{0}}, {{1}})")
        _rule(f"max.{t}", t, f"{t} {t}", f"max_{t}({{0}}, {{1}})")
        for cmp, sign in (("eq", "=="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
            _rule(f"setp.{cmp}.{t}", "pred", f"{t} {t}", f"{{0}} {sign} {{1}}")
        # ne is false if one is not a number; those that end in u are true then
        _rule(f"setp.ne.{t}", "pred", f"{t} {t}", "{0} < {1} || {0} > {1}")
        _rule(f"setp.neu.{t}", "pred", f"{t} {t}", "{0} != {1}")
        _rule(f"setp.nan.{t}", "pred", f"{t} {t}", "{0} != {0} || {1} != {1}")
        _rule(f"setp.num.{t}", "pred", f"{t} {t}", "{0} == {0} && {1} == {1}")
        for cmp, sign in (("equ", "=="), ("ltu", "<"), ("leu", "<="), ("gtu", ">"), ("geu", ">=")):
            unordered = "{0} != {0} || {1} != {1}"
            _rule(f"setp.{cmp}.{t}", "pred", f"{t} {t}", f"{{0}} {sign} {{1}} || {unordered}")
        _rule(f"setp.nan.{t}", "pred", f"{t} {t}", unordered)
        _rule(f"setp.num.{t}", "pred", f"{t} {t}", "{0} == {0} && {1} == {1}")
        for mode, name in (("rmi", "floor"), ("rpi", "ceil"), ("rzi", "trunc"), ("rni", "rint")):
            _rule(f"cvt.{mode}.{t}.{t}", t, t, f"{name}{f}({{0}})")
        for whole in ("s32", "u32", "s64", "u64"):
            _rule(f"cvt.rn.{t}.{whole}", t, whole, f"({C_TYPES[t]}){{0}}")
            _rule(f"cvt.rzi.{whole}.{t}", whole, t, f"rzi_{whole}_{t}({{0}})")
    _rule("cvt.f64.f32", "f64", "f32", "(double){0}")
    _rule("cvt.rn.f32.f64", "f32", "f64", "(float){0}")


def _integers() -> None:
    for bits in (16, 32, 64):
        u, s, b = f"u{bits}", f"s{bits}", f"b{bits}"
        for t in (u, s):
            _rule(f"add.{t}", u, f"{u} {u}", "{0} + {1}")
            _rule(f"sub.{t}", u, f"{u} {u}", "{0} - {1}")
            _rule(f"mul.lo.{t}", u, f"{u} {u}", "(uint64_t){0} * {1}")
            _rule(f"mad.lo.{t}", u, f"{u} {u} {u}", "(uint64_t){0} * {1} + {2}")
            _rule(f"div.{t}", t, f"{t} {t}", "DIVIDE({0}, /, {1}, {site})")
            _rule(f"rem.{t}", t, f"{t} {t}", "DIVIDE({0}, %, {1}, {site})")
            _rule(f"min.{t}", t, f"{t} {t}", "{0} < {1} ? {0} : {1}")
            _rule(f"max.{t}", t, f"{t} {t}", "{0} > {1} ? {0} : {1}")
            signs = [("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")]
            for cmp, sign in signs:
                _rule(f"setp.{cmp}.{t}", "pred", f"{t} {t}", f"{{0}} {sign} {{1}}")
        for cmp, sign in (("eq", "=="), ("ne", "!=")):
            _rule(f"setp.{cmp}.{b}", "pred", f"{u} {u}", f"{{0}} {sign} {{1}}")
        _rule(f"neg.{s}", u, u, "0 - {0}")
        _rule(f"abs.{s}", u, s, "{0} < 0 ? 0 - (uint64_t){0} : (uint64_t){0}")
        _rule(f"not.{b}", u, u, "~{0}")
        for op, sign in (("and", "&"), ("or", "|"), ("xor", "^")):
            _rule(f"{op}.{b}", u, f"{u} {u}", f"{{0}} {sign} {{1}}")
        # a shift by more than the width is one by the width
        _rule(f"shl.{b}", u, f"{u} u32", f"{{1}} > {bits - 1} ? 0 : (uint64_t){{0}} << ({{1}} & {bits - 1})")
        _rule(f"shr.{s}", s, f"{s} u32", f"{{0}} >> ({{1}} > {bits - 1} ? {bits - 1} : {{1}})")
        for t in (u, b):
            _rule(f"shr.{t}", u, f"{u} u32", f"{{1}} > {bits - 1} ? 0 : {{0}} >> ({{1}} & {bits - 1})")
        if bits < 64:
            for sign in "us":
                t, wide = f"{sign}{bits}", f"{sign}{2 * bits}"
                product = f"({C_TYPES[f'{sign}64']}){{0}} * {{1}}"
                _rule(f"mul.wide.{t}", wide, f"{t} {t}", product)
                _rule(f"mad.wide.{t}", wide, f"{t} {t} {wide}", f"{product} + {{2}}")
                _rule(f"mul.hi.{t}", t, f"{t} {t}", f"({product}) >> {bits}")
    _rule("bfi.b32", "u32", "u32 u32 u32 u32", "bfi_b32({0}, {1}, {2}, {3})")
    _rule("bfi.b64", "u64", "u64 u64 u32 u32", "bfi_b64({0}, {1}, {2}, {3})")
    # the upper word of two that are shifted together: the second and, below it, the first
    _rule("shf.l.wrap.b32", "u32", "u32 u32 u32", "((uint64_t){1} << 32 | {0}) << ({2} & 31) >> 32")
    _rule("bfe.u32", "u32", "u32 u32 u32", "bfe_u32({0}, {1}, {2})")
    # two words side by side, the second above: shifted left, the upper one of it
    both = "((uint64_t){1} << 32 | (uint32_t){0})"
    _rule("shf.l.wrap.b32", "u32", "u32 u32 u32", f"{both} << ({{2}} & 31) >> 32")
    _rule("popc.b32", "u32", "u32", "__builtin_popcount({0})")
    _rule("clz.b32", "u32", "u32", "{0} ? __builtin_clz({0}) : 32")
    whole = [f"{sign}{bits}" for bits in (8, 16, 32, 64) for sign in "us"]
    for to in whole:
        for of in whole:
            _rule(f"cvt.{to}.{of}", to, of, f"({C_TYPES[to]}){{0}}")


def _choices() -> None:
    for op, sign in (("and", "&"), ("or", "|"), ("xor", "^")):
        _rule(f"{op}.pred", "pred", "pred pred", f"{{0}} {sign} {{1}}")
    _rule("not.pred", "pred", "pred", "!{0}")
    for t in ("pred", "f32", "f64", *(f"{sign}{bits}" for sign in "usb" for bits in (16, 32, 64))):
        _rule(f"mov.{t}", t, t, "{0}")
        if t != "pred":
            _rule(f"selp.{t}", t, f"{t} {t} pred", "{2} ? {0} : {1}")
    for space in ("global", "local", "shared", "const"):  # one address space: all these are the same number
        _rule(f"cvta.to.{space}.u64", "u64", "u64", "{0}")
        _rule(f"cvta.{space}.u64", "u64", "u64", "{0}")


_floats()
_integers()
_choices()
