"""A stage has one stem everywhere: in the kernels, in the reference, in the tests, and as an entry point."""

from pathlib import Path

from gpu_collide.backends import sources
from gpu_collide.reference import screw as reference

#: Launches in place of a stage's own, in files of their own, so that who does without does not build them.
OTHER_LAUNCHES = {"s07_answer": "s07_solve"}
IN_ONE_LAUNCH = "screen"  # s02 to s06, which hand each other lists of unknown length


def stems(folder, suffix):
    return sorted(path.stem for path in Path(folder).glob(f"s[0-9][0-9]_*{suffix}"))


def test_kernels_and_reference_have_the_same_stages():
    kernels = stems(sources.kernels_dir() / "screw", ".c")
    assert set(OTHER_LAUNCHES) < set(kernels) and set(OTHER_LAUNCHES.values()) < set(kernels)
    kernels = [stem for stem in kernels if stem not in OTHER_LAUNCHES]
    assert [stem[:3] for stem in kernels] == [f"s{k:02d}" for k in range(1, len(kernels) + 1)], "no gap"
    assert kernels == stems(Path(reference.__file__).parent, ".py")
    assert kernels == sorted(path.stem[5:] for path in Path(__file__).parent.glob("test_s[0-9][0-9]_*.py"))


def test_every_entry_point_belongs_to_a_stage():
    """Of this folder or of another method's."""
    numbers = {path.stem[:3] for path in sources.kernels_dir().glob("*/[a-z][0-9][0-9]_*.c")}
    entries = set(sources.parse(sources.source()))
    assert IN_ONE_LAUNCH in entries
    assert {name[:3] for name in entries - {IN_ONE_LAUNCH}} <= numbers
