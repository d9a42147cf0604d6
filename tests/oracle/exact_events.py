"""What the moments of a motion are told as."""

PLACES = 400  # binary places of a moment of a turn
ZERO = 200  # what is below this many of its own counts as zero


class Event:
    """`time` (of the motion's own parameter), `kind` 1 corner of the mover, 2 of the still body, 3 edges;
    `one` and `two` the features, the corner first."""

    def __init__(self, time, kind, one, two):
        self.time, self.kind, self.one, self.two = time, kind, one, two

    def __repr__(self):
        return f"Event({float(self.time)!r}, kind {self.kind}, {self.one}, {self.two})"
