"""Checks of arguments, made once in the public functions, before any launch.

Every message names the argument, what was expected and what came, and the same bad input raises the same
class on every backend: ``TypeError`` for the wrong kind of thing (dtype, class), ``ValueError`` for the wrong
shape or value.

What is checked here is ours: an array of the caller's is copied first and looked at afterwards. Another
thread, or a callback, may write to the caller's array whenever it likes, and kernels index by what was
checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._foreign import device_to_host, on_device

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import DTypeLike, NDArray
    from typing_extensions import Self

    from gpu_collide._types import Array

__all__ = [
    "Frozen",
    "all_true",
    "as_device_floats",
    "as_numpy",
    "as_float_array",
    "as_int_array",
    "as_parts",
    "check_bool",
    "check_bytes",
    "check_callable",
    "check_finite",
    "check_choice",
    "check_distance",
    "check_positive",
    "check_pairs",
    "device_pairs",
    "first_few",
    "how_many",
    "owned",
    "read_only",
]

_FLOAT64 = np.dtype(np.float64)
MOST_BYTES = 1 << 62  # sums with it stay within int64


def first_few(indices: Any, limit: int = 5) -> str:
    """Text for the first few of some indices: ``"3, 8, 12, ..."``."""
    indices = np.atleast_1d(np.asarray(indices)).ravel()
    text = ", ".join(str(int(i)) for i in indices[:limit])
    return text + (", ..." if indices.size > limit else "")


def how_many(n: int, one: str, many: str | None = None) -> str:
    """A number of things in words: ``"1 row"``, ``"2 rows"``; `many` where that is not `one` with an s."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def read_only(array: Array) -> Array:
    """A view of `array` that cannot be written through (the caller's own array stays writable)."""
    view = array.view()
    view.flags.writeable = False
    return view


def owned(array: Any) -> Array:
    """A copy of `array` that nobody can write to, not even by asking NumPy for leave."""
    array = np.asarray(array)
    return np.ndarray(array.shape, array.dtype, array.tobytes())


def all_true(mask: Array) -> bool:
    """``mask.all()`` of an array of bool; in a tenth of the time for a few."""
    return b"\0" not in mask.tobytes()


class Frozen:
    """Base of what never changes after it is made: kernels index by its arrays without looking again.

    A copy is the thing itself. Out of a pickle the arrays come read-only again.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: cannot set {name!r}; make a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: cannot delete {name!r}")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        frozen = {k: owned(v) if isinstance(v, np.ndarray) else v for k, v in state.items()}
        self.__dict__.update(frozen)


def _own(array: Array, obj: Any) -> Array:
    """`array`, made from the caller's `obj`, as one that nobody else holds."""
    return array if isinstance(obj, (list, tuple)) else array.copy()


def as_numpy(obj: Any, name: str) -> Array:
    """Host array of anything array-like.

    Parameters
    ----------
    obj : array_like
        A NumPy array, nested lists, or anything with ``__dlpack__``, ``__cuda_array_interface__`` or
        ``__array__``.
    name : str
        Name of the argument, for messages.

    Returns
    -------
    numpy.ndarray
        Without a copy where possible; `as_float_array` and `as_int_array` make one.

    Raises
    ------
    TypeError
        `obj` is None, a string, ragged, or nothing that can be read as an array.
    """
    if isinstance(obj, np.ndarray):
        if isinstance(obj, np.ma.MaskedArray) and np.ma.is_masked(obj):
            raise TypeError(f"{name}: a masked array with masked elements was given; fill or drop them first")
        return np.asarray(obj)
    if obj is None or isinstance(obj, (str, bytes, dict, set, Frozen)):
        raise TypeError(f"{name}: expected an array, got {type(obj).__name__}")
    is_foreign = hasattr(obj, "__cuda_array_interface__") or hasattr(obj, "__dlpack__")
    try:
        host = device_to_host(obj) if is_foreign else None
        array = np.asarray(obj) if host is None else host
    except MemoryError:
        raise
    except Exception as error:  # foreign __array__ methods raise whatever they like
        raise TypeError(
            f"{name}: expected an array, got {type(obj).__name__} that NumPy cannot read: {error}"
            f"{'; give all rows as many numbers' if 'inhomogeneous' in str(error) else ''}"
        ) from error
    if array.dtype.kind == "O":
        if not array.ndim:
            raise TypeError(
                f"{name}: expected an array of numbers, got {type(obj).__name__}; pass a list or an array"
            )
        raise TypeError(
            f"{name}: expected an array of numbers, got {type(obj).__name__} of Python objects; replace what "
            "is no number, and what is too large for 64 bits"
        )
    return array


def as_device_floats(array: Any, name: str, shape: tuple[Any, ...]) -> Any:
    """`as_float_array` for a CuPy array: a float64 copy of our own there, without a look at values."""
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise TypeError(f"{name}: expected float32 or float64, got {array.dtype}")
    _check_shape(array, name, shape)
    with array.device:
        return array.astype(np.float64, order="C", copy=True)


def device_pairs(pairs: Any) -> Any:
    """Pairs that lie on a GPU as an int64 CuPy array of their own, (p, 2), whose values nobody has looked at;
    None for others, and for what `check_pairs` would refuse without a look."""
    there = on_device(pairs)
    if there is None or there.dtype.kind not in "iu" or there.ndim != 2 or there.shape[1] != 2:
        return None
    with there.device:
        return there.astype(np.int64, order="C", copy=True)


def _matches(shape: tuple[int, ...], wanted: tuple[Any, ...]) -> bool:
    """True if `shape` fits `wanted`: None is any length, a leading Ellipsis any number of leading axes."""
    if wanted and wanted[0] is Ellipsis:
        tail = wanted[1:]
        return len(shape) >= len(tail) and _matches(shape[len(shape) - len(tail) :], tail)
    return len(shape) == len(wanted) and all(w is None or s == w for s, w in zip(shape, wanted, strict=True))


def _shape_text(wanted: tuple[Any, ...]) -> str:
    parts = ["..." if w is Ellipsis else "n" if w is None else str(w) for w in wanted]
    return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"


def _check_shape(array: Any, name: str, shape: tuple[Any, ...] | None) -> None:
    if shape is not None and not _matches(array.shape, shape):
        turned = array.ndim == 2 and len(shape) == 2 and _matches(array.shape[::-1], shape)
        remedy = f"; pass {name}.T, a row for each" if turned else ""
        if shape[-1] == 3 and array.shape[-1:] == (2,):
            zero = f"numpy.c_[{name}, numpy.zeros(len({name}))]"
            remedy = f"; points in a plane take a third coordinate: {zero}"
        if name == "position" and array.shape[-1:] in ((4,), (7,)):
            remedy = "; places come first and quaternions second"
            if array.shape[-1] == 7:
                remedy = "; of both in one array pass array[..., :3] and array[..., 3:]"
        raise ValueError(f"{name}: expected shape {_shape_text(shape)}, got {array.shape}{remedy}")


def as_float_array(obj: Any, name: str, shape: tuple[Any, ...] | None = None) -> NDArray[np.float64]:
    """Contiguous float64 array of real numbers (float32 and integers are widened), never the caller's own.

    Raises ``TypeError`` for complex, boolean, text, object or extended-precision input and ``ValueError`` for
    a wrong shape. Does not look at the values: see `check_finite`.
    """
    if type(obj) is np.ndarray and obj.dtype is _FLOAT64:  # what comes in every step of a simulation
        if shape is None or (shape[0] is Ellipsis and obj.shape[1 - len(shape) :] == shape[1:]):
            return obj.copy()
    array = as_numpy(obj, name)
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        texts = f"; {name}.astype(float) reads numbers from texts" if array.dtype.kind in "US" else ""
        raise TypeError(f"{name}: expected float32 or float64, got {array.dtype}{texts}")
    _check_shape(array, name, shape)
    return np.array(array, dtype=np.float64, order="C")


def as_int_array(
    obj: Any,
    name: str,
    shape: tuple[Any, ...] | None = None,
    low: int | None = None,
    high: int | None = None,
    dtype: DTypeLike = np.int64,
    expected: str | None = None,
) -> Array:
    """Contiguous integer array with every value in ``[low, high)``, never the caller's own.

    `expected` says in messages what these values are, where "indices from .. to .." does not.

    An empty list counts as an empty integer array. Raises ``TypeError`` for a dtype that is not an integer,
    ``ValueError`` for a wrong shape or a value out of range (naming the first rows that are).
    """
    array = as_numpy(obj, name)
    if array.size == 0 and not isinstance(obj, np.ndarray) and array.dtype.kind == "f":
        array = array.astype(np.int64)  # NumPy calls [] a float array
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"{name}: expected integers, got {array.dtype}; pass numpy.asarray({name}, dtype=int)"
        )
    _check_shape(array, name, shape)
    array = _own(array, obj)
    if array.size:
        bad = np.zeros(array.shape, bool)
        if low is not None:
            bad |= array < low
        if high is not None:
            bad |= array >= high
        if bad.any():
            where = np.unique(np.argwhere(bad)[:, 0]) if array.ndim else np.zeros(1, int)
            value = array[bad].ravel()[0] if array.ndim else array[()]
            if expected is None:
                low_text = "-inf" if low is None else str(low)
                high_text = "inf" if high is None else str(high - 1)
                expected = f"indices from {low_text} to {high_text}"
            raise ValueError(
                f"{name}: expected {expected}, got {int(value)} "
                f"({how_many(len(where), 'row')} out of range, first: {first_few(where)})"
            )
    return np.asarray(array, dtype=dtype, order="C")


def as_parts(parts: Iterable[Any], kind: type, name: str) -> list[Any]:
    """The argument ``parts``: at least one, all of the class `kind`, which is called `name`."""
    if isinstance(parts, kind) or not isinstance(parts, Iterable):
        hint = "; put it into a list" if isinstance(parts, kind) else ""
        raise TypeError(f"parts: expected a sequence of {name}, got a single {type(parts).__name__}{hint}")
    parts = list(parts)
    for k, part in enumerate(parts):
        if not isinstance(part, kind):
            raise TypeError(f"parts: expected {name}, got {type(part).__name__} as part {k}")
    if not parts:
        raise ValueError(f"parts: expected at least one {name}, got none")
    return parts


def check_finite(array: Array, name: str) -> Array:
    """Raise ``ValueError`` naming the first rows of `array` that hold NaN or infinity; of one dimension, the
    first numbers."""
    bad = ~np.isfinite(array)
    if bad.any():
        rows = np.unique(np.argwhere(bad)[:, 0]) if array.ndim else np.zeros(1, int)
        what = how_many(len(rows), "row" if array.ndim > 1 else "number")
        raise ValueError(
            f"{name}: expected finite numbers, got NaN or infinity in {what}, "
            f"first: {first_few(rows)}; mend them or leave them out"
        )
    return array


def check_bool(value: Any, name: str) -> bool:
    """Raise ``TypeError`` unless `value` is True or False; returns it as ``bool``."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected a bool, got {type(value).__name__}; pass True or False")
    return bool(value)


def check_callable(value: Any, name: str) -> Any:
    """Raise ``TypeError`` unless `value` is None or can be called; returns it."""
    if value is not None and not callable(value):
        raise TypeError(f"{name}: expected a callable or None, got {type(value).__name__}")
    return value


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """Raise ``ValueError`` unless `value` is one of `choices` (``TypeError`` if it is no string)."""
    if isinstance(value, str) and value in choices:
        return value
    options = ", ".join(repr(c) for c in choices)
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected one of {options}, got {type(value).__name__}")
    raise ValueError(f"{name}: expected one of {options}, got {value!r}")


def check_positive(value: Any, name: str, none_ok: bool = False, integer: bool = False) -> Any:
    """Check a finite number above zero; returns it as ``float`` or ``int`` (None where allowed)."""
    if value is None and none_ok:
        return None
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    what = "a positive integer" if integer else "a positive number"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kinds):
        raise TypeError(f"{name}: expected {what}{' or None' if none_ok else ''}, got {type(value).__name__}")
    if not value > 0 or (isinstance(value, (float, np.floating)) and not np.isfinite(value)):
        raise ValueError(f"{name}: expected {what}, got {value}")
    try:
        return int(value) if integer else float(value)
    except OverflowError:
        raise ValueError(
            f"{name}: expected {what} that a float holds, got an integer of {int(value).bit_length()} bits"
        ) from None


def check_distance(value: Any, name: str) -> float:
    """Check a length from zero up; returns it as ``float``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}: expected a length from 0 up, got {type(value).__name__}")
    if not 0 <= value < np.inf:
        raise ValueError(f"{name}: expected a length from 0 up, got {value}")
    return check_positive(value, name) if value else 0.0


def lengths_of_pairs(value: Any, name: str, n: int | None, most: float = np.inf) -> Any:
    """Check lengths from zero up to `most`, one for all or, if there are `n` given pairs, (n,) of each;
    returns a float or float64 array."""
    if np.ndim(value) == 0:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
            raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    elif n is None:
        raise ValueError(
            f"{name}: expected one length where the pairs are found, got shape {np.shape(value)}; pass pairs "
            "with an array that has one for each"
        )
    lengths = as_float_array(value, name)
    if lengths.shape not in ((), (n,)):
        raise ValueError(f"{name}: expected a length, or shape ({n},) for the pairs, got {lengths.shape}")
    if not ((lengths >= 0.0) & (lengths <= most)).all():
        wrong = lengths[~((lengths >= 0.0) & (lengths <= most))].reshape(-1)[0]
        upper = ", or inf" if most == np.inf else ""
        raise ValueError(f"{name}: expected a length from 0 up{upper}, got {wrong}")
    return lengths if lengths.ndim else float(lengths)


def check_bytes(value: Any, default: int, name: str = "max_bytes") -> int:
    """Check a number of bytes, `default` for None; more than any machine has is as good as `MOST_BYTES`."""
    if isinstance(value, str):
        raise TypeError(f"{name}: expected a positive integer or None, got str; pass a number, as 2 * 10**9")
    return min(check_positive(value, name, none_ok=True, integer=True) or default, MOST_BYTES)


def check_pairs(pairs: Any, n_bodies: int, name: str = "pairs") -> NDArray[np.int32]:
    """Pairs of bodies as an int32 array.

    Parameters
    ----------
    pairs : (p, 2) array_like of int
        Indices of bodies; duplicates are fine, p = 0 is fine (an empty list too).
    n_bodies : int
        Number of bodies.

    Returns
    -------
    (p, 2) int32 ndarray
        A copy.

    Raises
    ------
    TypeError
        Not integers.
    ValueError
        Wrong shape, an index out of range, or a body paired with itself.
    """
    array = as_numpy(pairs, name)
    if array.shape == (0, 2) or (array.shape == (0,) and not isinstance(pairs, np.ndarray)):
        return np.zeros((0, 2), np.int32)
    if array.shape == (2,):
        raise ValueError(f"{name}: expected shape (n, 2), got (2,); for one pair pass [[a, b]]")
    if array.dtype.kind == "f":
        raise TypeError(
            f"{name}: expected integers, got {array.dtype}; pass numpy.asarray({name}, dtype=int)"
        )
    none = None if n_bodies else "no pairs, since there are no bodies"
    array = as_int_array(array, name, shape=(None, 2), low=0, high=n_bodies, dtype=np.int32, expected=none)
    itself = np.flatnonzero(array[:, 0] == array[:, 1])
    if itself.size:
        raise ValueError(
            f"{name}: expected two different bodies in each row, got a body with itself in "
            f"{how_many(itself.size, 'row')}, first: {first_few(itself)}; leave them out"
        )
    return array
