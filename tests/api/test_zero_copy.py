"""On `cpu` nothing is copied that need not be: arrays of other libraries are read where they are, copied once
into what is checked (docs/guarantees.md), handed to the kernels as they are, and results are given away."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import _validate
from gpu_collide.backends import get_backend
from gpu_collide.backends.cpu import CpuBackend
from gpu_collide.errors import BackendUnavailableError

TELLS_READ_ONLY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class Described:
    """An array that has ``__array_interface__`` and nothing else."""

    def __init__(self, array):
        self._array, self.__array_interface__ = array, array.__array_interface__


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


LIBRARIES = {
    "numpy": lambda array: array, "interface": Described, "dlpack": Exported, "torch": from_torch
}  # fmt: skip


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
    for part in (array, array[::2], array[:, 1:], array.T):  # as they lie, with their strides
        found = _validate.as_numpy(of(part), "x")
        assert np.shares_memory(found, part) and np.array_equal(found, part)


def test_a_tensor_with_a_gradient_is_read_where_it_is():
    torch = pytest.importorskip("torch")
    tensor = torch.ones(4, 3, requires_grad=True)
    assert _validate.as_numpy(tensor, "x").__array_interface__["data"][0] == tensor.data_ptr()


def test_tensors_that_numpy_cannot_read_are_named():
    """Whatever class of error the library has for it."""
    torch = pytest.importorskip("torch")
    turned = torch.ones(4, 3, dtype=torch.complex64).conj()
    brain, nowhere = torch.ones(4, 3, dtype=torch.bfloat16), torch.ones(4, 3, device="meta")
    for tensor in (brain, turned, turned.imag, nowhere, torch.eye(3).to_sparse()):
        for read in (gc.Poses.from_quat_wxyz, gc.Poses.from_quat_xyzw):
            with pytest.raises(TypeError, match="^quat: expected an array, got Tensor that NumPy cannot"):
                read(np.ones((4, 3)), tensor)
    with pytest.raises(TypeError, match="^pairs: expected an array, got Tensor"):
        _validate.check_pairs(torch.ones(4, 2, dtype=torch.bfloat16), 4)


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
        if TELLS_READ_ONLY:
            assert np.shares_memory(np.from_dlpack(found.position), found.position)


@pytest.mark.skipif(not TELLS_READ_ONLY, reason="NumPy before 2.1 gives no read-only array away by DLPack")
@pytest.mark.parametrize("name", ["time", "position", "pair", "sustained", "status", "contact_start"])
def test_torch_takes_results_where_they_are(cpu, name):
    torch = pytest.importorskip("torch")
    position, quat, pairs = numbers()
    bodies = gc.Bodies(gc.shapes.box(), None, *map(gc.Poses.from_quat_wxyz, position, quat))
    found = getattr(gc.collide(bodies, pairs, backend="cpu"), name)
    tensor = torch.from_dlpack(found)
    assert tensor.data_ptr() == found.__array_interface__["data"][0] and tensor.numel() == found.size > 5


def test_a_scene_takes_steps_from_a_library_as_from_numpy(of, cpu):
    """`update` and `collide` again and again, the one copy of each array being the library's own."""
    position, quat, pairs = numbers()
    scenes = [gc.Scene(gc.shapes.box(), np.zeros(20, int), backend="cpu") for _ in range(2)]
    for _ in range(3):
        for scene, make in zip(scenes, (np.asarray, of), strict=True):
            scene.update(*zip(map(make, position), map(make, quat), strict=True))
        here, there = scenes[0].collide(pairs), scenes[1].collide(of(pairs))
        assert here.time.tobytes() == there.time.tobytes() and here.pairs.tobytes() == there.pairs.tobytes()
