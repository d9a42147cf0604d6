"""What a PTX instruction costs a multiprocessor of compute capability 9.0.

Two tables. `_MADE_OF`: how many machine instructions NVRTC 12.9 makes of an opcode for sm_90, those of its
slow path left out: had from the length of its code, which tests/ptx/test_weights.py finds again. `PER_CLOCK`:
how many lanes a multiprocessor serves in a clock cycle, by kind of instruction: CUDA C++ Programming Guide
12.9, "Throughput of Native Arithmetic Instructions", column 9.0; memory: the 32 units for reads and writes of
an SM in NVIDIA's H100 white paper.
"""

from __future__ import annotations

from functools import cache

__all__ = ["PER_CLOCK", "PIPES", "costs", "made_of"]

#: Lanes a clock cycle: float32; float64; integers, comparisons, logic; what the unit for special functions
#: does (conversions from and to 64 bits, the first guess of a reciprocal or a root); reads and writes.
PER_CLOCK = {"single": 128, "double": 64, "whole": 64, "special": 16, "memory": 32}
PIPES = tuple(PER_CLOCK)

# Machine instructions by pipe, of opcodes that become several.
_MADE_OF = {
    "div.rn.f64": {"double": 8, "whole": 11, "special": 1},
    "rcp.rn.f64": {"double": 5, "whole": 11, "special": 1},
    "sqrt.rn.f64": {"double": 8, "whole": 11, "special": 1},
    "div.rn.f32": {"single": 5, "whole": 7, "special": 1},
    "rcp.rn.f32": {"single": 2, "whole": 9, "special": 1},
    "sqrt.rn.f32": {"single": 5, "whole": 6, "special": 1},
    "div.s32": {"whole": 22, "special": 1},
    "rem.s32": {"whole": 20, "special": 1},
    "div.u32": {"whole": 16, "special": 1},
    "rem.u32": {"whole": 15, "special": 1},
    "div.s64": {"whole": 27, "special": 1},
    "mul.lo.s64": {"whole": 4},
    "mul.lo.u64": {"whole": 4},
}

_WEIGHT = {pipe: 4.0 if pipe == "special" else 1.0 for pipe in PIPES}
_PAIRS = {"add", "sub", "and", "or", "xor", "not", "neg", "abs", "min", "max", "shl", "shr", "setp", "selp"}


def made_of(op: str) -> dict[str, int]:
    """Machine instructions that an opcode becomes, by the pipe that takes them."""
    if op in _MADE_OF:
        return _MADE_OF[op]
    name, *suffixes = op.split(".")
    t = suffixes[-1] if suffixes else ""
    if name in ("ld", "st", "atom"):
        return {"whole" if "param" in suffixes else "memory": 1}  # an argument is moved between registers
    if name == "cvt":
        of, floats = suffixes[-2:], any(s[0] == "f" for s in suffixes[-2:])
        return {"special" if floats and any(s[1:] == "64" for s in of) else "whole": 1}
    if name in ("popc", "clz"):
        return {"special": 1}
    if name in _PAIRS and t in ("s64", "u64", "b64") or op == "selp.f64":
        return {"whole": 2}
    if t == "f64" and name != "mov":
        return {"double": 1}
    if t == "f32" and name in ("add", "sub", "mul", "fma", "neg", "abs"):
        return {"single": 1}
    return {"whole": 1}


@cache
def costs(op: str) -> dict[str, float]:
    """`instructions`: machine instructions, those of the special unit four times, since it serves a quarter
    of the lanes that the others do; and how many each pipe takes."""
    made = made_of(op)
    total = sum(n * _WEIGHT[pipe] for pipe, n in made.items())
    return {"instructions": total} | {pipe: float(made.get(pipe, 0)) for pipe in PIPES}
