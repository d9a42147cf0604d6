"""The checks of arguments: what is accepted, and the class and text of every refusal."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import _validate as v

pytestmark = pytest.mark.smoke


class ForeignHost:
    """Only ``__array__``."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class ForeignDlpack:
    """Only DLPack, as a CPU tensor of another library."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class ForeignDevice:
    """What a CuPy array looks like from outside: NumPy may not read it, ``get`` copies it."""

    def __init__(self, array):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (0, False), "version": 3}

    def __array__(self, *_):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def get(self):
        return self.array


class ForeignUnreadable:
    def __array__(self, *_):
        raise RuntimeError("no")


@pytest.mark.parametrize("wrap", [np.asarray, ForeignHost, ForeignDlpack, ForeignDevice, np.ndarray.tolist])
def test_everything_array_like_is_read(wrap):
    data = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(v.as_float_array(wrap(data), "x", shape=(None, 3)), data)


def test_float32_and_integers_are_widened():
    for dtype in (np.float32, np.float16, np.int8, np.uint64):
        assert v.as_float_array(np.ones(3, dtype), "x").dtype == np.float64


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4"])
def test_what_is_checked_is_a_copy(dtype):
    """The caller may write to his array at any time, so it is copied before it is checked."""
    data = np.ones((4, 3), dtype)
    check = v.as_float_array if dtype[0] == "f" else v.as_int_array
    for given in (data, data[:], data.T, memoryview(data)):
        assert not np.shares_memory(check(given, "x"), data)


def test_pairs_that_are_checked_are_a_copy():
    pairs = np.array([[0, 1], [2, 3]], np.int32)
    checked = v.check_pairs(pairs, 4)
    assert checked.dtype == np.int32 and not np.shares_memory(checked, pairs)


@pytest.mark.parametrize(
    "bad",
    [None, "text", {"a": 1}, [[1, 2], [3]], np.ones(3, complex), np.ones(3, bool), np.array([None] * 3)],
)
def test_floats_of_the_wrong_kind(bad):
    with pytest.raises(TypeError, match="^points: "):
        v.as_float_array(bad, "points")


def test_other_objects_that_refuse_to_be_read():
    with pytest.raises(TypeError, match="points: expected an array, got ForeignUnreadable"):
        v.as_float_array(ForeignUnreadable(), "points")


class RefusesOnTheWay:
    """As an array of a library with a number type that NumPy lacks: the copy to the host fails."""

    def __init__(self, error):
        self.error = error

    def detach(self):
        return self

    def cpu(self):
        return self

    def __dlpack__(self):
        raise self.error

    def __array__(self, dtype=None, copy=None):
        raise self.error


def test_objects_that_fail_on_the_way_to_the_host():
    with pytest.raises(TypeError, match="^points: expected an array, got Refuses.* cannot read: no bfloat16"):
        v.as_float_array(RefusesOnTheWay(TypeError("no bfloat16")), "points")
    with pytest.raises(MemoryError, match="full"):
        v.as_float_array(RefusesOnTheWay(MemoryError("full")), "points")


@pytest.mark.parametrize("given", [object(), (k for k in range(3)), iter([1, 2]), print])
def test_single_objects_are_no_arrays(given):
    with pytest.raises(
        TypeError, match=f"^points: expected an array of numbers, got {type(given).__name__};"
    ):
        v.as_float_array(given, "points")
    with pytest.raises(
        TypeError, match=f"^points: expected an array of numbers, got {type(given).__name__};"
    ):
        v.as_int_array(given, "points")


def test_our_own_objects_are_no_arrays():
    """They have a length and rows, of which NumPy would make an array of objects, one by one."""
    with pytest.raises(TypeError, match="^points: expected an array, got Poses$"):
        v.as_float_array(gc.Poses.identity(3), "points")


def test_words_for_numbers():
    assert [v.how_many(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert [v.how_many(n, "body", "bodies") for n in (1, 7)] == ["1 body", "7 bodies"]


def test_masked_arrays():
    assert v.as_float_array(np.ma.array([1.0, 2.0]), "x").tolist() == [1, 2]
    with pytest.raises(TypeError, match="masked"):
        v.as_float_array(np.ma.array([1.0, 2.0], mask=[True, False]), "x")


@pytest.mark.parametrize(
    "shape, given", [((None, 3), (3,)), ((None, 3), (2, 4)), ((..., 4), (3,)), ((2,), ())]
)
def test_wrong_shapes(shape, given):
    with pytest.raises(ValueError, match=r"^x: expected shape .* got \("):
        v.as_float_array(np.zeros(given), "x", shape=shape)


def test_integers_out_of_range_name_the_rows():
    with pytest.raises(
        ValueError, match=r"faces: expected indices from 0 to 4, got 5 \(2 rows .* first: 1, 3"
    ):
        v.as_int_array([[0, 1], [5, 0], [1, 2], [-1, 0]], "faces", low=0, high=5)


def test_integers_of_the_wrong_dtype():
    with pytest.raises(TypeError, match="x: expected integers, got float64"):
        v.as_int_array([1.0, 2.0], "x")
    with pytest.raises(TypeError, match="x: expected integers, got bool"):
        v.as_int_array([True], "x")
    assert v.as_int_array([], "x").dtype == np.int64


def test_unsigned_integers_beyond_int64_do_not_wrap():
    with pytest.raises(ValueError):
        v.as_int_array(np.array([2**64 - 1], np.uint64), "x", low=0, high=10)


def test_finite():
    with pytest.raises(
        ValueError, match="x: expected finite numbers, got NaN or infinity in 2 rows, first: 1, 2"
    ):
        v.check_finite(np.array([[0, 0], [0, np.nan], [np.inf, 0]]), "x")


def test_choice():
    assert v.check_choice("a", "mode", ("a", "b")) == "a"
    with pytest.raises(ValueError, match="mode: expected one of 'a', 'b', got 'c'"):
        v.check_choice("c", "mode", ("a", "b"))
    with pytest.raises(TypeError, match="mode"):
        v.check_choice(3, "mode", ("a", "b"))


def test_positive():
    assert v.check_positive(np.float32(2), "x") == 2.0
    assert v.check_positive(None, "x", none_ok=True) is None
    assert isinstance(v.check_positive(np.int64(2), "x", integer=True), int)
    for bad in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="x: expected a positive number"):
            v.check_positive(bad, "x")
    for bad in (None, "1", True, [1]):
        with pytest.raises(TypeError, match="x: expected a positive number"):
            v.check_positive(bad, "x")
    with pytest.raises(TypeError, match="x: expected a positive integer"):
        v.check_positive(2.5, "x", integer=True)


def test_positive_integers_of_any_size():
    assert v.check_positive(2**80, "x", integer=True) == 2**80
    assert v.check_positive(2**80, "x") == 2.0**80
    with pytest.raises(ValueError, match="x: expected a positive integer, got -"):
        v.check_positive(-(2**80), "x", integer=True)
    with pytest.raises(ValueError, match="x: expected a positive number .* 2001 bits"):
        v.check_positive(2**2000, "x")


def test_bytes():
    assert v.check_bytes(None, 7) == 7 and v.check_bytes(5, 7) == 5
    assert v.check_bytes(2**80, 7) == v.check_bytes(2**900, 7) == v.MOST_BYTES
    with pytest.raises(ValueError, match="max_bytes: expected a positive integer, got 0"):
        v.check_bytes(0, 7)


def test_bools():
    assert v.check_bool(np.True_, "x") is True and v.check_bool(False, "x") is False
    for bad in ("no", 1, None, [True]):
        with pytest.raises(TypeError, match="x: expected a bool, got .*; pass True or False"):
            v.check_bool(bad, "x")


@pytest.mark.parametrize("empty", [[], (), np.zeros((0, 2), int), np.zeros((0, 2), np.uint8)])
def test_no_pairs(empty):
    pairs = v.check_pairs(empty, 3)
    assert pairs.shape == (0, 2) and pairs.dtype == np.int32


def test_pairs_may_repeat():
    pairs = v.check_pairs([[0, 1], [0, 1], [1, 0]], 2)
    assert pairs.dtype == np.int32 and pairs.tolist() == [[0, 1], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    "bad, error, text",
    [
        ([[0.0, 1.0]], TypeError, "expected integers"),
        ([[0, 1, 2]], ValueError, r"expected shape \(n, 2\), got \(1, 3\)"),
        (np.zeros(0, int), ValueError, "expected shape"),
        ([0, 1], ValueError, "expected shape"),
        ([[0, 3]], ValueError, "expected indices from 0 to 2, got 3"),
        ([[-1, 0]], ValueError, "expected indices from 0 to 2, got -1"),
        ([[0, 1], [2, 2]], ValueError, "a body with itself in 1 row, first: 1"),
    ],
)
def test_bad_pairs(bad, error, text):
    with pytest.raises(error, match="^pairs: .*" + text):
        v.check_pairs(bad, 3)


def test_what_a_new_user_passes_as_pairs():
    for pairs, kind, text in (
        ([0, 1], ValueError, r"got \(2,\); for one pair pass \[\[a, b\]\]"),
        ([[0.0, 1.0]], TypeError, r"got float64; pass numpy.asarray\(pairs, dtype=int\)"),
    ):
        with pytest.raises(kind, match=text):
            v.check_pairs(pairs, 2)
    with pytest.raises(ValueError, match="expected no pairs, since there are no bodies"):
        v.check_pairs([[0, 1]], 0)
