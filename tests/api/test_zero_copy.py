"""On `cpu` nothing is copied that need not be: arrays of other libraries are read where they are, copied once
into what is checked (docs/promises.md), handed to the kernels as they are, and results are given away so."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import _validate
from gpu_collide.backends import get_backend
from gpu_collide.backends.cpu import CpuBackend
from gpu_collide.errors import BackendUnavailableError


class Exported:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **keywords):
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def from_torch(array):
    return pytest.importorskip("torch").from_numpy(array)


LIBRARIES = {"numpy": lambda array: array, "dlpack": Exported, "torch": from_torch}


@pytest.fixture(params=LIBRARIES)
def of(request):
    """What makes an array of a library out of one of NumPy, in the same memory."""
    return LIBRARIES[request.param]


@pytest.fixture
def cpu():
    try:
        return get_backend("cpu")
    except BackendUnavailableError as error:
        pytest.skip(str(error))


def numbers(n=20):
    rng = np.random.default_rng(1)
    quat = rng.normal(size=(2, n, 4))
    quat /= np.linalg.norm(quat, axis=2)[..., None]
    return rng.normal(size=(2, n, 3)), quat, np.arange(n).reshape(-1, 2)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i8"])
def test_arrays_are_read_where_they_are(of, dtype):
    array = np.arange(12).reshape(4, 3).astype(dtype)
    assert np.shares_memory(_validate.as_numpy(of(array), "x"), array)


def test_one_copy_lies_between_the_caller_and_the_kernels(of, cpu, monkeypatch):
    position, quat, pairs = numbers()
    start, end = (gc.Poses.from_quat_wxyz(of(p), of(q)) for p, q in zip(position, quat, strict=True))
    bodies = gc.Bodies(gc.shapes.box(), None, start, end)
    wanted = gc.collide(gc.Bodies(gc.shapes.box(), None, start, end), pairs.tolist(), backend="cpu")
    handed = []
    real = CpuBackend.to_device

    def to_device(self, array, **keywords):
        buffer = real(self, array, **keywords)
        handed.append((array, buffer))
        return buffer

    monkeypatch.setattr(CpuBackend, "to_device", to_device)
    found = gc.collide(bodies, of(pairs), backend="cpu")
    for own in (start.position, end.position, start.unit_wxyz, end.unit_wxyz, bodies.shape):
        assert not np.shares_memory(own, position) and not np.shares_memory(own, quat)
        (buffer,) = (buffer for array, buffer in handed if np.shares_memory(array, own))
        assert np.shares_memory(buffer, own)
    for name in ("time", "position", "pair", "status", "pairs"):
        assert getattr(found, name).tobytes() == getattr(wanted, name).tobytes(), name
    assert len(found) > 5


def test_results_are_given_away_as_they_are(cpu):
    position, quat, pairs = numbers()
    start, end = (gc.Poses.from_quat_wxyz(p, q) for p, q in zip(position, quat, strict=True))
    for results in ("auto", "host", "device"):
        found = gc.collide(
            gc.Bodies(gc.shapes.box(), None, start, end), pairs, backend="cpu", results=results
        )
        assert type(found.position) is np.ndarray and found.to_numpy() is found
        assert np.shares_memory(np.asarray(found.position), found.position)
        if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # tells others that it may only be read
            assert np.shares_memory(np.from_dlpack(found.position), found.position)
