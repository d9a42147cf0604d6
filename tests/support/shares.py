"""How much of a test each backend runs, where one carries the proof."""


def share(backend, n, of=5):
    """`n` on the backend ``cpu``; elsewhere one in `of`, rounded up: the others have the bits of ``cpu``,
    which `tests/acceptance/test_invariance.py`, `test_stored_bits.py` and each stage's tests show."""
    return n if backend.kind == "cpu" else -(-n // of)


def in_turn(backend, items, number):
    """All `items` on the backend ``cpu``; elsewhere one of them, another for each `number`."""
    return list(items) if backend.kind == "cpu" else [items[number % len(items)]]
