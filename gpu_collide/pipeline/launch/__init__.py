"""What every method launches with: a launcher on one backend, its memory budget, poses and uploads."""
