"""A stage of the broad phase has one stem everywhere: in the kernels, in the reference, in the tests."""

from pathlib import Path

from gpu_collide.backends import sources
from gpu_collide.reference import bvh as reference


def stems(folder, pattern):
    return sorted(path.stem for path in Path(folder).glob(pattern))


def test_kernels_and_reference_have_the_same_stages():
    kernels = stems(sources.kernels_dir() / "bvh", "b[0-9][0-9]_*.c")
    assert [stem[:3] for stem in kernels] == [f"b{k:02d}" for k in range(1, len(kernels) + 1)], "no gap"
    assert kernels == stems(Path(reference.__file__).parent, "b[0-9][0-9]_*.py")
    assert kernels == [stem[5:] for stem in stems(Path(__file__).parent, "test_b[0-9][0-9]_*.py")]


def test_every_entry_point_of_the_folder_belongs_to_a_stage():
    for path in (sources.kernels_dir() / "bvh").glob("*.c"):
        assert {name[:3] for name in sources.parse(path.read_text())} == {path.stem[:3]}
