"""`Contacts`: the frozen result of a query."""

import dataclasses
import enum
import json
import operator
import os

import numpy as np

from gpu_collide._validate import as_numpy
from gpu_collide.results.faults import contact_faults, normal_faults
from gpu_collide.results.npz import read_result, save_name, write_result
from gpu_collide.results.report import FilterReport

__all__ = ["Contacts", "Kind", "Status", "CONTACT_DTYPE", "sealed"]


class Status(enum.IntEnum):
    """Outcome of a pair."""

    MISS = 0  #: no reported contact (perhaps some below ``min_properness``)
    HIT = 1  #: at least one reported contact
    INITIAL_OVERLAP = 2  #: the solids overlap at the start, unless ``check_start=False``; contacts are kept
    INVALID_INPUT = 3  #: a pose that is not finite or not rigid; no contacts
    UNRESOLVED = 4  #: a cap was hit, what was found is kept; or a motion beyond all digits, without contacts


class Kind(enum.IntEnum):
    """Which features meet."""

    FV = 0  #: a face of A and a vertex of B
    VF = 1  #: a vertex of A and a face of B
    EE = 2  #: an edge of A and an edge of B


_PER_PAIR = {"status": np.uint8, "toi": np.float64, "contact_start": np.int64}
_PER_CONTACT = {
    "pair": (np.int32, ()),
    "kind": (np.uint8, ()),
    "feature_a": (np.int32, ()),
    "feature_b": (np.int32, ()),
    "time": (np.float64, ()),
    "position": (np.float64, (3,)),
    "normal": (np.float64, (3,)),
    "properness": (np.float64, ()),
    "local_a": (np.float64, (3,)),
    "local_b": (np.float64, (3,)),
    "normal_speed": (np.float64, ()),
    "sustained": (np.bool_, ()),
    "time_end": (np.float64, ()),
}
CONTACT_DTYPE = np.dtype([(name, dtype, shape) for name, (dtype, shape) in _PER_CONTACT.items()], align=True)

FILE_VERSION = 3  # 2: pairs; 3: checksums
FIRST_SUMMED = 3


def canonical(name, array, dtype, shape):
    """Check one field; host arrays are cast and made read-only, device arrays are left where they are."""
    if not isinstance(array, np.ndarray) and hasattr(array, "__cuda_array_interface__"):
        if tuple(array.shape) != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {tuple(array.shape)}")
        # kernels write bytes that are 0 or 1; as numbers they would index instead of choose
        return array.view(np.bool_) if dtype is np.bool_ and array.dtype == np.uint8 else array
    if type(array) is not np.ndarray:
        array = as_numpy(array, name)
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    if array.dtype == dtype and array.flags.c_contiguous:
        array = array.view()  # whoever made it may write to theirs
    else:
        array = np.ascontiguousarray(array, dtype=dtype).reshape(shape).view()
    array.flags.writeable = False
    return array


def sealed(fields, info):
    """`Contacts` of arrays that were made for it: nothing is checked and nothing copied.

    Parameters
    ----------
    fields : dict
        All fields but ``info``, of their dtypes and shapes. They become read-only, and belong to the result.
    info : dict
        Belongs to the result as well.
    """
    for array in fields.values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    found = object.__new__(Contacts)
    found.__dict__.update(fields, info=info)
    return found


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Contacts:
    """Every contact of every pair: arrays ordered by (pair, time, kind, feature_a, feature_b).

    Arrays may live on the device that computed them until `to_numpy` is called. ``len()`` is the number of
    contacts.

    Attributes
    ----------
    status : (p,) uint8
        `Status` of each pair.
    toi : (p,) float64
        Earliest reported time of each pair as a share of the step, ``inf`` if there is none.
    contact_start : (p + 1,) int64
        Contacts ``contact_start[i]:contact_start[i + 1]`` belong to pair i.
    pair : (c,) int32
        Row of `pairs`.
    kind : (c,) uint8
        `Kind`: FV 0, VF 1, EE 2.
    feature_a, feature_b : (c,) int32
        Numbers of the face, vertex or edge in A's and B's `Mesh`.
    time : (c,) float64
        In [0, 1], 0 the start and 1 the end of the step.
    position : (c, 3) float64
        World position at that time, with A moving by its own screw.
    normal : (c, 3) float64
        Unit, world frame at that time, from A to B.
    properness : (c,) float64
        In [-1, 1]; positive if the surfaces face each other properly.
    local_a, local_b : (c, 3) float64
        The same point in the coordinates of A's and B's mesh.
    normal_speed : (c,) float64
        Relative speed along the normal, length per step: negative approaches, zero slides, positive
        separates.
    sustained : (c,) bool
        True if the contact lasts; then it is reported once, at its beginning.
    time_end : (c,) float64
        End of a sustained contact, else equal to `time`.
    pairs : (p, 2) int32 or None
        Body numbers A, B of each pair: those asked for, or those that the broad phase found. None in results
        read from files of the first version.
    info : dict
        How the result was made: backend, device, precision, refine, candidates, resolution, tolerances,
        timings, notes.
    """

    status: np.ndarray
    toi: np.ndarray
    contact_start: np.ndarray
    pair: np.ndarray
    kind: np.ndarray
    feature_a: np.ndarray
    feature_b: np.ndarray
    time: np.ndarray
    position: np.ndarray
    normal: np.ndarray
    properness: np.ndarray
    local_a: np.ndarray
    local_b: np.ndarray
    normal_speed: np.ndarray
    sustained: np.ndarray
    time_end: np.ndarray
    pairs: np.ndarray | None = None
    info: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        n_pairs, n_contacts = len(self.status), len(self.pair)
        for name, dtype in _PER_PAIR.items():
            length = n_pairs + (name == "contact_start")
            object.__setattr__(self, name, canonical(name, getattr(self, name), dtype, (length,)))
        for name, (dtype, tail) in _PER_CONTACT.items():
            array = canonical(name, getattr(self, name), dtype, (n_contacts, *tail))
            object.__setattr__(self, name, array)
        if self.pairs is not None:
            pairs = canonical("pairs", self.pairs, np.int32, (n_pairs, 2))
            object.__setattr__(self, "pairs", pairs)
        object.__setattr__(self, "info", dict(self.info))

    @property
    def n_pairs(self):
        """Number of pairs asked about."""
        return len(self.status)

    def __len__(self):
        return len(self.pair)

    @property
    def report(self):
        """`FilterReport` of the tests and what they cost; None without ``collide(report=True)``."""
        data = self.info.get("report")
        return None if data is None else FilterReport.from_dict(data)

    def to_numpy(self):
        """The same result with every array on the host (itself if it is there already)."""
        names = [*_PER_PAIR, *_PER_CONTACT]
        if all(isinstance(getattr(self, name), np.ndarray) for name in names):
            return self
        arrays = {name: as_numpy(getattr(self, name), name) for name in names}
        return Contacts(**arrays, pairs=self.pairs, info=self.info)

    def of_pair(self, index):
        """Contacts of one pair.

        Parameters
        ----------
        index : int
            Row of `pairs`; negative counts from the end.

        Returns
        -------
        (k,) structured ndarray
            One record per contact with the per-contact fields, ``CONTACT_DTYPE``;
            ``contacts.of_pair(3)["time"]``. A copy.

        Raises
        ------
        IndexError
            There is no such pair.
        TypeError
            `index` is no integer.
        """
        index = _row_number(index)
        if not -self.n_pairs <= index < self.n_pairs:
            raise IndexError(f"pair {index} is out of range: there are {self.n_pairs} pairs")
        index %= self.n_pairs
        first, last = (int(v) for v in as_numpy(self.contact_start[index : index + 2], "contact_start"))
        records = np.empty(last - first, CONTACT_DTYPE)
        for name in _PER_CONTACT:
            records[name] = as_numpy(getattr(self, name)[first:last], name)
        return records

    def save(self, path):
        """Write everything to a compressed ``.npz`` file.

        Parameters
        ----------
        path : str, path-like or binary file
            A name that ends in ``.npz``, or has no suffix: then ``.npz`` is added.

        Raises
        ------
        TypeError
            Something else than a name or a file.
        ValueError
            A name with another suffix, or of a folder.
        """
        _check_path(path, "write")
        path = save_name(path) if isinstance(path, (str, os.PathLike)) else path
        host = self.to_numpy()
        arrays = {name: getattr(host, name) for name in [*_PER_PAIR, *_PER_CONTACT]}
        if host.pairs is not None:
            arrays["pairs"] = host.pairs
        write_result(path, arrays, FILE_VERSION, json.dumps(self.info, default=to_json))

    @classmethod
    def load(cls, path):
        """Read a file written by `save` (as there, the suffix ``.npz`` may be left out).

        Everything is checked: that no array was damaged or exchanged after it was saved (files of version 3
        and later carry checksums), dtypes, shapes, and that the values can be a result. Files of all
        earlier versions are read.

        Parameters
        ----------
        path : str, path-like or binary file

        Raises
        ------
        OSError
            There is no such file, or it may not be read.
        ValueError
            The file is damaged, no result of this library, or of a newer version of it; the message names the
            file and the array.
        """
        _check_path(path, "read")
        wanted = f"a .npz file written by {cls.__name__}.save"
        fields = {name: (dtype, (None,)) for name, dtype in _PER_PAIR.items()}
        fields |= {name: (dtype, (None, *tail)) for name, (dtype, tail) in _PER_CONTACT.items()}
        fields["pairs"] = (np.int32, (None, 2))
        arrays, info, reader, version = read_result(
            path, wanted, fields, FILE_VERSION, FIRST_SUMMED, optional=("pairs",)
        )
        try:
            found = cls(**arrays, info=info)
        except ValueError as error:  # lengths that do not agree
            name, _, reason = str(error).partition(": ")
            raise reader.damaged(name, reason) from error
        for name, reason in contact_faults(arrays, len(Status), len(Kind)):
            raise reader.damaged(name, reason)
        if version < FIRST_SUMMED:
            for name, reason in normal_faults(arrays):
                raise reader.damaged(name, reason)
        return found

    def __repr__(self):
        status = as_numpy(self.status, "status")
        kind = as_numpy(self.kind, "kind")
        pairs = ", ".join(f"{(status == s).sum()} {s.name}" for s in Status if (status == s).any()) or "none"
        kinds = ", ".join(f"{(kind == k).sum()} {k.name}" for k in Kind if (kind == k).any()) or "none"
        lines = ["Contacts", f"  pairs     {self.n_pairs}: {pairs}", f"  contacts  {len(self)}: {kinds}"]
        overlapping = int((status == Status.INITIAL_OVERLAP).sum())
        if overlapping:
            lines.insert(2, f"  overlap   {overlap_words(overlapping)}")
        if len(self):
            toi = as_numpy(self.toi, "toi")
            first = int(np.argmin(toi))
            lines.append(f"  earliest  t = {toi[first]:.9g} in pair {first}")
            lasting = int(as_numpy(self.sustained, "sustained").sum())
            if lasting:
                lines.append(f"  sustained {lasting}")
        made = [
            str(self.info[key]) for key in ("backend", "device", "precision", "refine") if self.info.get(key)
        ]
        if made:
            lines.append("  made by   " + ", ".join(made))
        return "\n".join(lines)


def overlap_words(count):
    """What INITIAL_OVERLAP says of so many pairs, in plain words."""
    return f"{count:,} {'pair is' if count == 1 else 'pairs are'} in each other already when the step begins"


def _row_number(index):
    """A row of `pairs` as an int: nothing is rounded or read from text."""
    try:
        if isinstance(index, bool):
            raise TypeError
        return operator.index(index)
    except TypeError:
        raise TypeError(
            f"index: expected an integer, the row of one pair, got {type(index).__name__}; for the bodies a "
            "pair is of, see Contacts.pairs"
        ) from None


def _check_path(path, verb):
    """Raise ``TypeError`` unless NumPy can `verb` ("read", "write") at `path`."""
    if not isinstance(path, (str, os.PathLike)) and not callable(getattr(path, verb, None)):
        raise TypeError(
            f"path: expected a str, path-like or binary file, got {type(path).__name__}; pass a file name "
            "such as 'contacts.npz'"
        )


def to_json(value):
    """NumPy scalars and arrays in `info` as plain numbers and lists; anything else as text."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value)
