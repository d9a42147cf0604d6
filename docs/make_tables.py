"""Write the lists of columns in docs/tables.md from the package.

python docs/make_tables.py            rewrite the page
python docs/make_tables.py --check    say whether it is up to date (exit code 1 if not)
"""

import sys
from pathlib import Path

from gpu_collide.results.table_schema import TABLES, WORLD, Column

PAGE = Path(__file__).resolve().parent / "tables.md"
BEGIN, END = "<!-- columns: begin (made by docs/make_tables.py) -->", "<!-- columns: end -->"


def row(column: Column) -> str:
    names = ", ".join(f"`{name}`" for name in column.names)
    words = f" ({', '.join(member.name for member in column.words)})" if column.words else ""
    return f"| {names} | {column.unit or '-'} | {column.what}{words} |"


def with_tables(page: str) -> str:
    """The page with its lists made anew."""
    lines = []
    for name, tables in TABLES.items():
        lines += [f"### {name}", ""]
        for k, (table, columns) in enumerate(tables.items()):
            said = f'`table="{table}"`' + (", the default" if k == 0 else "")
            lines += [said + ":", "", "| column | unit | |", "|---|---|---|", *map(row, columns), ""]
    lines += ["### With `world=`", "", "| column | unit | |", "|---|---|---|", row(WORLD), ""]
    head, rest = page.split(BEGIN)
    return head + BEGIN + "\n\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1]


def main(arguments: list[str]) -> int:
    """Rewrite or check; returns the exit code."""
    page = PAGE.read_text(encoding="utf-8")
    made = with_tables(page)
    if "--check" in arguments:
        if made != page:
            print("docs/tables.md is not up to date: python docs/make_tables.py")
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
