"""The stored results on `cuda` by translated PTX, all or a sample: `python -m tests.ptx.stored_bits`.

Needs ``GPU_COLLIDE_CUDA=ptx``, which `python -m tests.ptx` sets.
"""

import json
import sys

from tests.acceptance import stored_bits
from tests.ptx import install
from tests.ptx.device import Failure

EVERY = 2  # of the cases are in the sample, other ones for each group size


def main(argv):
    if not install.wanted():
        print(f"{install.VARIABLE} must be 'ptx'", file=sys.stderr)
        return 2
    install.install()
    from gpu_collide.backends import get_backend

    first = get_backend("cuda").group_size // 32 % EVERY
    stored = json.loads(stored_bits.STORED.read_text())
    seen, bad = 0, 0
    for number, (name, inputs, run) in enumerate(stored_bits.cases()):
        if stored[name]["inputs"] != inputs or ("--sample" in argv and number % EVERY != first):
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
    sys.exit(main(sys.argv[1:]))
