"""No result changes by a bit unless it is meant to (stored_bits.py says how to store them anew)."""

import pytest

from tests.acceptance import stored_bits


def test_same_bits_as_stored(backend):
    differ, other, seen = stored_bits.compare(backend.kind)
    assert not differ
    if not seen:
        pytest.skip(f"NumPy makes other scenes on this machine: all {len(other)} inputs differ")


def test_a_bit_changes_the_digest():
    name, bodies, keywords = next(stored_bits.scenes())
    found = stored_bits.gc.collide(bodies, backend="cpu", **keywords).to_numpy()
    before = stored_bits.of_contacts(found)
    time = found.time.copy()
    time[0] = stored_bits.np.nextafter(time[0], 1)
    assert before != stored_bits.of_contacts(type(found)(**{**vars(found), "time": time}))
