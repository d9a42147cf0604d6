"""What the docs say is what the code says."""

import ast
import graphlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_collide.backends import sources

ROOT = Path(__file__).resolve().parents[2]


def script(name):
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def make_conventions():
    return script("make_conventions")


def test_the_table_of_tolerances_is_the_header(make_conventions):
    page = make_conventions.PAGE.read_text(encoding="utf-8")
    header = make_conventions.HEADER.read_text(encoding="utf-8")
    assert make_conventions.with_tables(page, header) == page, "run: python docs/make_conventions.py"
    defined = {name for name in re.findall(r"#define (GC_\w+) ", header)}
    assert len(defined) > 15
    assert defined == set(re.findall(r"^\| `(GC_\w+)` \|", page, re.M)), "every constant has a row"


def test_conditions_of_the_header_are_read(make_conventions):
    text = """/* head */
#define GC_CONSTANTS_H
#if GC_PRECISION != 2
/* why | how */
#define GC_A GC_R(1e-9)
#else
#define GC_A GC_R(1e-5)
#endif
/* a cap
 * in two lines */
#define GC_B 7
"""
    assert make_conventions.read_constants(text, 0) == {
        "GC_A": ("1e-9", "why | how"),
        "GC_B": ("7", "a cap in two lines"),
    }
    assert make_conventions.read_constants(text, 2)["GC_A"] == ("1e-5", "")
    row = r"| `GC_A` | 1e-9 | 1e-9 | 1e-5 | {} | why \| how |"
    for reference, shown in (
        ({}, "-"),
        ({"GC_A": (1e-9, "", "")}, "1e-9"),
        ({"GC_A": (2e-9, "", "")}, "**2e-9**"),
    ):
        assert row.format(shown) in make_conventions.table(text, reference)
    with pytest.raises(ValueError, match="cannot read the line"):
        make_conventions.read_constants(text + "#if SOMETHING\n", 0)


def test_tolerances_of_the_reference_are_read(make_conventions):
    text = "# why\n# so\nONE = 8.0 * np.finfo(np.float64).eps\nTWO, THREE = 1, 2\nFOUR = 7\nFIVE = name * 2\n"
    found = make_conventions.read_reference(text)
    assert found == {"ONE": (2.0**-49, "why so"), "FOUR": (7, "")}
    header = "#define GC_CONSTANTS_H\n/* a */\n#define GC_A GC_R(1e-9)\n"
    differences = make_conventions.differences
    assert "GC_A" not in differences(header, {"GC_A": (1e-9, "", "`A` in `a.py`")})
    assert "| `GC_A` | 1e-9 | 1e-12 | `A` in `a.py`: why |" in differences(
        header, {"GC_A": (1e-12, "why", "`A` in `a.py`")}
    )
    with pytest.raises(ValueError, match="no comment above it says why"):
        differences(header, {"GC_A": (1e-12, "", "`A` in `a.py`")})


def test_every_tolerance_of_the_reference_is_in_the_docs(make_conventions):
    """Each number below 1 that a module of reference/narrow_phase defines stands for one of the header's,
    or is one of those that have no counterpart there."""
    alone = {"UNSURE", "TIE_OF_SHEETS", "BLUNT", "STUCK", "ORIGIN", "ROUNDING of s01_screw"}
    alone |= {"LEAST of b05_features", "OFF_AXIS", "SAME_AXIS", "ROUNDING of body_motion"}
    alone |= {"LONGEST_DOUBT", "LONGEST_TOUCH", "BESIDE"}
    said = {tuple(place.split()) for place in make_conventions.REFERENCE.values()}
    missing = []
    for path in sorted((ROOT / "gpu_collide" / "reference" / "narrow_phase").glob("*.py")):
        file = path.relative_to(ROOT / "gpu_collide").as_posix()
        for name, (value, _) in make_conventions.read_reference(path.read_text(encoding="utf-8")).items():
            if 0 < value < 1 and (file, name) not in said:
                missing += [] if {name, f"{name} of {path.stem}"} & alone else [f"{file} {name}"]
    assert missing == []


def test_the_numbers_of_the_docs_are_the_results():
    numbers = script("make_benchmarks")
    made = numbers.pages(numbers.RESULTS)
    assert {path.relative_to(ROOT).as_posix() for path in made} == {"docs/benchmarks.md", "README.md"}
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/make_benchmarks.py"
    assert "| cubes |" in made[numbers.PAGE] and "| cubes |" not in made[numbers.README]
    assert made[numbers.README].count("\n- **") >= 3, "fcl, worlds and races are summed up"


def test_numbers_come_from_files(tmp_path):
    numbers = script("make_benchmarks")
    assert numbers.section(tmp_path) == numbers.summary(tmp_path) == numbers.NOTHING
    folder = tmp_path / "cpu-some-processor"
    folder.mkdir()
    about = "# device: cpu: Some Processor (2 cores)\n# commit: abc\n# date: 2026-01-02\n# precision: mixed\n"
    (folder / "fcl.csv").write_text(
        about + "shape,pairs,hit_share,ours_per_s,fcl_per_s,ratio,cores\n"
        "cars,20000,0.471,123456.7,1000,123.4567,2\n"
    )
    (folder / "cars.csv").write_text(
        about
        + "refine,candidates,resolution,us_per_pair,pairs_per_s\n"
        + "exact,auto,-,8.1,123456\nexact,pairs,-,9,1\npixels,raster,6,7.25,137931\n"
    )
    text = numbers.section(tmp_path)
    assert "**cpu: Some Processor (2 cores)**, precision mixed." in text
    assert "Measured at fcl, cars: commit abc, 2026-01-02." in text
    assert "| cars | 20,000 | 47 % | 123,457 | 1,000 | 123.5 |" in text
    assert "| cars | exact | boxes | - | 8.10 | 123,456 |" in text
    assert "| cars | pixels | rows | 6 | 7.25 | 137,931 |" in text
    assert "9.00" not in text, "candidates='pairs' is what auto does"
    (folder / "moves.csv").write_text(
        about + "movers,triangles,moves,stopped,ours_per_s,fcl_per_s,ratio,sampled_per_s,ratio_sampled,rays,"
        "embree_per_s,growth,us_per_move,us_per_ray\n"
        "cars,20000,500,0.31,264783,1083.7,244.3,271,977.1,,,,,\n,20000,,0.15,984578,,0.178,,,1000,5528140,,,\n"
        ",968,,,,,,,,,,boxes and rays,1.843,0.726\n"
    )
    (folder / "sampled.csv").write_text(
        about + "shape,pairs,hit_share,samples,ours_per_s,first_per_s,warp_per_s,ratio,missed,"
        "late,late_most\ncars,20000,0.47,64,300000.4,400000,25000,12.04,0.00335,0.0078,0.015625\n"
    )
    (folder / "sweeps.csv").write_text(
        about + "rays,triangles,numbers,stopped,ours_per_s,embree_per_s,ratio,spheres,radius,warp_per_s,"
        "bullet_per_s,growth,us_per_ray,us_radius_0.01,us_radius_0.1,us_radius_0.5\n"
        "1000,968,single,0.14,5982390,8858040,0.675,,,,,,,,,\n"
        ",20000,,0.16,3558940,,5.892,2000,0.1,603996,270146,,,,,\n,968,,,,,,,,,,all,0.15,0.17,0.19,0.31\n"
    )
    (folder / "dense.csv").write_text(
        about + "shape,step,faces,exponent,pairs,contacts,auto,near,whole,rows,first,fcl,fcl_pairs\n"
        "scans,near miss,81920,0.5,2,0,1234.5,900,nan,,40.2,1e6,1\n"
    )
    text = numbers.section(tmp_path)
    assert "| scans | near miss | 81,920 | 0.0 | 1,234 | 900 |  |  | 40 | 1,000,000 |" in text
    assert "| cars | 20,000 | 500 | 31 % | 264,783 | 1,084 | 244 | 271 | 977 |" in text
    assert "| 20,000 | mixed | 1,000 | 15 % | 984,578 | 5,528,140 | 0.18 |" in text
    cells = "300,000 | 400,000 | 25,000 | 12.0 | 0.34 % | 0.0078 | 0.0156 |"
    assert f"| cars | 20,000 | 47 % | 64 | {cells}" in text
    assert "| 968 | 1.84 | 0.73 |" in text
    assert "| 968 | single | 1,000 | 14 % | 5,982,390 | 8,858,040 | 0.68 |" in text
    assert "| 20,000 | 0.1 | 2,000 | 16 % | 3,558,940 | 603,996 | 270,146 | 5.9 |" in text
    assert "| 968 | 0.15 | 0.17 | 0.19 | 0.31 |" in text
    assert "sampled, moves, sweeps, dense: commit abc" in text and "worlds" not in text
    (tmp_path / "counted.csv").write_text(
        "# nvrtc: 12.9\n# architecture: sm_90\n# precision: mixed\n# commit: abd\n# date: 2026-01-03\n"
        "case,group,kernel,instructions,local_bytes,global_bytes,sectors,use,registers,stack,occupancy\n"
        "cars,64,screen,6190.4,0.0,26900.6,1183.1,0.518,80,208,0.375\ncars,64,s08_place,1.7,0,14,1,0.9,20,0,1\n"
        "cars,64,all,7900.0,8657.75,32000,1640.0,0.48,,,\n"
    )
    text = numbers.section(tmp_path)
    assert "NVRTC 12.9 for sm_90, commit abd, 2026-01-03." in text
    assert "| cars | 64 | screen | 6,190 | 52 % | 0 | 26,901 | 1,183 | 80 | 208 | 38 % |" in text
    assert "| cars | 64 | all | 7,900 | 48 % | 8,658 | 32,000 | 1,640 |  |  |  |" in text
    assert "s08_place" not in text, "next to nothing"
    text = numbers.summary(tmp_path)
    assert (
        "123,457 pairs of cars a second, 123.5 times python-fcl's 1,000. Here, every contact on 2 cores"
        in text
    )
    assert "Worlds" not in text and "Races" not in text, "they were not measured"


def test_decisions_say_their_status_and_stand_in_the_index():
    decisions = script("make_decisions")
    records = decisions.read()
    assert len(records) > 60
    assert decisions.INDEX.read_text(encoding="utf-8") == decisions.index(records), (
        "run: python docs/make_decisions.py"
    )
    for record in records.values():
        assert len(record["decided"].splitlines()) <= 4, record["file"]


HEAD = "# {}: Title\n\n**Status:** {}. **Area:** overlap.\n\n**Decided.** So.\n\n**Context.** Why.\n"


@pytest.mark.parametrize(
    "one, two, fault",
    [
        ("accepted; amended by [0002](0002-b.md)", "accepted; amends [0001](0001-a.md)", ""),
        ("superseded by [0002](0002-b.md)", "accepted; supersedes [0001](0001-a.md)", ""),
        (
            "accepted; amended by [0002](0002-b.md)",
            "accepted",
            "0001-a.md: amended by 0002, which does not say amends",
        ),
        ("good", "accepted", "0001-a.md: expected a status of accepted, "),
        ("accepted; see 0002", "accepted", "0001-a.md: expected superseded by, "),
    ],
)
def test_a_decision_and_the_one_that_changes_it_name_each_other(one, two, fault, tmp_path):
    decisions = script("make_decisions")
    (tmp_path / "0001-a.md").write_text(HEAD.format("0001", one))
    (tmp_path / "0002-b.md").write_text(HEAD.format("0002", two))
    if fault:
        with pytest.raises(ValueError, match=fault):
            decisions.read(tmp_path)
    else:
        assert "[Title](0001-a.md)" in decisions.index(decisions.read(tmp_path))


def test_the_kernels_readme_names_every_macro():
    page = (ROOT / "kernels" / "README.md").read_text(encoding="utf-8")
    platform = (ROOT / "kernels" / "common" / "gc_platform.h").read_text(encoding="utf-8")
    # What ends in an underscore or picks a spelling for one target is inside that file alone.
    inside = re.compile(r"_FN$|_(FLOAT|DOUBLE)$|_H$|^GC_SERIAL_GROUPS$|^GC_(ITEM|GROUP)_(HI|STEP)$|_R$")
    macros = {m for m in re.findall(r"#\s*define (GC_[A-Z_]+)\b", platform) if not inside.search(m)}
    assert len(macros) > 15
    assert [m for m in sorted(macros | {"GC_FN", "GC_R"}) if m not in page] == []


def rooms():
    """Rows of the table of folders in ARCHITECTURE.md: folders or files, what is said of them, imports."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|(.*)\|(.*)\|(.*)\|$", page[: page.index("Beside the package")], re.M)
    return [(re.findall(r"`([^`]+)`", where), what, said) for where, what, said in rows[2:]]


def room_of(path):
    inside = path.relative_to(ROOT / "gpu_collide")
    return inside.name if len(inside.parts) == 1 else f"{inside.parts[0]}/"


def test_the_table_of_folders_has_every_file():
    package = ROOT / "gpu_collide"
    found = sorted(package.glob("*.py")) + sorted(package.glob("*/*.py"))
    assert len(found) > 70
    assert {room_of(path) for path in found} == {room for names, _, _ in rooms() for room in names}


@pytest.mark.parametrize("name", ["make_code_map", "make_api", "make_tables"])
def test_generated_pages_are_up_to_date(name, capsys):
    """The map of the code, the API with the listing of public names and signatures, columns of tables. Where
    the listing differs the public API has changed: CONTRIBUTING.md says what that asks for."""
    assert script(name).main(["--check"]) == 0, capsys.readouterr().out


def test_a_line_of_the_code_map_is_a_files_first_sentence(tmp_path):
    code_map = script("make_code_map")
    for name, text, said in (
        ("a.py", '"""What it is. And more."""', "What it is"),
        (
            "b.h",
            "/* gc_b.h: what it is,\n * in two lines.\n * needs: common/gc_math.h\n */",
            "what it is, in two lines",
        ),
        ("c.c", "/* c01_c: is it (at all)? Yes. */", "is it (at all)?"),
        ("d.js", "// What it is: this.\nlet x;", "What it is: this"),
    ):
        (tmp_path / name).write_text(text)
        assert code_map.first_sentence(tmp_path / name) == said
    (tmp_path / "e.py").write_text("import os\n")
    with pytest.raises(ValueError, match="e.py: expected a first sentence"):
        code_map.first_sentence(tmp_path / "e.py")


def test_imports_run_down_the_map():
    order = [room for names, _, _ in rooms() for room in names]
    assert (
        order.index("queries/") < order.index("pipeline/") < order.index("bodies/") < order.index("geometry/")
    )
    seen = 0
    for path in (ROOT / "gpu_collide").rglob("*.py"):
        for module in imported(path):
            parts = module.split(".")
            if parts[0] != "gpu_collide":
                continue
            room = "__init__.py" if len(parts) == 1 else f"{parts[1]}.py"
            room = (
                f"{parts[1]}/"
                if (ROOT / "gpu_collide" / "/".join(parts[1:2])).is_dir() and parts[1:]
                else room
            )
            seen += 1
            assert order.index(room_of(path)) <= order.index(room), (
                f"{path} imports {module}, which is above it"
            )
    assert seen > 200


def test_no_imports_go_in_a_circle():
    """Nor those for types alone: of two files that name each other neither can be read first."""
    graph = {}
    for path in (ROOT / "gpu_collide").rglob("*.py"):
        inside = {module for module in imported(path) if file_of(module) not in (None, path)}
        graph[path] = {file_of(module) for module in inside}
    assert sum(map(len, graph.values())) > 500
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert len(order) == len(graph)


def file_of(module):
    """The file of a module of the package; None for those of others, and for names of the package itself."""
    place = ROOT.joinpath(*module.split("."))
    if place.parts[len(ROOT.parts)] != "gpu_collide" or module == "gpu_collide":
        return None
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def imported(path):
    """Modules that a file imports anywhere, as they are written; relative imports are not written here."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: a relative import"
            if node.module == "gpu_collide":
                for alias in node.names:
                    public = alias.name == "__version__"
                    yield "gpu_collide" if public else f"gpu_collide.{alias.name}"
            else:
                for alias in node.names:
                    inside = f"{node.module}.{alias.name}"
                    yield (
                        inside
                        if ROOT.joinpath(*inside.split(".")).with_suffix(".py").is_file()
                        else node.module
                    )


def test_files_import_only_what_the_map_says():
    extras = {
        "trimesh",
        "matplotlib",
        "cupy",
        "pyopencl",
        "rich",
        "zarr",
        "pyarrow",
        "pandas",
        "ray",
        "yourdfpy",
        "commonroad",
        "omega_prime",
        "shapely",
    }
    seen = set()
    for path in (ROOT / "gpu_collide").rglob("*.py"):
        said = " ".join(said for names, _, said in rooms() if room_of(path) in names)
        for package in {name.split(".")[0] for name in imported(path)} & extras:
            seen.add(package)
            assert package in said, f"{path} imports {package}, which its row of the map does not say"
    assert seen == extras


def test_no_file_reaches_into_anothers_private_names():
    """Files may be private to their room; what begins with an underscore inside a file is that file's own."""
    package, seen = ROOT / "gpu_collide", 0
    for path in package.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = set()
        for node in ast.walk(tree):
            for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                module = getattr(node, "module", None) or ""
                if module.split(".")[0] != "gpu_collide":
                    continue
                seen += 1
                file = ROOT.joinpath(*module.split("."), f"{alias.name}.py")
                if file.is_file() or file.with_suffix("").is_dir():
                    modules.add(alias.asname or alias.name)
                    assert alias.name[0] != "_" or room_of(file) in (room_of(path), file.name), path
                else:
                    assert alias.name[0] != "_" or alias.name == "__version__", f"{path}: {alias.name}"
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert node.attr[0] != "_" or node.value.id not in modules, f"{path}:{node.lineno}"
    assert seen > 300


def test_links_lead_somewhere():
    pages = [
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "kernels" / "README.md",
        *ROOT.glob("docs/**/*.md"),
    ]
    names = re.compile(
        r"\]\((?!https?:)([^)#]+)\)|`((?:docs|kernels|examples|tests|bench|gpu_collide)/[\w./-]*)`"
    )
    for page in pages:
        for linked, named in names.findall(page.read_text(encoding="utf-8")):
            target = page.parent / linked if linked else ROOT / named
            assert target.exists(), f"{page.name}: {linked or named}"


@pytest.mark.parametrize("name", ["quickstart.py", "two_files.py", "stepping.py"])
def test_examples_run(name, tmp_path):
    command, environment = (
        [sys.executable, str(ROOT / "examples" / name)],
        {**os.environ, "PYTHONPATH": str(ROOT)},
    )
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Contacts" in done.stdout


def test_the_code_of_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 7 and all(len(code.splitlines()) < 20 for code in blocks)
    printed = []
    for code in blocks:  # each by itself, as a reader copies it
        exec(compile(code, "README.md", "exec"), {})
        printed.append(capsys.readouterr().out)
    assert "HIT" in printed[0] and "narrow phase" in printed[1] and "0.2991" in printed[2]
    assert "0.7777" in printed[3] and "0.75" in printed[4]


def test_constants_of_the_package_are_those_of_the_docs(make_conventions):
    assert set(sources.constants()) >= {"GC_TOL_TOUCH", "GC_MAX_NEWTON"}
