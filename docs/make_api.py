"""Write the pages of docs/api, and the listing of the public API that tests compare, from the package itself.

    python docs/make_api.py            rewrite both
    python docs/make_api.py --check    say whether they are up to date (exit code 1 if not)

The listing, tests/project/public_api.txt, has a line for each public name, with its signature, and for each
command with its options. A change of it is a change of the public API: see CONTRIBUTING.md.
"""

import argparse
import enum
import inspect
import sys
from pathlib import Path

import gpu_collide as gc
import gpu_collide.errors
from gpu_collide.cli.main import build_parser

ROOT = Path(__file__).resolve().parent.parent
FOLDER, LISTING = ROOT / "docs" / "api", ROOT / "tests" / "project" / "public_api.txt"
MADE = "<!-- made by docs/make_api.py -->"
#: Pages in order: file, title, what it says first, names. A module stands for all its public names.
PAGES = (
    (
        "collisions.md", "Collisions",
        "Contacts of pairs of bodies, how near they come, and the pairs that may meet.",
        ("collide", "clearance", "contacts_at", "check_motions", "Robot", "Joint", "find_pairs", "BroadPhase",
         "Scene", "collide_trajectories", "events", "events_of", "Tuning", "screw_motion",
         "motion_difference", "chord_error"),
    ),
    (
        "bodies.md", "Meshes, poses, recordings", "What queries are given.",
        ("Mesh", "load_mesh", "shapes", "Compound", "Bodies", "Poses", "Recording", "load_recording"),
    ),
    (
        "results.md", "Results",
        "What `gc.collide`, `gc.clearance`, `gc.contacts_at` and `gc.collide_trajectories` return; "
        "[as tables](../tables.md).",
        ("Contacts", "Clearance", "Manifolds", "PointMatch", "MotionChecks", "Status", "Kind",
         "FilterReport", "TrajectoryContacts",
         "Encounters", "NearMisses", "TrafficEvents", "EventKind", "Side"),
    ),
    (
        "movers.md", "Movers",
        "`gc.pluecker`: bodies, points and polygons that move among obstacles. "
        "Method: [movers](../pluecker.md).",
        ("pluecker",),
    ),
    (
        "sweeps.md", "Sweeps and characters",
        "`gc.sweep`: points, spheres, ellipsoids and clusters on straight paths. Methods: "
        "[sweeps](../sweep.md), [characters](../characters.md).",
        ("sweep",),
    ),
    (
        "batch.md", "Many recordings", "`gc.batch`: [many recordings](../guide/batch.md) as one run.",
        ("batch",),
    ),
    (
        "view.md", "Pictures and pages", "`gc.view`, with examples in [visualization](../visualization.md).",
        ("view",),
    ),
    (
        "machine.md", "Devices, errors, baselines",
        "What the machine offers, what is raised, and the classic method to compare with.",
        ("devices", "errors", "baselines"),
    ),
)  # fmt: skip


def public():
    """Every public object by its full name, in the order of the pages: ``{"gc.sweep.slide": function}``."""
    found = {}
    for name in [name for *_, names in PAGES for name in names]:
        value = getattr(gc, name)
        if inspect.ismodule(value):
            inside = {each: getattr(value, each) for each in value.__all__}
            functions_first = sorted(inside, key=lambda each: inspect.isclass(inside[each]))
            found |= {f"gc.{name}.{each}": inside[each] for each in functions_first}
        else:
            found[f"gc.{name}"] = value
    return found


def page(title, head, names):
    """The text of a page: a directive of mkdocstrings for each object."""
    lines = [f"# {title}", "", MADE, "", head, ""]
    for full, value in public().items():
        if full.removeprefix("gc.").split(".")[0] in names:
            lines += [
                f"::: {_place(value)}",
                "    options:",
                f"      heading: {full}",
                f"      toc_label: {full}",
                "",
            ]
    return "\n".join(lines)


def contents():
    """The first page: every name with the first sentence of its docstring."""
    lines = ["# API", "", MADE, "", "`import gpu_collide as gc`. Every public name, page by page:", ""]
    for file, title, _, names in PAGES:
        lines += [f"## [{title}]({file})", "", "| name | what it is |", "|---|---|"]
        for full, value in public().items():
            if full.removeprefix("gc.").split(".")[0] in names:
                what = inspect.getdoc(value).split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
                lines.append(f"| [`{full}`]({file}#{_place(value)}) | {what} |")
        lines.append("")
    return "\n".join(lines)


def _place(value):
    return f"{value.__module__}.{value.__qualname__}"


def listing():
    """A line for each public name, member and command."""
    lines = []
    for full, value in public().items():
        lines.append(full + (_signature(value) if inspect.isfunction(value) or _has_own_init(value) else ""))
        if inspect.isclass(value) and not issubclass(value, Exception):
            lines += [f"{full}.{line}" for line in _members(value)]
    commands = next(a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    for name, parser in sorted(commands.choices.items()):
        options = sorted(max(a.option_strings, key=len) for a in parser._actions if a.option_strings)
        given = [a.dest for a in parser._actions if not a.option_strings]
        lines.append(" ".join(["gpu-collide", name, *given, *options]))
    return "\n".join(lines) + "\n"


def _has_own_init(value):
    return inspect.isclass(value) and not issubclass(value, (Exception, enum.Enum))


def _members(value):
    """Public members of a class, its own and those of the package's base classes."""
    if issubclass(value, enum.Enum):
        return [f"{each.name} = {each.value}" for each in value]
    inside = [c for c in value.__mro__ if c.__module__.startswith("gpu_collide")]
    names = {
        name for c in inside for name in (*vars(c), *vars(c).get("__annotations__", ())) if name[0] != "_"
    }
    return [name + _signature_of_member(value, name) for name in sorted(names)]


def _signature_of_member(value, name):
    member = inspect.getattr_static(value, name, None)
    if isinstance(member, (classmethod, staticmethod)):
        member = member.__func__
    return _signature(member) if inspect.isfunction(member) else ""


def _signature(value):
    """Names, kinds and defaults of the parameters; annotations are mypy's business."""
    signature = inspect.signature(value)
    bare = [
        p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name not in ("self", "cls")
    ]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def made():
    """The text of every file, by path."""
    texts = {FOLDER / file: page(title, head, names) for file, title, head, names in PAGES}
    return {FOLDER / "index.md": contents(), **texts, LISTING: listing()}


def main(arguments):
    """Rewrite or check; returns the exit code."""
    old = [p for p, text in made().items() if not p.is_file() or p.read_text(encoding="utf-8") != text]
    if "--check" in arguments:
        if old:
            print("the public API is not as", ", ".join(p.name for p in old), "say: python docs/make_api.py")
        return int(bool(old))
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
