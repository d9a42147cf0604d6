"""The screw method, from pairs to contacts: a plan decides, stages state launches, executors run them."""
