"""What `python -m tests.dialect.oclgrind` sees of the kernels: all but a few that it names."""

import re
import warnings
from pathlib import Path

from gpu_collide.backends import declarations, sources
from gpu_collide.backends.base import Backend
from tests.dialect import oclgrind


def test_each_kernel_is_launched_in_the_simulator(monkeypatch):
    """Story: queries of movers were written, and nothing asked them; kernels came, and none of them was
    looked at."""
    launched, values = set(), Backend._values

    def noted(self, kernel, args):
        launched.add(kernel.name.removesuffix("_distance"))
        return values(self, kernel, args)

    monkeypatch.setattr(Backend, "_values", noted)
    monkeypatch.setenv("GPU_COLLIDE_CHECK", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of poses that are odd on purpose
        for _, query in oclgrind.queries(1):
            query("cpu")
    files = [p for name in oclgrind.TESTS for p in [*(oclgrind.ROOT / name).glob("*.py"), Path(name)]]
    stages = {m.group(1) for p in files if (m := re.match(r"test_([a-z]\d\d)_", p.name))}
    silent = set(declarations.parse(sources.source())) - launched
    assert {name for name in silent if name[:3] not in stages} == set(
        oclgrind.NOT_LOOKED_AT + oclgrind.OF_MANY
    )
