"""The kernel text: where it is, what its files need, and how they are joined into programs.

Kernels are declared once, in C. This module joins the files of ``kernels/`` into one text, with a ``#line``
before each so that every compiler names our file and line. What the text declares is read by `declarations`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from gpu_collide.backends import declarations
from gpu_collide.backends.declarations import Record, parse

__all__ = [
    "PROGRAMS",
    "constants",
    "join",
    "joined",
    "kernel_files",
    "kernels_dir",
    "known",
    "needs",
    "program",
    "program_of",
    "record",
    "resolve",
    "source",
]

PROGRAMS = {
    "bvh": (
        "broad_phase/b01_bounds.c",
        "broad_phase/b02_keys.c",
        "broad_phase/b03_tree.c",
        "broad_phase/b04_pairs.c",
    ),
    "near_faces": ("narrow_phase/near/b05_features.c", "narrow_phase/near/b06_gather.c"),
    "screw": (
        "narrow_phase/frame/s01_screw.c",
        "filters/f01_spheres.c",
        "filters/f02_boxes.c",
        "filters/f03_plane.c",
    ),
    "screen": ("narrow_phase/screen/screen.c",),
    "screen_small": ("narrow_phase/screen/screen_small.c",),
    "first_contact": ("narrow_phase/first/screen_first.c",),
    "hull_separation": ("narrow_phase/first/screen_hulls.c",),
    "hulls_apart": ("narrow_phase/first/hulls_apart.c",),
    "solve": ("narrow_phase/solve/s07_solve.c", "narrow_phase/contact/s08_contacts.c"),
    "solve_split": ("narrow_phase/solve/s07_find.c",),
    "solve_raster": ("narrow_phase/raster/s07_answer.c",),
    "bodies": ("narrow_phase/frame/s01_bodies.c",),
    "start": ("narrow_phase/solve/s07_start.c",),
    "spheres": ("narrow_phase/solve/s07_spheres.c",),
    "overlap": ("narrow_phase/overlap/s09_overlap.c",),
    "clearance": ("clearance/c01_clearance.c",),
    "depth": ("clearance/c02_depth.c",),
    "manifolds": ("clearance/c03_manifolds.c",),
    "frusta": ("clearance/c04_frusta.c",),
    "primitives": ("pluecker/p01_primitives.c",),
    "translate": ("pluecker/p02_translate.c",),
    "rotate": ("pluecker/p03_rotate.c",),
    "contacts": ("pluecker/p04_contacts.c",),
    "sweep": ("sweep/w01_first.c", "sweep/w02_all.c"),
    "characters": ("sweep/w03_planes.c", "sweep/w04_clip.c", "sweep/w05_slide.c"),
    "mesh": ("mesh/m01_patches.c", "mesh/m02_nodes.c", "mesh/m03_cones.c", "mesh/m04_order.c"),
    "upload": (
        "upload/g01_poses.c",
        "upload/g02_pairs.c",
        "upload/g03_select.c",
        "upload/g04_apart.c",
        "upload/g09_least_turn.c",
    ),
    "join_near_faces": ("upload/g05_join.c",),
    "robots": ("robots/r01_frames.c", "robots/r02_deviations.c"),
    "device_queries": ("upload/g06_casts.c", "upload/g07_results.c", "upload/g08_turning.c"),
}
"""What is compiled together: stages that a query launches together. A stage with entry points is in one."""

#: Programs that are others with a macro that is 1 in them; their kernels have its word behind their names.
VARIANTS = {
    **{
        name: (name.removesuffix("_body"), "GC_BODY_MOTION")
        for name in ("solve_body", "overlap_body", "clearance_body", "depth_body", "sweep_body")
    },
    "solve_distance": ("solve", "GC_AT_DISTANCE"),
    "start_distance": ("start", "GC_AT_DISTANCE"),
}
_ENTRY = re.compile(r"(?m)^(\s*GC_(?:CROWDED_)?KERNEL\s+void\s+(?!gc_)\w+)")


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
    files = sorted(path for kind in ("*.h", "*.c") for path in folder.rglob(kind))
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


@lru_cache(maxsize=2 * len(PROGRAMS))
def joined(*names: str) -> str:
    """The text of some kernel files, such as ``"narrow_phase/contact/gc_roots.h"``, and of all that these
    need; read once
    per process."""
    folder = kernels_dir()
    return join([folder / name for name in resolve(names, known())], folder)


@lru_cache(maxsize=1)
def source() -> str:
    """The text of all kernel files."""
    return join(kernel_files(), kernels_dir())


def program(name: str) -> str:
    """The text of one of `PROGRAMS` or `VARIANTS`, read once per process.

    Raises
    ------
    KeyError
        There is no such program.
    """
    if name in VARIANTS:
        of, macro = VARIANTS[name]
        return f"#define {macro} 1\n" + _ENTRY.sub(rf"\1{name.removeprefix(of)}", program(of))
    if name not in PROGRAMS:
        raise KeyError(f"no program named {name!r}; there are {', '.join([*PROGRAMS, *VARIANTS])}")
    return joined(*PROGRAMS[name])


@lru_cache(maxsize=1)
def _homes() -> dict[str, str]:
    """Program of each entry point."""
    return {kernel: name for name in (*PROGRAMS, *VARIANTS) for kernel in parse(program(name))}


def program_of(kernel: str) -> str:
    """Name of the program that has a kernel; KeyError lists all kernels."""
    if kernel not in _homes():
        raise KeyError(f"no kernel named {kernel!r}; there are {', '.join(_homes())}")
    return _homes()[kernel]


def record(name: str) -> Record:
    """The record that the kernels call ``GC_NAME``, such as ``record("screw")``; KeyError lists all."""
    declared = declarations.records(source())
    if name not in declared:
        raise KeyError(f"no record named {name!r}; there are {', '.join(declared)}")
    return declared[name]


@lru_cache(maxsize=8)
def constants(precision: str = "mixed", *names: str) -> dict[str, int | float]:
    """Numbers that kernel files define under `precision`; default: those of all stages.

    Parameters
    ----------
    precision : str, optional
        One of `declarations.PRECISIONS`.
    *names : str
        Files, such as ``"tree/gc_bvh.h"``; default: ``common/gc_constants.h`` and ``common/gc_types.h``.
    """
    names = names or ("common/gc_constants.h", "common/gc_types.h")
    text = "".join((kernels_dir() / name).read_text(encoding="utf-8") for name in names)
    return declarations.constants(text, precision)
