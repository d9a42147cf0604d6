"""``python -m gpu_collide.cli``: the command where the script is not on the path."""

import sys

from gpu_collide.cli.main import main

sys.exit(main())
