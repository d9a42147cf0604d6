"""CuPy's ndarray: a view of the simulated device's memory, computed on by NumPy behind its back."""

import operator
import types

import numpy as np

from cupy import cuda
from cupy._memory import MemoryPointer, allocate

__all__ = ["ndarray"]

_IMPLICIT = (
    "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array "
    "explicitly."
)


class ndarray:  # noqa: N801  CuPy's name
    """An array on a device. `view_` is a NumPy view of its bytes, `buffer` what they belong to."""

    __array_priority__ = 100
    __hash__ = None

    def __init__(self, view_, buffer):
        self.view_, self.buffer = view_, buffer

    shape = property(lambda self: self.view_.shape)
    dtype = property(lambda self: self.view_.dtype)
    size = property(lambda self: self.view_.size)
    ndim = property(lambda self: self.view_.ndim)
    nbytes = property(lambda self: self.view_.nbytes)
    itemsize = property(lambda self: self.view_.itemsize)
    strides = property(lambda self: self.view_.strides)
    T = property(lambda self: ndarray(self.view_.T, self.buffer))

    @property
    def flags(self):
        f = self.view_.flags
        return types.SimpleNamespace(
            c_contiguous=f.c_contiguous, f_contiguous=f.f_contiguous, owndata=f.owndata
        )

    @property
    def device(self):
        return cuda.Device(self.buffer.device.number)

    @property
    def data(self):
        at = self.view_.__array_interface__["data"][0] if self.size else 0
        return MemoryPointer(at, self.buffer.device.number)

    @property
    def __cuda_array_interface__(self):
        stream = cuda.get_current_stream().ptr or 1
        strides = None if self.flags.c_contiguous else self.strides
        about = {"shape": self.shape, "typestr": self.dtype.str, "descr": self.dtype.descr, "version": 3}
        return about | {"stream": stream, "strides": strides, "data": (self.data.ptr, False)}

    # -- to the host -----------------------------------------------------------------------------------------
    def __array__(self, *_, **__):
        raise TypeError(_IMPLICIT)

    def get(self, stream=None, order="C", out=None, blocking=True):
        cuda.check_pending()
        stream = stream or cuda.get_current_stream()
        with stream:
            cuda.use_on_stream([self], "down")
        cuda.moved.update({"down": 1, "bytes down": self.nbytes})
        if blocking:
            stream.is_read()
        if out is None:
            return self.view_.copy(order=order)
        out[...] = self.view_
        return out

    def item(self, *index):
        cuda.check_pending()
        cuda.use_on_stream([self], "down").is_read()
        cuda.moved.update({"down": 1, "bytes down": self.itemsize})
        return self.view_.item(*index)

    def tolist(self):
        return self.get().tolist()

    def tobytes(self, order="C"):
        return self.get().tobytes(order)

    def __bool__(self):
        return bool(self.get())

    def __int__(self):
        return int(self.get())

    def __float__(self):
        return float(self.get())

    def __index__(self):
        return operator.index(self.get())

    def __format__(self, spec):
        return format(self.get(), spec) if self.ndim else format(self.item(), spec)

    def __repr__(self):
        return repr(self.get())

    def __str__(self):
        return str(self.get())

    # -- on the device ---------------------------------------------------------------------------------------
    def reshape(self, *shape, order="C"):
        return _view_or_copy(self, self.view_.reshape(*shape, order=order))

    def ravel(self, order="C"):
        return _view_or_copy(self, self.view_.ravel(order))

    def view(self, *of):
        return ndarray(self.view_.view(*of), self.buffer)

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        if not copy and self.dtype == dtype:
            return self
        return _new(self.view_.astype(dtype))

    def copy(self, order="C"):
        return _new(self.view_)

    def fill(self, value):
        _no_numpy(value)
        self.view_.fill(_plain(value))
        self._was_written(self.view_)

    def set(self, array, stream=None):
        cuda.check_pending()
        if not isinstance(array, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if array.dtype != self.dtype or array.shape != self.shape:
            raise TypeError(f"{array.dtype} of {array.shape} cannot be set to {self.dtype} of {self.shape}")
        if stream is not None and not cuda.is_pinned(array):
            raise cuda.simulated.Failure(
                f"{array.nbytes} bytes of pageable memory are copied on stream {stream.ptr}, which does not "
                "go beside the host's work: take pinned memory"
            )
        cuda.moved.update({"up": 1, "bytes up": array.nbytes})
        self.view_[...] = array
        with stream or cuda.get_current_stream() as on:
            self._was_written(self.view_, "up")
        if stream is not None:
            on.copies(array)

    def _was_written(self, view, what=""):
        cuda.use_on_stream([ndarray(view, self.buffer)], what)
        self.buffer.device.written(view)

    def __len__(self):
        return len(self.view_)

    def __getitem__(self, key):
        found = self.view_[_key(key)]
        return _view_or_copy(self, np.asarray(found) if isinstance(found, np.generic) else found, key)

    def __setitem__(self, key, value):
        _no_numpy(value)
        self.view_[_key(key)] = _plain(value)
        if isinstance(key, (slice, int, type(Ellipsis), np.integer, tuple)):
            target = (
                self.view_[_key(key)]
                if not isinstance(key, (int, np.integer))
                else self.view_[key : key + 1 or None]
            )
            if target.base is not None and np.shares_memory(target, self.view_, max_work=1):
                return self._was_written(target)
        self._was_written(self.view_)  # by a list of places: which ones is not kept

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **keywords):
        if method != "__call__":
            return NotImplemented
        for x in inputs:
            _no_mix(x)
        found = ufunc(*map(_plain, inputs), **{k: _plain(v) for k, v in keywords.items()})
        if out is not None:
            out[0][...] = _wrapped(found)
            return out[0]
        return _wrapped(found)

    def __array_function__(self, function, kinds, args, keywords):
        _no_mix(args)
        _no_mix(list(keywords.values()))
        out = keywords.pop("out", None)
        found = _wrapped(function(*_plain(args), **{k: _plain(v) for k, v in keywords.items()}))
        if out is not None:
            out[...] = found
        return found


def _binary(name):
    operation = getattr(operator, name, None)

    def method(self, other):
        _no_mix(other)
        return _wrapped(getattr(self.view_, f"__{name}__")(_plain(other)))

    def in_place(self, other):
        _no_mix(other)
        self[...] = _wrapped(operation(self.view_, _plain(other))).astype(self.dtype)
        return self

    return method, in_place


for _name in ("add sub mul truediv floordiv mod pow and or xor lshift rshift").split():
    for _prefix in ("", "r"):
        setattr(ndarray, f"__{_prefix}{_name}__", _binary(_prefix + _name)[0])
    setattr(ndarray, f"__i{_name}__", _binary(_name if hasattr(operator, _name) else _name + "_")[1])
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "matmul"):
    setattr(ndarray, f"__{_name}__", _binary(_name)[0])


def _unary(name):
    def method(self, *args, **keywords):
        _no_mix(args)
        return _wrapped(getattr(self.view_, name)(*_plain(args), **keywords))

    return method


_UNARY = (
    "__neg__ __abs__ __invert__ sum min max any all mean argmin argmax cumsum nonzero argsort round clip "
    "take prod squeeze transpose"
)
for _name in _UNARY.split():
    setattr(ndarray, _name, _unary(_name))


# -- what goes in and out ------------------------------------------------------------------------------------
def _no_mix(x):
    """CuPy's operations take its own arrays and scalars."""
    if isinstance(x, np.ndarray) and x.ndim:
        raise TypeError(f"Unsupported type {type(x)}")
    if isinstance(x, (list, tuple)):
        for y in x:
            _no_mix(y)


def _no_numpy(value):
    if isinstance(value, np.ndarray) and value.ndim:
        raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
    if isinstance(value, (list, tuple)):
        raise ValueError("non-scalar sequence cannot be used for fill")


def _plain(x):
    if isinstance(x, ndarray):
        cuda.use_on_stream([x])
        return x.view_
    return type(x)(_plain(y) for y in x) if type(x) in (list, tuple) else x


def _key(key):
    if isinstance(key, list):
        raise TypeError("Unsupported type <class 'list'>: index with an array")
    return tuple(_plain(k) for k in key) if isinstance(key, tuple) else _plain(key)


def _wrapped(x):
    if isinstance(x, (list, tuple)):
        return type(x)(_wrapped(y) for y in x)
    return _new(np.asarray(x)) if isinstance(x, (np.ndarray, np.generic)) else x


def _view_or_copy(of, found, key=None):
    """`found` as an array: a view if it lies in the buffer of `of`, else its own."""
    at, base = found.__array_interface__["data"][0], of.buffer.bytes.__array_interface__["data"][0]
    if found.size and base <= at < base + max(of.buffer.n, 1):
        return ndarray(found, of.buffer)
    if not found.size:
        return ndarray(found, of.buffer)
    if isinstance(key, (int, np.integer)) or (
        isinstance(key, tuple) and all(isinstance(k, int) for k in key)
    ):
        flat = np.ravel_multi_index(
            [k % n for k, n in zip(np.atleast_1d(key), of.shape, strict=True)], of.shape
        )
        return ndarray(of.view_.reshape(-1)[flat : flat + 1].reshape(()), of.buffer)
    return _new(found)


# -- CuPy's functions ----------------------------------------------------------------------------------------
def empty(shape, dtype=float, order="C"):
    dtype = np.dtype(dtype)
    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(int(s) for s in shape)
    if not dtype.isnative:
        raise ValueError(f"Unsupported byte order {dtype}")
    n = dtype.itemsize
    for s in shape:
        n *= s
    cuda.check_pending()
    buffer = allocate(cuda.Device().id, n)
    buffer.uses = cuda.Uses(buffer, cuda.get_current_stream())
    return ndarray(buffer.bytes.view(dtype).reshape(shape), buffer)


def _new(values, what=""):
    made = empty(values.shape, values.dtype)
    made.view_[...] = values
    made._was_written(made.view_, what)
    return made


def array(obj, dtype=None, copy=True, order="K"):
    if isinstance(obj, ndarray):
        return _new(obj.view_.astype(dtype or obj.dtype))
    values = np.asarray(obj, dtype)
    if values.dtype.kind not in "biufc":
        raise ValueError(f"Unsupported dtype {values.dtype}")
    cuda.moved.update({"up": 1, "bytes up": values.nbytes})
    return _new(values, "up")


def asarray(obj, dtype=None, order=None, *, blocking=False):
    if isinstance(obj, ndarray) and dtype in (None, obj.dtype):
        return obj
    if not isinstance(obj, (ndarray, np.ndarray)) and hasattr(obj, "__cuda_array_interface__"):
        raise NotImplementedError("memory of another library")
    return array(obj, dtype)


def ascontiguousarray(a, dtype=None):
    a = asarray(a, dtype)
    return a if a.flags.c_contiguous else a.copy()


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    return a.get(stream, order, out) if isinstance(a, ndarray) else np.asarray(a)


def zeros(shape, dtype=float, order="C"):
    return full(shape, 0, dtype)


def ones(shape, dtype=float, order="C"):
    return full(shape, 1, dtype)


def full(shape, value, dtype=None):
    made = empty(shape, np.result_type(value) if dtype is None else dtype)
    made.fill(value)
    return made


def arange(*args, dtype=None):
    return _new(np.arange(*args, dtype=dtype))


def stack(arrays, axis=0):
    return _joined(np.stack, arrays, axis)


def concatenate(arrays, axis=0):
    return _joined(np.concatenate, arrays, axis)


def _joined(how, arrays, axis):
    arrays = list(arrays)
    for a in arrays:
        if not isinstance(a, ndarray):
            raise TypeError(f"Only cupy arrays can be joined, got {type(a)}")
    return _new(how([_plain(a) for a in arrays], axis))


def where(condition, x, y):
    _no_mix([condition, x, y])
    return _new(np.where(*map(_plain, (condition, x, y))))


def lexsort(keys):
    if not isinstance(keys, ndarray):
        raise TypeError("lexsort takes one cupy array of keys")
    return _new(np.lexsort(_plain(keys)))


def cumsum(a, axis=None, dtype=None, out=None):
    _no_mix(a)
    found = np.cumsum(_plain(a), axis, dtype)
    if out is None:
        return _new(found)
    out[...] = _new(found)
    return out


def array_equal(a, b):
    _no_mix([a, b])
    return _new(np.asarray(np.array_equal(_plain(a), _plain(b))))


def get_array_module(*args):
    import cupy

    return cupy if any(isinstance(a, ndarray) for a in args) else np
