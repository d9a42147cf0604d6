"""`Contacts`: the frozen result, its views, its file."""

import dataclasses
import io

import numpy as np
import pytest

from gpu_collide.results.contacts import CONTACT_DTYPE, Contacts, Kind, Status

pytestmark = pytest.mark.smoke

COUNTS = (2, 0, 1)


def fields(seed=0):
    """Fields of a plausible result: three pairs with 2, 0 and 1 contacts."""
    rng = np.random.default_rng(seed)
    c = sum(COUNTS)
    return dict(
        status=[Status.HIT, Status.MISS, Status.INITIAL_OVERLAP],
        toi=[0.25, np.inf, 0.5],
        contact_start=[0, 2, 2, 3],
        pair=[0, 0, 2],
        kind=[Kind.FV, Kind.EE, Kind.EE],
        feature_a=[1, 2, 3],
        feature_b=[4, 5, 6],
        time=[0.25, 0.75, 0.5],
        position=rng.normal(size=(c, 3)),
        normal=rng.normal(size=(c, 3)),
        properness=rng.uniform(-1, 1, c),
        local_a=rng.normal(size=(c, 3)),
        local_b=rng.normal(size=(c, 3)),
        normal_speed=[-1, -2, 0],
        sustained=[False, False, True],
        time_end=[0.25, 0.75, 0.9],
    )


def make(**changes):
    info = dict(backend="cpu", precision="mixed", resolution=np.float64(2), timings={"s01": 0.5}, notes=["a"])
    return Contacts(**{**fields(), "info": info, **changes})


class OnDevice:
    """Stands for a CuPy array."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    __cuda_array_interface__ = property(lambda self: {"shape": self.shape, "version": 3})

    def __array__(self, *_):
        raise TypeError("implicit copy")

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        return OnDevice(np.asarray(self.array[index]))

    def get(self):
        return self.array


def on_device():
    host = make()
    return Contacts(**{n: OnDevice(getattr(host, n)) for n in fields()}, info=host.info)


def assert_same(a, b):
    for name in fields():
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype and np.array_equal(x, y), name


def test_dtypes_and_lengths():
    contacts = make()
    assert len(contacts) == 3 and contacts.n_pairs == 3
    expected = {
        "status": "u1",
        "toi": "f8",
        "contact_start": "i8",
        "pair": "i4",
        "kind": "u1",
        "sustained": "?",
    }
    for name, code in expected.items():
        assert getattr(contacts, name).dtype == np.dtype(code)
    assert [int(s) for s in Status] == [0, 1, 2, 3, 4] and [int(k) for k in Kind] == [0, 1, 2, 3, 4, 5, -1]


def test_frozen():
    contacts = make()
    with pytest.raises(dataclasses.FrozenInstanceError):
        contacts.time = None
    with pytest.raises(ValueError):
        contacts.time[0] = 3


def test_arrays_of_a_result_are_not_copied():
    position = np.zeros((3, 3))
    assert np.shares_memory(make(position=position).position, position) and position.flags.writeable


@pytest.mark.parametrize("name", ["toi", "contact_start", "kind", "position", "time_end"])
def test_lengths_must_agree(name):
    with pytest.raises(ValueError, match=f"{name}: expected shape"):
        make(**{name: np.zeros((9, 3))})


def test_of_pair():
    contacts = make()
    first = contacts.of_pair(0)
    assert first.dtype == CONTACT_DTYPE and first["time"].tolist() == [0.25, 0.75]
    assert np.array_equal(first["position"], contacts.position[:2])
    assert len(contacts.of_pair(1)) == 0
    assert contacts.of_pair(-1)["sustained"].tolist() == [True]
    assert contacts.of_pair(np.int64(2))["kind"].tolist() == [Kind.EE]
    for index in (3, -4):
        with pytest.raises(IndexError, match="there are 3 pairs"):
            contacts.of_pair(index)


def test_device_arrays_stay_until_asked():
    contacts = on_device()
    assert isinstance(contacts.time, OnDevice) and len(contacts) == 3
    assert_same(contacts.to_numpy(), make())
    assert contacts.of_pair(0)["feature_b"].tolist() == [4, 5]
    assert repr(contacts) == repr(make())
    with pytest.raises(ValueError, match="position: expected shape"):
        make(position=OnDevice(np.zeros(3)))


def test_to_numpy_is_itself_on_the_host():
    contacts = make()
    assert contacts.to_numpy() is contacts


@pytest.mark.parametrize("build", [make, on_device])
def test_save_and_load(tmp_path, build):
    build().save(tmp_path / "result.npz")
    back = Contacts.load(tmp_path / "result.npz")
    assert_same(back, make())
    assert back.info == {**make().info, "resolution": 2.0}


def test_save_adds_the_suffix_and_info_may_hold_anything(tmp_path):
    make(info={"array": np.arange(2), "object": Status, "flag": np.bool_(True)}).save(
        str(tmp_path / "result")
    )
    info = Contacts.load(tmp_path / "result.npz").info
    assert info["array"] == [0, 1] and info["flag"] is True
    assert Contacts.load(tmp_path / "result").info == info, "as it was saved"


def test_load_refuses_other_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="path: there is no file .*nothing.npz"):
        Contacts.load(tmp_path / "nothing.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match=r"written by Contacts.save, got .*text.npz: not a NumPy file"):
        Contacts.load(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", time=np.zeros(3))
    with pytest.raises(ValueError, match="it lacks format_version, info, status"):
        Contacts.load(tmp_path / "other.npz")
    np.save(tmp_path / "single.npy", np.zeros(3))
    with pytest.raises(ValueError, match="single array"):
        Contacts.load(tmp_path / "single.npy")
    make().save(tmp_path / "result.npz")
    with np.load(tmp_path / "result.npz") as file:
        newer = {**file, "format_version": 99}
    np.savez(tmp_path / "newer.npz", **newer)
    with pytest.raises(ValueError, match="has format 99"):
        Contacts.load(tmp_path / "newer.npz")


def test_repr_tells_what_was_found():
    text = repr(make())
    assert "3: 1 MISS, 1 HIT, 1 INITIAL_OVERLAP" in text and "3: 1 FV, 2 EE" in text
    assert "t = 0.25 in pair 0" in text and "sustained 1" in text and "cpu, mixed" in text


def test_empty_result(tmp_path):
    nothing = {name: np.zeros((0, *np.shape(value)[1:])) for name, value in fields().items()}
    empty = Contacts(**{**nothing, "contact_start": [0]})
    assert len(empty) == 0 and empty.n_pairs == 0 and "contacts  0: none" in repr(empty)
    empty.save(tmp_path / "e.npz")
    assert_same(Contacts.load(tmp_path / "e.npz"), empty)
    missed = Contacts(**{**nothing, "status": [0], "toi": [np.inf], "contact_start": [0, 0]})
    assert "1: 1 MISS" in repr(missed) and len(missed.of_pair(0)) == 0


@pytest.mark.parametrize("index", [0.5, "0", "a", None, True, np.True_, [0], np.float64(1)])
def test_of_pair_takes_integers_only(index):
    with pytest.raises(TypeError, match="^index: expected an integer.* got .*; for"):
        make().of_pair(index)


def test_of_pair_takes_every_kind_of_integer():
    for index in (0, np.int32(0), np.uint64(0), np.array(0), -3):
        assert len(make().of_pair(index)) == 2


@pytest.mark.parametrize("path", [None, 3, b"a.npz", ["a.npz"]])
def test_paths_of_the_wrong_kind(path):
    for use in (make().save, Contacts.load):
        with pytest.raises(TypeError, match="^path: expected a str, path-like or binary file, got .*; pass"):
            use(path)


def test_open_files_are_paths():
    file = io.BytesIO()
    make().save(file)
    file.seek(0)
    assert_same(make(), Contacts.load(file))
