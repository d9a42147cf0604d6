"""The mesh: its arrays, measures, parts, and what its construction found."""
