"""Kernels of tests, which say in their heads what they need, as those of the package do."""

from gpu_collide.backends import sources


def with_probes(paths):
    """The text of some files and, before it, of all kernel files that they need."""
    needed = [name for path in paths for name in sources.needs(path.read_text(encoding="utf-8"))]
    return sources.joined(*needed) + sources.join(list(paths))


class Kernels:
    """The package's kernels, each program built when it is asked for; those of `text`, if any, go first."""

    def __init__(self, backend, precision, text=None):
        self.backend, self.precision = backend, precision
        self.own = {} if text is None else backend.compile(text, precision)

    def kernel(self, name):
        own = self.own.get(name)
        return own or self.backend.module(sources.program_of(name), self.precision).kernel(name)
