"""The mesh: its arrays, measures, parts, and what making it found out."""
