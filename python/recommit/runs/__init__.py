"""Infrastructure of runs: folders, checkpoints, ranks, progress."""
