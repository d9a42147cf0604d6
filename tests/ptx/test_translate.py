"""Opcodes compute what the PTX ISA says; what is not known is an error that names kernel and source line."""

import numpy as np
import pytest

from gpu_collide.backends.cache import private_file
from tests.ptx import build
from tests.ptx.device import Failure
from tests.ptx.opcodes import RULES
from tests.ptx.parse import PtxError, parse
from tests.ptx.translate import translate

PTX = """.version 8.8
.target sm_90
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
{
    .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;
    .loc 1 12 3
    ld.param.u64 %rd1, [k_param_0];
    ld.param.u64 %rd2, [k_param_1];
BODY
    ret;
}
    .file 1 "/somewhere/screw/t.c"
"""
REGISTER = {"16": "%rs", "32": "%r", "64": "%rd"}
NAN32, NAN64 = 0x7FC00000, 0x7FF8000000000000


def f32(x):
    return int(np.float32(x).view(np.uint32))


def f64(x):
    return int(np.float64(x).view(np.uint64))


CASES = [  # opcode, operands as bits, result as bits
    ("add.rn.f64", (f64(0.1), f64(0.2)), f64(0.1 + 0.2)),
    ("sub.rn.f32", (f32(0.1), f32(0.3)), f32(np.float32(0.1) - np.float32(0.3))),
    ("mul.rn.f32", (f32(1e-30), f32(1e-10)), f32(np.float32(1e-30) * np.float32(1e-10))),  # a denormal stays
    ("div.rn.f64", (f64(1), f64(3)), f64(1 / 3)),
    ("rcp.rn.f32", (f32(3),), f32(np.float32(1) / np.float32(3))),
    ("sqrt.rn.f64", (f64(2),), f64(2**0.5)),
    ("min.f64", (NAN64, f64(2)), f64(2)),
    ("max.f32", (f32(-0.0), f32(0.0)), f32(0.0)),
    ("min.f32", (f32(0.0), f32(-0.0)), f32(-0.0)),
    ("abs.f64", (f64(-0.0),), f64(0.0)),
    ("neg.f32", (f32(0.0),), f32(-0.0)),
    ("cvt.rmi.f64.f64", (f64(-1.5),), f64(-2)),
    ("cvt.rni.f32.f32", (f32(2.5),), f32(2)),
    ("cvt.rzi.s32.f64", (f64(-3e9),), 0x80000000),
    ("cvt.rzi.s32.f64", (NAN64,), 0x80000000),
    ("cvt.rzi.s32.f32", (NAN32,), 0),
    ("cvt.rzi.u32.f32", (f32(5e9),), 0xFFFFFFFF),
    ("cvt.rzi.s32.f32", (f32(2147483520),), 2147483520),
    ("cvt.rzi.s64.f64", (f64(9.3e18),), 2**63 - 1),
    ("cvt.rn.f32.f64", (f64(1 + 2**-24),), f32(1)),
    ("cvt.rn.f32.s32", (2**32 - 5,), f32(-5)),
    ("cvt.s64.s32", (2**32 - 5,), 2**64 - 5),
    ("cvt.u64.u32", (2**32 - 5,), 2**32 - 5),
    ("add.s32", (2**32 - 1, 3), 2),
    ("mul.lo.s32", (0x10001, 0x10001), 0x20001),
    ("mul.hi.s32", (2**32 - 2, 3), 2**32 - 1),
    ("mul.wide.s32", (2**32 - 2, 3), 2**64 - 6),
    ("mul.wide.u32", (2**32 - 2, 3), 3 * (2**32 - 2)),
    ("mad.lo.s32", (5, 6, 7), 37),
    ("div.s32", (2**32 - 7, 2), 2**32 - 3),
    ("rem.s32", (2**32 - 7, 2), 2**32 - 1),
    ("div.u32", (2**32 - 7, 2), 2**31 - 4),
    ("shl.b32", (1, 32), 0),
    ("shr.u32", (2**31, 31), 1),
    ("shr.s32", (2**31, 40), 2**32 - 1),
    ("shl.b64", (1, 63), 2**63),
    ("bfi.b32", (0b101, 0xFFFFFFFF, 4, 3), 0xFFFFFFDF),
    ("bfi.b64", (0x89ABCDEF, 0x01234567, 32, 32), 0x89ABCDEF01234567),
    ("bfi.b64", (1, 0xFFFFFFFFFFFFFFFF, 63, 8), 0xFFFFFFFFFFFFFFFF),
    ("bfi.b64", (5, 7, 64, 3), 7),
    ("shf.l.wrap.b32", (0x80000001, 0x0000000F, 4), 0x000000F8),
    ("shf.l.wrap.b32", (0x12345678, 0x9ABCDEF0, 32), 0x9ABCDEF0),
    ("min.s32", (2**32 - 1, 1), 2**32 - 1),
    ("max.u32", (2**32 - 1, 1), 2**32 - 1),
    ("not.b32", (0xF0F0F0F0,), 0x0F0F0F0F),
    ("xor.b64", (2**63 + 1, 1), 2**63),
    ("neg.s32", (1,), 2**32 - 1),
    ("setp.lt.s32", (2**32 - 1, 0), 1),
    ("setp.gt.u32", (2**32 - 1, 0), 1),
    ("setp.ne.f64", (NAN64, f64(1)), 0),
    ("setp.neu.f64", (NAN64, f64(1)), 1),
    ("setp.nan.f64", (NAN64, f64(1)), 1),
    ("setp.nan.f64", (f64(2), f64(1)), 0),
    ("setp.num.f32", (f32(2), NAN32), 0),
    ("shf.l.wrap.b32", (0x80000001, 0x12345678, 4), 0x23456788),
    ("shf.l.wrap.b32", (0x80000001, 0x12345678, 32), 0x12345678),
    ("setp.leu.f32", (NAN32, f32(1)), 1),
    ("setp.le.f32", (NAN32, f32(1)), 0),
    ("setp.eq.f64", (f64(0.0), f64(-0.0)), 1),
    ("setp.nan.f64", (f64(1), NAN64), 1),
    ("setp.nan.f32", (f32(1), f32(1)), 0),
    ("setp.num.f64", (NAN64, f64(1)), 0),
    ("setp.num.f32", (f32(1), f32(2)), 1),
    ("cvt.s32.s64", (2**64 - 9,), 2**32 - 9),
    ("mov.b64", (f64(1.5),), f64(1.5)),
]


def width(kind):
    return "32" if kind == "pred" else "16" if kind[1:] == "8" else kind[1:]


def lines_of(i, op, values):
    """PTX that stores the result of an opcode in the i-th of 64 bits; operands come as literals."""
    rule, lines, registers = RULES[op], [], []
    for n, (kind, value) in enumerate(zip(rule.operands, values, strict=True), 3):
        bits = width(kind)
        lines.append(f"mov.b{bits} {REGISTER[bits]}{n}, {value};")
        registers.append(f"{REGISTER[bits]}{n}")
    to = "%p1" if rule.result == "pred" else f"{REGISTER[width(rule.result)]}8"
    lines.append(f"{op} {to}, {', '.join(registers)};")
    if rule.result == "pred":
        lines.append("selp.u32 %r8, 1, 0, %p1;")
    size = width(rule.result)
    return [*lines, f"st.global.u{size} [%rd1+{8 * i}], {REGISTER[size]}8;"]


def launch(cupy, text, *arrays):
    path = private_file("test.ptx", text.encode())
    cupy.RawModule(path=str(path)).get_function("k")((1,), (1,), arrays)


def test_each_opcode(cupy):
    body = [line for i, (op, values, _) in enumerate(CASES) for line in lines_of(i, op, values)]
    out = cupy.zeros(len(CASES), np.uint64)
    launch(cupy, PTX.replace("BODY", "\n".join(body)), out, out)
    wrong = [
        (op, hex(got), hex(expected))
        for (op, _, expected), got in zip(CASES, out.get().tolist(), strict=True)
        if got != expected
    ]
    assert not wrong


@pytest.mark.parametrize(
    "line",
    [
        "fma.rn.f64 %fd1, %fd2, %fd3, %fd4;",
        "mul.f64 %fd1, %fd2, %fd3;",
        "add.ftz.f32 %f1, %f2, %f3;",
        "sqrt.approx.f32 %f1, %f2;",
        "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;",
        "bar.sync 1;",
        "bar.warp.sync -1;",
        "atom.global.exch.b32 %r1, [%rd1], %r2;",
        "call.uni (retval0), __nv_sin, (param0);",
        "add.s32 %r1, %q2, %r3;",
        "add.s32 %r1, %r2;",
    ],
)
def test_what_is_not_known_is_an_error(line):
    with pytest.raises(PtxError, match=r"kernel k: (k, screw/t\.c:12: .* in |call of __nv_sin)"):
        build.library(PTX.replace("BODY", line).encode(), "k")


@pytest.mark.parametrize("text", ["?? 12;", "add.s32 %r1, %r2", ".reg %r<3>;"])
def test_what_cannot_be_read_is_an_error(text):
    with pytest.raises(PtxError):
        parse(PTX.replace("BODY", text))


def test_only_the_used_bytes_of_a_load_must_have_been_written(cupy):
    body = """.pragma "used_bytes_mask 3";
    ld.global.v2.u32 {%r3, %r4}, [%rd1];
    st.global.u16 [%rd2], %r3;"""
    half, out = cupy.empty(2, np.uint32), cupy.zeros(4, np.uint16)
    half[:1] = 7
    launch(cupy, PTX.replace("BODY", body), half, out)
    assert out.get()[0] == 7
    with pytest.raises(Failure, match="never written"):
        launch(cupy, PTX.replace("BODY", body.replace("mask 3", "mask 255")), half, out)


def test_lines_and_numbers_of_a_module_are_not_in_the_text():
    """What is built is kept by its text: a change elsewhere in the module, or of lines, leaves it."""
    body = """@%p1 bra $L__BB7_1;
    st.global.u32 [%rd2], %r3;
$L__BB7_1:"""
    module = parse(PTX.replace("BODY", body))
    moved = parse(PTX.replace("BODY", body).replace("BB7", "BB9").replace(".loc 1 12", ".loc 1 40"))
    one, other = translate(module, "k"), translate(moved, "k")
    assert one.text == other.text and "at_1" in one.text
    assert one.sites == ("?", "screw/t.c:12") and other.sites == ("?", "screw/t.c:40")
