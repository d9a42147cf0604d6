"""The columns of a `Trace`."""

#: Where a mover came to, and what it met there.
REACHED = "fraction kind body feature_a feature_b point normal position quat_wxyz".split()
FIELDS = ("status", "part", "expel", *REACHED)
