"""What queries need of a mesh beside its own arrays, made once."""
