"""Write the table of tolerances in docs/conventions.md from kernels/common/gc_constants.h.

python docs/make_conventions.py            rewrite the table
python docs/make_conventions.py --check    say whether it is up to date (exit code 1 if not)
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER, PAGE = ROOT / "kernels" / "common" / "gc_constants.h", ROOT / "docs" / "conventions.md"
BEGIN = "<!-- tolerances: begin (made by docs/make_conventions.py) -->"
END = "<!-- tolerances: end -->"
PRECISIONS = {"mixed": 0, "double": 1, "single": 2}

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


def table(text):
    """The table of all constants in Markdown, one row per constant, one column per precision."""
    by_precision = {name: read_constants(text, value) for name, value in PRECISIONS.items()}
    rows = ["| constant | mixed | double | single | meaning |", "|---|---|---|---|---|"]
    names = list(dict.fromkeys(name for found in by_precision.values() for name in found))
    for name in names:
        entries = [found.get(name) for found in by_precision.values()]
        values = [entry[0] if entry else "" for entry in entries]
        # A comment that stands in one branch only explains the constant in the other one, too.
        comment = next((entry[1] for entry in entries if entry and entry[1]), "as above")
        rows.append(f"| `{name}` | " + " | ".join(values) + f" | {comment.replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def with_table(page, text):
    """The page with the table between its two marks made anew."""
    head, rest = page.split(BEGIN)
    return f"{head}{BEGIN}\n\n{table(text)}\n\n{END}{rest.split(END)[1]}"


def main(arguments):
    """Rewrite or check; returns the exit code."""
    page = PAGE.read_text(encoding="utf-8")
    made = with_table(page, HEADER.read_text(encoding="utf-8"))
    if "--check" in arguments:
        if made != page:
            print("docs/conventions.md is not up to date: python docs/make_conventions.py")
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
