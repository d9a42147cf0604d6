"""The stored results on `cuda` by translated PTX: `python -m tests.ptx.stored_bits`.

Needs ``GPU_COLLIDE_CUDA=ptx``, which `python -m tests.ptx` sets. With an argument such as ``1/4`` every
fourth case alone is looked at, from number 1 on.
"""

import json
import sys
from itertools import islice

from tests.acceptance import stored_bits
from tests.ptx import install
from tests.ptx.device import Failure


def main(part="0/1"):
    if not install.wanted():
        print(f"{install.VARIABLE} must be 'ptx'", file=sys.stderr)
        return 2
    install.install()
    from gpu_collide.backends import get_backend

    stored = json.loads(stored_bits.STORED.read_text())
    first, step = map(int, part.split("/"))
    seen, bad = 0, 0
    for name, inputs, run in islice(stored_bits.cases(), first, None, step):
        if stored[name]["inputs"] != inputs:
            continue
        seen += 1
        try:
            found = "other bits" if run("cuda") != stored[name]["result"] else None
        except Failure as failure:
            found = str(failure)
        if found:
            bad += 1
            print(f"  {name}: {found}", flush=True)
    print(f"{seen} cases on groups of {get_backend('cuda').group_size}, {bad} not as stored")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
