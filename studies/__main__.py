"""``python -m studies``: the command."""

import sys

import studies
from bench.run import main

if __name__ == "__main__":
    sys.exit(main(cases=studies, prog="python -m studies"))
