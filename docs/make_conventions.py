"""Write the tables of tolerances in docs/conventions.md from the kernels' header and the reference.

python docs/make_conventions.py            rewrite the tables
python docs/make_conventions.py --check    say whether they are up to date (exit code 1 if not)

The reference has constants of its own, since it shares no code with the kernels. `REFERENCE` says which of
them stands for which constant of the header; where the values differ, the comment above it is the reason.
"""

import ast
import re
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
HEADER, PAGE = ROOT / "kernels" / "common" / "gc_constants.h", ROOT / "docs" / "conventions.md"
BEGIN = "<!-- {}: begin (made by docs/make_conventions.py) -->"
END = "<!-- {}: end -->"
PRECISIONS = {"mixed": 0, "double": 1, "single": 2}
PACKAGE = ROOT / "gpu_collide"
REFERENCE = {
    "GC_TOL_INSIDE": "reference/narrow_phase/s07_solve.py TOUCH",
    "GC_PLACE_ROUNDING": "reference/narrow_phase/s07_solve.py PLACE_ROUNDING",
    "GC_PLACE_DOUBT": "reference/narrow_phase/s07_solve.py PLACE_DOUBT",
    "GC_TOL_TOUCH": "reference/narrow_phase/s07_solve.py TOUCH",
    "GC_TOL_PARALLEL": "reference/narrow_phase/_intervals.py PARALLEL",
    "GC_NEARLY_PARALLEL": "reference/narrow_phase/s08_contacts.py NEARLY_PARALLEL",
    "GC_TOL_TIE": "reference/narrow_phase/_properness.py TIE",
    "GC_PROPERNESS_STEPS": "reference/narrow_phase/s07_solve.py PROPERNESS_STEPS",
    "GC_TOL_FACING": "reference/narrow_phase/_properness.py FACING",
    "GC_TOL_CONE": "reference/narrow_phase/distance_functions.py CONE",
    "GC_TAU_TIME": "reference/narrow_phase/s01_screw.py TAU_TIME",
    "GC_TAU_LENGTH": "reference/narrow_phase/s01_screw.py TAU_LENGTH",
    "GC_CURVE_ROUNDING": "reference/narrow_phase/_roots.py ROUNDING",
    "GC_MIN_HALF_SINE": "reference/narrow_phase/_quaternion.py NO_TURN",
    "GC_HALF_TURN": "reference/narrow_phase/_quaternion.py HALF_TURN",
    "GC_AXIS_COMPONENT": "reference/narrow_phase/_quaternion.py AXIS_COMPONENT",
    "GC_AXIAL": "reference/narrow_phase/s01_screw.py AXIAL",
    "GC_NO_MOTION": "reference/narrow_phase/s01_screw.py REST",
    "GC_MAX_MOTION": "reference/narrow_phase/s01_screw.py LONGEST_WAY",
    "GC_OVERLAP_DEPTH": "reference/narrow_phase/s09_overlap.py DEPTH",
    "GC_OVERLAP_ROUNDING": "reference/narrow_phase/s09_overlap.py ROUNDING",
    "GC_OVERLAP_SHARE": "reference/narrow_phase/s09_overlap.py SHARE",
    "GC_OVERLAP_SPECK": "reference/narrow_phase/s09_overlap.py SPECK",
    "GC_CORNER_PARALLEL": "reference/narrow_phase/_corners.py PARALLEL",
    "GC_CORNER_ROOM": "reference/narrow_phase/_corners.py ROOM",
    "GC_TOL_QUATERNION": "bodies/units.py UNIT_TOLERANCE",
    "GC_ANSWER_AXIS": "reference/narrow_phase/s03_project.py ON_AXIS",
    "GC_CULL_PAD": "reference/narrow_phase/s02_facing.py POSITION_PAD",
    "GC_CULL_FACING": "reference/narrow_phase/s02_facing.py FACING_PAD",
    "GC_CULL_AXIS": "reference/narrow_phase/s02_facing.py AXIS_PAD",
    "GC_CULL_PROPERNESS": "reference/narrow_phase/s07_solve.py PROPERNESS_PAD",
    "GC_MAX_NEWTON": "reference/narrow_phase/_roots.py NEWTON_STEPS",
    "GC_MAX_LEVEL": "reference/narrow_phase/_roots.py MAX_DEPTH",
    "GC_MAX_ROWS": "reference/narrow_phase/s03_project.py MOST_ROWS",
}
"""Constant of the header to the file (in the package) and the name of the reference's own."""

_CONDITION = re.compile(r"#if GC_PRECISION (==|!=) (\d)$")
_DEFINE = re.compile(r"#define (GC_\w+) (?:GC_[RF]\()?([-+.\deE]+)\)?$")


def read_constants(text, precision):
    """Values and comments of the constants that hold for a precision.

    Parameters
    ----------
    text : str
        The header. Conditions are ``#if GC_PRECISION == N`` or ``!= N``, with ``#else``; a comment stands
        before the constant that it explains.
    precision : int
        Value of GC_PRECISION: 0, 1 or 2.

    Returns
    -------
    dict of str to (str, str)
        Value as written and comment ("" if none), by name.
    """
    found, active, comment = {}, [], ""
    # The head of the file, its guard and its own explanation, explain no constant.
    body = text.split("#define GC_CONSTANTS_H", 1)[1]
    for part in re.findall(r"/\*.*?\*/|[^\n]+", body, re.S):
        line = part.strip()
        condition, define = _CONDITION.match(line), _DEFINE.match(line)
        if line.startswith("/*"):
            comment = re.sub(r"\s+", " ", line[2:-2].replace("\n *", " ")).strip()
        elif condition:
            active.append((precision == int(condition[2])) == (condition[1] == "=="))
        elif line == "#else":
            active[-1] = not active[-1]
        elif line == "#endif":
            active = active[:-1]
        elif define:
            if all(active):
                found[define[1]] = (define[2], comment)
            comment = ""
        elif line:
            raise ValueError(f"{HEADER.name}: cannot read the line {line!r}")
    return found


def read_reference(text):
    """Numbers that a Python module defines at its top level: name to (value, comment above it)."""
    found = {}
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        try:
            value = eval(compile(ast.Expression(node.value), "", "eval"), {"np": np})
        except NameError:  # made from other names: no number of its own
            continue
        if isinstance(value, (int, float)):
            above = []
            for line in reversed(lines[: node.lineno - 1]):
                if not line.startswith("#"):
                    break
                above.insert(0, line[1:].strip())
            found[node.targets[0].id] = (value, " ".join(above))
    return found


def reference_constants():
    """The reference's own: constant of the header to (value, comment, where it stands)."""
    found = {}
    for name, place in REFERENCE.items():
        file, own = place.split()
        value, comment = read_reference((PACKAGE / file).read_text(encoding="utf-8"))[own]
        found[name] = (value, comment, f"`{own}` in `{Path(file).name}`")
    return found


def _short(number):
    return re.sub(r"e([-+])0*", lambda found: "e" + found[1].strip("+"), f"{number:.2g}")


def table(text, reference):
    """The table of all constants in Markdown, one row per constant, one column per precision and one for the
    reference (a dash where it has no such number)."""
    by_precision = {name: read_constants(text, value) for name, value in PRECISIONS.items()}
    rows = ["| constant | mixed | double | single | `reference` | meaning |", "|---|---|---|---|---|---|"]
    names = list(dict.fromkeys(name for found in by_precision.values() for name in found))
    for name in names:
        entries = [found.get(name) for found in by_precision.values()]
        values = [entry[0] if entry else "" for entry in entries]
        own = "-"
        if name in reference:
            number = reference[name][0]
            own = values[1] if number == float(values[1]) else f"**{_short(number)}**"
        # A comment that stands in one branch only explains the constant in the other one, too.
        comment = next((entry[1] for entry in entries if entry and entry[1]), "as above")
        rows.append(f"| `{name}` | {' | '.join(values)} | {own} | {comment.replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def differences(text, reference):
    """The table of the constants in which the reference differs from `double`, each with the reason."""
    double = read_constants(text, PRECISIONS["double"])
    rows = ["| constant | double | `reference` | where, and why |", "|---|---|---|---|"]
    for name, (value, comment, where) in reference.items():
        if value != float(double[name][0]):
            if not comment:
                raise ValueError(f"{where} differs from {name}, and no comment above it says why")
            rows.append(f"| `{name}` | {double[name][0]} | {_short(value)} | {where}: {comment} |")
    return "\n".join(rows)


def with_tables(page, text):
    """The page with the tables between its marks made anew."""
    reference = reference_constants()
    made = {"tolerances": table(text, reference), "differences": differences(text, reference)}
    for name, rows in made.items():
        begin, end = (mark.format(name) for mark in (BEGIN, END))
        head, rest = page.split(begin)
        page = f"{head}{begin}\n\n{rows}\n\n{end}{rest.split(end)[1]}"
    return page


def main(arguments):
    """Rewrite or check; returns the exit code."""
    page = PAGE.read_text(encoding="utf-8")
    made = with_tables(page, HEADER.read_text(encoding="utf-8"))
    if "--check" in arguments:
        if made != page:
            print("docs/conventions.md is not up to date: python docs/make_conventions.py")
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
