"""What NVRTC's machine code asks of a multiprocessor: registers and stack of each kernel, from its ELF."""

from __future__ import annotations

import struct
from typing import NamedTuple

__all__ = ["Needs", "length", "needs", "occupancy"]

# Attributes of the section .nv.info, each with a symbol and a number: EIATTR_REGCOUNT, EIATTR_FRAME_SIZE and
# EIATTR_MIN_STACK_SIZE, as `cuobjdump -elf` names them.
_REGISTERS, _STACK = 0x2F, 0x12
_SIZED = 4  # the format of an attribute that says its size; of others the value stands in its place

_NOP, _BRA = 0x918, 0x947

# Of a multiprocessor of compute capability 9.0: CUDA C++ Programming Guide 12.9, "Technical Specifications
# per Compute Capability".
WARPS, GROUPS, REGISTERS, WARP = 64, 32, 65536, 32
UNIT = 256  # registers that a warp takes at once
SHARED, OF_SYSTEM = 228 << 10, 1024  # bytes of shared memory; of each group's the system takes so much


class Needs(NamedTuple):
    """Registers and bytes of stack of a work-item, bytes of shared memory of a group, the
    system's 1,024 among them if it has any of its own."""

    registers: int
    stack: int
    shared: int


def needs(cubin: bytes) -> dict[str, Needs]:
    """What each kernel of a cubin needs, by name."""
    sections = _sections(cubin)
    symbols = _symbols(cubin, sections)
    found: dict[int, dict[int, int]] = {_REGISTERS: {}, _STACK: {}}
    data, at = _bytes(cubin, sections[".nv.info"]), 0
    while at < len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        if form == _SIZED:
            if attribute in found:
                symbol, value = struct.unpack_from("<II", data, at + 4)
                found[attribute][symbol] = value
            at += size
        at += 4
    shared = {name: header[5] for name, header in sections.items()}
    kernels = {name.removeprefix(".nv.info.") for name in sections if name.startswith(".nv.info.")}
    return {
        symbols[i]: Needs(n, found[_STACK].get(i, 0), shared.get(f".nv.shared.{symbols[i]}", 0))
        for i, n in found[_REGISTERS].items()
        if symbols[i] in kernels
    }


def occupancy(registers: int, group: int, shared: int = 0) -> float:
    """Share of a multiprocessor's warps that groups of so many work-items fill, with so many registers each
    and bytes of shared memory a group."""
    warps = -(-group // WARP)
    each = -(-registers * WARP // UNIT) * UNIT
    groups = min(GROUPS, WARPS // warps, REGISTERS // each // warps, SHARED // max(shared, OF_SYSTEM))
    return groups * warps / WARPS


def length(cubin: bytes, kernel: str) -> int:
    """Machine instructions of a kernel, those that do nothing left out, with which its code is filled up."""
    code = _bytes(cubin, _sections(cubin)[f".text.{kernel}"])
    ops = (int.from_bytes(code[at : at + 2], "little") & 0xFFF for at in range(0, len(code), 16))
    return sum(op not in (_NOP, _BRA) for op in ops)


def _sections(elf: bytes) -> dict[str, tuple]:
    start, count, names = (
        struct.unpack_from(form, elf, at)[0] for form, at in (("<Q", 0x28), ("<H", 0x3C), ("<H", 0x3E))
    )
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, start + 64 * i) for i in range(count)]
    return {_name(elf, headers[names][4] + h[0]): h for h in headers}


def _name(elf: bytes, at: int) -> str:
    return elf[at : elf.index(b"\0", at)].decode()


def _bytes(elf: bytes, header: tuple) -> bytes:
    return elf[header[4] : header[4] + header[5]]


def _symbols(elf: bytes, sections: dict[str, tuple]) -> list[str]:
    table, names = _bytes(elf, sections[".symtab"]), sections[".strtab"][4]
    return [_name(elf, names + struct.unpack_from("<I", table, at)[0]) for at in range(0, len(table), 24)]
