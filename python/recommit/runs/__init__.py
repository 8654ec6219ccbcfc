"""What every run has, whatever it computes: a folder, checkpoints, ranks, progress."""
