"""Write docs/benchmarks.md, and the lines of README.md that sum it up, from the files in bench/results.

    python -m bench fcl cubes cars tori      measure (and so for worlds, race, sampled, moves, sweeps)
    python -m bench counted                  count
    python docs/make_benchmarks.py              rewrite both
    python docs/make_benchmarks.py --check      say whether they are up to date (exit code 1 if not)

Only what was measured appears: a device without files has no table, and without results both pages say so.
"""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE, README = ROOT / "bench" / "results", ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
BEGIN = "<!-- numbers: begin (made by docs/make_benchmarks.py from bench/results) -->"
END = "<!-- numbers: end -->"
SHAPES = ("cubes", "cars", "tori")
_SUMMED_UP = ("fcl", "worlds", "race")  # in README.md
NOTHING = "Nothing has been measured for this version yet: `python -m bench` measures on your machine."


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
    """All tables of a folder of results: what stands in docs/benchmarks.md."""
    parts = [part for folder in _devices(results) for part in _one_device(folder)]
    parts += _counted(results / "counted.csv")
    return "\n\n".join(parts) if parts else NOTHING


def summary(results):
    """What matters most of a folder of results, a line each: what stands in README.md."""
    parts = [part for folder in _devices(results) for part in _in_short(folder)]
    return "\n\n".join(parts) if parts else NOTHING


def _devices(results):
    return sorted(path for path in results.glob("*") if path.is_dir())


def _in_short(folder):
    lines, about = [], {}
    if (folder / "fcl.csv").is_file():
        about, rows = read(folder / "fcl.csv")
        each = [
            f"{_count(r['ours_per_s'])} pairs of {r['shape']} a second, {float(r['ratio']):.1f} times "
            f"python-fcl's {_count(r['fcl_per_s'])}"
            for r in rows
            if r["shape"] in ("cubes", "cars")
        ]
        lines.append(
            f"- **Pairs**: {'; '.join(each)}. Here, every contact on {rows[0]['cores']} cores; there, the "
            "first contact in one process, from convex parts made by hand."
        )
    if (folder / "worlds.csv").is_file():
        about, rows = read(folder / "worlds.csv")
        r = max((r for r in rows if r["pairs_by"] == "hierarchy"), key=lambda r: int(r["worlds"]))
        lines.append(
            f"- **Worlds**: {float(r['seconds']):.2f} s for a step of {_count(r['worlds'])} worlds with "
            f"{_count(r['cars'])} cars: finding {_count(r['pairs'])} pairs among the {_count(r['possible'])} "
            f"possible ones, and their {_count(r['contacts'])} contacts."
        )
    if (folder / "race.csv").is_file():
        about, rows = read(folder / "race.csv")
        each = [
            f"{float(r['us_per_step']):.0f} us a step of `{r['race']}` ({_count(r['track_faces'])} triangles)"
            for r in rows
            if r["tiles"] == "1"
        ]
        lines.append(
            f"- **Races**: {', '.join(each)}, for a kart of 4,626 faces against every triangle of the track."
        )
    if not lines:
        return []
    return [
        f"**{about['device']}**, precision {about['precision']}, measured at {_states(folder, _SUMMED_UP)}:",
        "\n".join(lines),
    ]


def _one_device(folder):
    tables, about = [], {}
    if (folder / "fcl.csv").is_file():
        about, rows = read(folder / "fcl.csv")
        tables.append(
            "Random impacts (clear at the start, relative turn up to 45 degrees), pairs a second: all "
            "contacts by gpu_collide on all cores, and the first contact by python-fcl (convex parts made by "
            "hand, one process), for the same pairs in the same run:"
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
                    # `auto` compares boxes: these shapes are far below the size from which it takes rows
                    "rows" if r["candidates"] == "raster" else "boxes",
                    r["resolution"],
                    f"{float(r['us_per_pair']):.2f}",
                    _count(r["pairs_per_s"]),
                )
                for r in rows
                if r["candidates"] != "pairs"
            ]
        tables.append(
            "All contacts, by mode, by what proposes pairs of features (boxes on the screen, the default, or "
            'rows of pixels, `candidates="raster"`), and by rows per short edge. With `segments` and '
            "`pixels` the answer is read from rows of that height, whatever proposes:"
        )
        columns = ("shape", "mode", "proposed by", "rows", "us a pair", "pairs a second")
        tables.append(_table(columns, lines))
    for name, words, columns, cells, of in _MORE:
        if (folder / f"{name}.csv").is_file():
            about, rows = read(folder / f"{name}.csv")
            rows = [cells(r) for r in rows if of is None or r[of]]
            tables += [words, _table(columns, rows)] if rows else []
    if not tables:
        return []
    names = ("fcl", *SHAPES, *dict.fromkeys(more[0] for more in _MORE))
    head = f"**{about['device']}**, precision {about['precision']}. Measured at {_states(folder, names)}."
    return [head, *tables]


def _states(folder, names):
    """The states of the code that tables were measured at, which may differ: tables, commit, date."""
    states = {}
    for name in names:
        if (folder / f"{name}.csv").is_file():
            heading, _ = read(folder / f"{name}.csv")
            states.setdefault((heading["commit"], heading["date"]), []).append(name)
    return "; ".join(f"{', '.join(names)}: commit {c}, {d}" for (c, d), names in states.items())


def _counted(path):
    """What the CUDA kernels cost, counted: those with a hundredth of a case's instructions, and the sum."""
    if not path.is_file():
        return []
    about, rows = read(path)
    whole = {(r["case"], r["group"]): float(r["instructions"]) for r in rows if r["kernel"] == "all"}
    cells = [
        (r["case"], r["group"], r["kernel"], _count(r["instructions"]), _percent(r["use"]),
         *(_count(r[name]) for name in ("local_bytes", "global_bytes", "sectors")), r["registers"],
         r["stack"], _percent(r["occupancy"]) if r["occupancy"] else "")
        for r in rows
        if float(r["instructions"]) >= 0.01 * whole[r["case"], r["group"]]
    ]  # fmt: skip
    columns = ("case", "group", "kernel", "instructions", "lanes at work", "local bytes", "global bytes",
               "sectors", "registers", "stack", "occupancy")  # fmt: skip
    return [
        f"**cuda: counted, not measured**, precision {about['precision']}. NVRTC {about['nvrtc']} for "
        f"{about['architecture']}, commit {about['commit']}, {about['date']}.",
        "Machine instructions of warps, and bytes, a pair; `bench/README.md` says what is counted and how, "
        "`python -m bench counted` counts again:",
        _table(columns, cells),
    ]


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


def _move_cells(r):
    return (
        r["movers"], _count(r["triangles"]), _count(r["moves"]), _percent(r["stopped"]),
        _count(r["ours_per_s"]), _count(r["fcl_per_s"]), f"{float(r['ratio']):.0f}",
        _count(r["sampled_per_s"]), f"{float(r['ratio_sampled']):.0f}",
    )  # fmt: skip


def _sampled_cells(r):
    return (
        r["shape"], _count(r["pairs"]), _percent(r["hit_share"]), r["samples"], _count(r["ours_per_s"]),
        _count(r["first_per_s"]), _count(r["warp_per_s"]), f"{float(r['ratio']):.1f}",
        f"{100 * float(r['missed']):.2f} %", *(f"{float(r[name]):.4f}" for name in ("late", "late_most")),
    )  # fmt: skip


def _ray_cells(r):
    return (
        _count(r["triangles"]), r.get("numbers", "mixed"), _count(r["rays"]), _percent(r["stopped"]),
        _count(r["ours_per_s"]), _count(r["embree_per_s"]), f"{float(r['ratio']):.2f}",
    )  # fmt: skip


def _cast_cells(r):
    warp = float(r.get("warp_rays_per_s") or "nan")  # not installed everywhere
    beside = ("-", "-") if warp != warp else (_count(warp), f"{float(r['ours_per_s']) / warp:.2f}")
    return (*_ray_cells(r), *beside)


def _sphere_cells(r):
    return (
        _count(r["triangles"]), r["radius"], _count(r["spheres"]), _percent(r["stopped"]),
        *(_count(r[f"{who}_per_s"]) for who in ("ours", "warp", "bullet")), f"{float(r['ratio']):.1f}",
    )  # fmt: skip


def _dense_cells(*columns):
    def cells(r):
        taken = (_count(r[c]) if r[c] not in ("", "nan") else "" for c in columns)
        return r["shape"], r["step"], _count(r["faces"]), f"{float(r['contacts']):.1f}", *taken

    return cells


def _primitive_cells(r):
    return (
        r["test"], _count(r["tests"]), f"{float(r['million_per_s']):.0f}",
        f"{float(r['million_per_core']):.0f}", f"{float(r['ns_cpu']):.0f}",
    )  # fmt: skip


def _growth_cells(*columns):
    return lambda r: (_count(r["triangles"]), *(f"{float(r[column]):.2f}" for column in columns))


def _turning_cells(r):
    shares = (f"{float(r[name]):.2f} %" for name in ("missed", "invented"))
    off = (f"{float(r[name]):.0e}" for name in ("off", "off_most"))
    named = (r["shape"], r["moving"], r["turn"], r["tool"].replace("_", ", "))
    return (*named, f"{float(r['us']):.1f}", *shares, *off)


_RAYS = ("triangles", "precision", "rays", "stopped", "gpu_collide", "Embree", "ratio")
_DENSE = ("auto", "near", "whole", "rows", "first", "fcl")
_RADII = ("0.01", "0.1", "0.5")

# File, what is said above the table, its columns, what makes a row of one of the file, and the column that
# those rows have which belong in it (None: all of them).
_MORE = (
    (
        "worlds",
        "A step of worlds of cars between barriers on shared ground, all contacts. Pairs are found by the "
        "tree, by taking all (`off`), or by plain boxes in NumPy before the call; `slower` is relative to "
        "the tree:",
        ("worlds", "cars", "pairs by", "possible", "pairs", "touching", "contacts", "seconds", "slower"),
        _world_cells,
        None,
    ),
    (
        "race",
        "Recorded races, a kart of 4,626 faces against every triangle of the track, which is also laid out 4 "
        "and 16 times; all contacts of all steps:",
        ("race", "tracks", "triangles", "steps", "contacts", "seconds driven", "seconds", "us a step",
         "times faster"),
        _race_cells,
        None,
    ),
    (
        "sampled",
        "The same pairs sampled at equally spaced poses of their screw by a kernel in Warp, in single "
        "precision, pairs a second (on a processor Warp uses one core). `missed` is the share of touching "
        "pairs that no pose shows, `late` how late the first one that shows it is, in steps (median, most):",
        ("shape", "pairs", "touching", "poses", "all contacts", "first", "Warp", "ratio", "missed", "late",
         "most"),
        _sampled_cells,
        None,
    ),
    (
        "moves",
        "Movers among still obstacles, each a translation and then a rotation over a hilly square "
        "(`gc.pluecker.move`), moves a second, beside python-fcl: by conservative advancement, and by 1,000 "
        "poses a leg (`sampled`):",
        ("movers", "triangles", "moves", "stopped", "gpu_collide", "python-fcl", "ratio", "sampled", "ratio"),
        _move_cells,
        "fcl_per_s",
    ),
    (
        "moves",
        "Points that move, as rays (`gc.pluecker.translate`), beside Embree, rays a second:",
        _RAYS,
        _ray_cells,
        "embree_per_s",
    ),
    (
        "moves",
        "The same over more triangles, microseconds:",
        ("triangles", "a box's move", "a ray"),
        _growth_cells("us_per_move", "us_per_ray"),
        "growth",
    ),
    (
        "primitives",
        "Single tests of the Pluecker method, every feature against every feature, in millions a second: on "
        "the clock, and per second of one core's time, with nanoseconds a test:",
        ("test", "tests", "a second", "a second of a core", "ns"),
        _primitive_cells,
        None,
    ),
    (
        "sweeps",
        "Rays on straight paths (`gc.sweep.rays`), first touch of each, beside Embree and Warp's query, each "
        "on one core, rays a second; the ratio is to Embree, and the second one to Warp:",
        (*_RAYS, "Warp", "ratio"),
        _cast_cells,
        "embree_per_s",
    ),
    (
        "sweeps",
        "Spheres on straight paths (`gc.sweep.spheres`), first touch of each, beside Warp and Bullet, each "
        "on one core, spheres a second; the ratio is to Warp:",
        ("triangles", "radius", "spheres", "stopped", "gpu_collide", "Warp", "Bullet", "ratio"),
        _sphere_cells,
        "warp_per_s",
    ),
    (
        "sweeps",
        "The same over more triangles, microseconds:",
        ("triangles", "a ray", *(f"radius {radius}" for radius in _RADII)),
        _growth_cells("us_per_ray", *(f"us_radius_{radius}" for radius in _RADII)),
        "growth",
    ),
    (
        "casts",
        "First contacts of bodies that turn by up to so many degrees, about half of which meet: on their own "
        "motions (`body`), on one relative screw (`relative`), and by parry, Bullet (margin of 0.01, and "
        "none: `bare`) and python-fcl; microseconds of processor time a pair. Where `one` moves, parry and "
        "Bullet are given the true motion; where `both` do, python-fcl is. `missed` is of the pairs that "
        "touch, `invented` of those that do not, and `off` how far contacts are off, as a length over the "
        "size (median, most), by a judge of its own:",
        ("shape", "moving", "degrees", "by", "us", "missed", "invented", "off", "most"),
        _turning_cells,
        None,
    ),
    (
        "dense",
        "Cost against faces: two bodies with so many faces each that run deep into each other "
        "(`impact`), or end just behind their first contact (`touch`) or just before it (`near miss`); "
        "microseconds of processor time a pair, on one core. All contacts by default (`all`), by near "
        "faces, by whole meshes with boxes, and by whole meshes with rows of pixels (`rows`); the first "
        "contact; and python-fcl's first contact (`fcl`), for as many pairs as it answers in half a "
        "second. What takes more than a quarter of a second a pair is left out for larger sizes:",
        ("shape", "step", "faces", "contacts", "all", "near", "whole", "rows", "first", "fcl"),
        _dense_cells(*_DENSE),
        None,
    ),
    (
        "dense_before",
        "The same before near faces were culled by pairs of nodes, and first contacts by themselves:",
        ("shape", "step", "faces", "contacts", "all", "near", "whole", "rows", "first"),
        _dense_cells(*_DENSE[:-1]),
        None,
    ),
)  # fmt: skip


def _table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|---" + "|---:" * (len(columns) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _count(text):
    return f"{float(text):,.0f}"


def _percent(text):
    return f"{100 * float(text):.0f} %"


def with_section(page, made):
    """The page with what stands between its two marks replaced."""
    head, rest = page.split(BEGIN)
    return f"{head}{BEGIN}\n\n{made}\n\n{END}{rest.split(END)[1]}"


def pages(results):
    """What each page should be: text by path."""
    made = {PAGE: section(results), README: summary(results)}
    return {path: with_section(path.read_text(encoding="utf-8"), text) for path, text in made.items()}


def main(arguments):
    """Rewrite or check; returns the exit code."""
    stale = {path: text for path, text in pages(RESULTS).items() if path.read_text(encoding="utf-8") != text}
    for path, text in stale.items():
        if "--check" in arguments:
            page = path.relative_to(ROOT)
            print(f"{page} is not up to date with bench/results: python docs/make_benchmarks.py")
        else:
            path.write_text(text, encoding="utf-8")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
