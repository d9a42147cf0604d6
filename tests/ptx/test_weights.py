"""That NVRTC makes as many machine instructions of the slow opcodes as the table says."""

import pytest

from gpu_collide.backends import cuda, nvrtc
from tests.ptx import cubin
from tests.ptx.weights import PER_CLOCK, costs, made_of

SLOW = {
    "div.rn.f64": ("double", "x / Y"),
    "rcp.rn.f64": ("double", "1.0 / (x + Y)"),
    "sqrt.rn.f64": ("double", "__dsqrt_rn(x + Y)"),
    "div.rn.f32": ("float", "x / Y"),
    "rcp.rn.f32": ("float", "1.0f / (x + Y)"),
    "sqrt.rn.f32": ("float", "__fsqrt_rn(x + Y)"),
    "div.s32": ("int", "x / Y"),
    "rem.s32": ("int", "x % Y"),
    "div.u32": ("unsigned", "x / Y"),
    "mul.lo.s64": ("long long", "x * Y"),
}


def length(kind, expression, n):
    """Machine instructions of a kernel that computes an expression n times, of which each needs the last."""
    lines = "".join(f"    x = {expression.replace('Y', f'y[{i}]')};\n    o[{i}] = x;\n" for i in range(n))
    text = f'extern "C" __global__ void k(const {kind} *__restrict__ y, {kind} *__restrict__ o)\n{{\n'
    return cubin.length(
        cuda.compile_only(90, text=f"{text}    {kind} x = y[100];\n{lines}}}\n", major=12), "k"
    )


@pytest.mark.slow
@pytest.mark.parametrize("op", SLOW)
def test_slow_opcodes_are_as_long_as_the_table_says(possible, op):
    if nvrtc.version(12) != "12.9":
        pytest.skip("the table is of NVRTC 12.9")
    kind, expression = SLOW[op]
    each = (length(kind, expression, 24) - length(kind, expression, 8)) / 16
    each -= 3 if "+" in expression else 2  # a read, a write, and the sum
    if op not in ("div.s32", "rem.s32", "div.u32", "mul.lo.s64"):
        each -= 2  # the slow path's constants
    assert sum(made_of(op).values()) == pytest.approx(each, abs=2.0)


def test_every_opcode_costs_something():
    assert costs("add.rn.f64") == {"instructions": 1.0} | {p: float(p == "double") for p in PER_CLOCK}
    assert costs("cvt.rn.f32.f64")["special"] == 1.0 and costs("cvt.rn.f32.f64")["instructions"] == 4.0
    assert costs("add.s64")["whole"] == 2.0 and costs("ld.global.v4.f32")["memory"] == 1.0
    assert costs("ld.param.u64")["memory"] == 0.0 and costs("setp.lt.f32")["whole"] == 1.0
    assert costs("sqrt.rn.f64")["instructions"] > 20.0
