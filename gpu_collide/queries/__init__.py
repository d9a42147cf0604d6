"""The public queries: docstrings, checks, and the construction of results."""
