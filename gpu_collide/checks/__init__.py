"""What this machine has to compute on (`doctor`), and whether what it computes is right (`verify`)."""
