"""The public queries: docstrings, checks, and what is made of their results."""
