"""The devices of this machine (`doctor`), and whether they compute correct results (`verify`)."""
