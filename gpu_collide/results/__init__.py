"""The results of queries, their files, and the properties that hold for all of them."""
