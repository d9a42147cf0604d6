"""Write docs/development/code_map.md: a line for every file, the first sentence of its docstring or comment.

    python docs/make_code_map.py            rewrite the page
    python docs/make_code_map.py --check    say whether it is up to date (exit code 1 if not)

What the folders are, and what they may import, is in ARCHITECTURE.md.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "development" / "code_map.md"
HEAD = """# Code map

A line for every file, its own first sentence; `python docs/make_code_map.py` makes this page.
`ARCHITECTURE.md` says what the folders are for, what they may import, and how a call runs through them;
`kernels/README.md` is the guide to the kernels.
"""
#: In the order of the page, the package from the top down.
FOLDERS = (
    "gpu_collide", "gpu_collide/cli", "gpu_collide/checks", "gpu_collide/study", "gpu_collide/view",
    "gpu_collide/recordings", "gpu_collide/scenes", "gpu_collide/queries", "gpu_collide/pipeline",
    "gpu_collide/reference", "gpu_collide/results", "gpu_collide/bodies", "gpu_collide/geometry",
    "gpu_collide/backends", "kernels", "bench", "studies", "examples", "docs",
)  # fmt: skip


def first_sentence(path):
    """What a file says of itself.

    Raises
    ------
    ValueError
        It says nothing.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        said = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
    else:
        # The comment at the top up to its end, an empty line of it, or the first of its lists.
        end = r"\*/|\n \* (?:needs|in|out):|\n \*\n|\n(?!\s*(?:\*|//))"
        said = re.match(rf"(?:/\*|//)\s*(?:\w+(?:\.[hc])?:(?= ))?(.*?)(?:{end})", text, re.S)
        said = re.sub(r"\n\s*(?:\*|//)", " ", said[1]) if said else ""
    said = " ".join(said.split())
    if not said:
        raise ValueError(f"{path}: expected a first sentence that says what it is")
    end = re.search(r"(?<=[\w`)\"])(\.(?= [A-Z])|\?(?= ))", said)
    said = said[: end.end()] if end else said
    return said.rstrip(".,").replace("``", "`").replace("|", "\\|")


def files(folder):
    """Source files of a folder and its subfolders, one after the other."""
    deep = folder != "gpu_collide"
    found = (ROOT / folder).rglob("*") if deep else (ROOT / folder).glob("*")
    return sorted(p for p in found if p.suffix in (".py", ".h", ".c", ".js") and p.stat().st_size > 0)


def page():
    """The text of the page."""
    lines = [HEAD]
    for folder in FOLDERS:
        lines += [f"## `{folder}/`", "", "| file | |", "|---|---|"]
        for path in files(folder):
            lines.append(f"| `{path.relative_to(ROOT / folder).as_posix()}` | {first_sentence(path)} |")
        lines.append("")
    return "\n".join(lines)


def main(arguments):
    """Rewrite or check; returns the exit code."""
    made = page()
    if "--check" in arguments:
        same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == made
        if not same:
            print("docs/development/code_map.md is not up to date: python docs/make_code_map.py")
        return int(not same)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
