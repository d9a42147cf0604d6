"""One batch run as a process: what `runs.other_process` starts."""

import json
import sys
from pathlib import Path

from tests.batch import runs

if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    if told["limit"] is not None:
        import resource

        runs.loop(Path(told["inputs"]), "contacts", ["r0.npz"])  # a compiler needs room as well
        resource.setrlimit(resource.RLIMIT_FSIZE, (told["limit"], resource.RLIM_INFINITY))
    runs.run(told["inputs"], told["out"], **told["options"])
