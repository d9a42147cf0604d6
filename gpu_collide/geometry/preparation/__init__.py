"""The data that queries need of a mesh beside its own arrays, prepared once."""
