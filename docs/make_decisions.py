"""Write docs/decisions/index.md from the heads of the decision records.

    python docs/make_decisions.py            rewrite the index
    python docs/make_decisions.py --check    say whether it is up to date (exit code 1 if not)

A record begins with its title, a line of status and a paragraph of what was decided:

    # 0008: Boxes on the screen for most meshes, rows of pixels for very large ones

    **Status:** accepted; amended by [0082](0082-nodes-cut-where-they-are-longest.md). **Area:** candidates.

    **Decided.** Three sentences at most, for a reader who wants nothing else.

Reasons, measurements and what was tried stand below. A record that is superseded or amended names the later
one, and that one names it.
"""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "decisions"
INDEX = FOLDER / "index.md"
HEAD = re.compile(
    r"# (\d{4}): (?P<title>.+)\n\n\*\*Status:\*\* (?P<status>.+?)\.? \*\*Area:\*\* (?P<area>.+)\.\n\n"
    r"\*\*Decided\.\*\* (?P<decided>(?:.+\n)+)\n"
)
STATUS = ("accepted", "rejected", "record", "prediction")
LINK = re.compile(r"\[(\d{4})\]\(([^)]+)\)")
BACK = {"superseded by": "supersedes", "amended by": "amends"}
BACK |= {back: word for word, back in BACK.items()}
# In the order of the index.
AREAS = (
    "screw method", "candidates", "first contact", "overlap", "broad phase", "scene", "recordings", "movers",
    "sweeps", "characters", "meshes", "results", "files", "visualization", "backends", "GPU", "numerics",
    "performance", "security", "architecture", "testing", "project",
)  # fmt: skip


def read(folder=FOLDER):
    """The heads of all records, by number.

    Raises
    ------
    ValueError
        A record whose head is not of the form above, or relations that the other record does not name.
    """
    records = {}
    for path in sorted(folder.glob("[0-9]*.md")):
        head = HEAD.match(path.read_text(encoding="utf-8"))
        if head is None:
            raise ValueError(
                f"{path.name}: expected title, status, area and what was decided, as in {__file__}"
            )
        record = {**head.groupdict(), "file": path.name, "relations": _relations(path.name, head["status"])}
        if head["area"] not in AREAS:
            raise ValueError(f"{path.name}: expected an area of {', '.join(AREAS)}, got {head['area']!r}")
        if not path.name.startswith(head[1]):
            raise ValueError(f"{path.name}: expected its number in the title, got {head[1]}")
        records[head[1]] = record
    for number, record in records.items():
        for word, other in record["relations"]:
            if other not in records or (BACK[word], number) not in records[other]["relations"]:
                raise ValueError(
                    f"{record['file']}: {word} {other}, which does not say {BACK[word]} {number}"
                )
    return records


def _relations(name, status):
    """(word, number) of what a status says about other records."""
    found = []
    parts = status.split("; ")
    if not parts[0].startswith("superseded by ") and parts.pop(0) not in STATUS:
        raise ValueError(f"{name}: expected a status of {', '.join(STATUS)} or superseded by, got {status!r}")
    for part in parts:
        word = next((word for word in BACK if part.startswith(word)), None)
        if word is None or not LINK.search(part):
            raise ValueError(f"{name}: expected {', '.join(BACK)} and links, got {part!r}")
        found += [(word, number) for number, _ in LINK.findall(part)]
    return found


def index(records):
    """The text of the index."""
    lines = [
        "# Decisions",
        "",
        "Why things are as they are. Each record says at its top what was decided and whether it still",
        "holds; reasons, measurements and failed attempts follow. `python docs/make_decisions.py` makes this",
        "page. Numbers are not consecutive.",
    ]
    for area in AREAS:
        inside = [(number, r) for number, r in records.items() if r["area"] == area]
        if not inside:
            continue
        lines += ["", f"## {area[0].upper()}{area[1:]}", "", "| | decision | status |", "|---|---|---|"]
        for number, r in inside:
            lines.append(f"| {number} | [{r['title']}]({r['file']}) | {r['status']} |")
    return "\n".join(lines) + "\n"


def main(arguments):
    """Rewrite or check; returns the exit code."""
    made = index(read())
    if "--check" in arguments:
        same = INDEX.is_file() and INDEX.read_text(encoding="utf-8") == made
        if not same:
            print("docs/decisions/index.md is not up to date: python docs/make_decisions.py")
        return int(not same)
    INDEX.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
