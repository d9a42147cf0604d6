"""Write the section "Numbers" of README.md from the measurements in bench/results.

    python -m bench fcl cubes cars tori      measure
    python docs/make_numbers.py              rewrite the section
    python docs/make_numbers.py --check      say whether it is up to date (exit code 1 if not)

Only what was measured appears: a device without files has no table, and without results the section says so.
"""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = ROOT / "bench" / "results", ROOT / "README.md"
BEGIN = "<!-- numbers: begin (made by docs/make_numbers.py from bench/results) -->"
END = "<!-- numbers: end -->"
SHAPES = ("cubes", "cars", "tori")


def read(path):
    """A results file.

    Parameters
    ----------
    path : Path
        CSV with lines of the form ``# key: value`` before the header.

    Returns
    -------
    about : dict of str to str
    rows : list of dict of str to str
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    return about, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def section(results):
    """The text of the section for a folder of results."""
    parts = []
    for folder in sorted(path for path in results.glob("*") if path.is_dir()):
        parts += _one_device(folder)
    if not parts:
        return "Nothing has been measured for this version yet: `python -m bench` measures on your machine."
    parts.append(
        "`bench/README.md` says what is measured and how; the files behind it are in `bench/results/`."
    )
    return "\n\n".join(parts)


def _one_device(folder):
    tables, about = [], {}
    if (folder / "fcl.csv").is_file():
        about, rows = read(folder / "fcl.csv")
        tables.append(
            "Random impacts (clear at the start, relative turn up to 45 degrees), pairs a second: all "
            "contacts by gpu_collide on all cores, beside the first contact by python-fcl (convex parts by "
            "hand, one process), on the same pairs in the same run:"
        )
        tables.append(
            _table(
                ("shape", "pairs", "touching", "gpu_collide", "python-fcl", "ratio"),
                [
                    (r["shape"], _count(r["pairs"]), _percent(r["hit_share"]), _count(r["ours_per_s"]),
                     _count(r["fcl_per_s"]), f"{float(r['ratio']):.1f}")
                    for r in rows
                ],
            )
        )  # fmt: skip
    cases = [(shape, folder / f"{shape}.csv") for shape in SHAPES if (folder / f"{shape}.csv").is_file()]
    if cases:
        lines = []
        for shape, path in cases:
            about, rows = read(path)
            lines += [
                (
                    shape,
                    r["refine"],
                    r["resolution"],
                    f"{float(r['us_per_pair']):.2f}",
                    _count(r["pairs_per_s"]),
                )
                for r in rows
                if r["candidates"] == "auto" or r["refine"] != "exact"
            ]
        tables.append("All contacts, by mode and rows per short edge:")
        tables.append(_table(("shape", "mode", "rows", "us a pair", "pairs a second"), lines))
    for name, words, columns, cells in _MORE:
        if (folder / f"{name}.csv").is_file():
            about, rows = read(folder / f"{name}.csv")
            tables += [words, _table(columns, [cells(r) for r in rows])]
    if not tables:
        return []
    # tables may be of different states of the code: each is told
    states = {}
    for name in ("fcl", "cubes", "cars", "tori", *(more[0] for more in _MORE)):
        if (folder / f"{name}.csv").is_file():
            told, _ = read(folder / f"{name}.csv")
            states.setdefault((told["commit"], told["date"]), []).append(name)
    of = "; ".join(f"{', '.join(names)}: commit {c}, {d}" for (c, d), names in states.items())
    head = f"**{about['device']}**, precision {about['precision']}. Measured at {of}."
    return [head, *tables]


def _world_cells(r):
    return (
        r["worlds"], _count(r["cars"]), r["pairs_by"], _count(r["possible"]) if r["possible"] else "",
        _count(r["pairs"]), _percent(r["hit_share"]), _count(r["contacts"]), f"{float(r['seconds']):.2f}",
        f"{float(r['times_slower']):.1f}",
    )  # fmt: skip


def _race_cells(r):
    return (
        r["race"], r["tiles"], _count(r["track_faces"]), _count(r["steps"]), r["contacts"],
        f"{float(r['driven_s']):.0f}", f"{float(r['seconds']):.2f}", f"{float(r['us_per_step']):.0f}",
        f"{float(r['faster_than_driven']):.0f}",
    )  # fmt: skip


_MORE = (
    (
        "worlds",
        "A step of worlds of cars between barriers on shared ground, all contacts: pairs found by the tree, "
        "by taking all (`off`), or by plain boxes in NumPy before the call; `slower` is against the tree:",
        ("worlds", "cars", "pairs by", "possible", "pairs", "touching", "contacts", "seconds", "slower"),
        _world_cells,
    ),
    (
        "race",
        "Recorded races, a kart of 4,626 faces against every triangle of the track, which is also laid out 4 "
        "and 16 times; all contacts of all steps:",
        ("race", "tracks", "triangles", "steps", "contacts", "seconds driven", "seconds", "us a step",
         "times faster"),
        _race_cells,
    ),
)  # fmt: skip


def _table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|---" + "|---:" * (len(columns) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _count(text):
    return f"{float(text):,.0f}"


def _percent(text):
    return f"{100 * float(text):.0f} %"


def with_section(page, results):
    """The page with the section between its two marks made anew."""
    head, rest = page.split(BEGIN)
    return f"{head}{BEGIN}\n\n{section(results)}\n\n{END}{rest.split(END)[1]}"


def main(arguments):
    """Rewrite or check; returns the exit code."""
    page = PAGE.read_text(encoding="utf-8")
    made = with_section(page, RESULTS)
    if "--check" in arguments:
        if made != page:
            print("README.md is not up to date with bench/results: python docs/make_numbers.py")
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
