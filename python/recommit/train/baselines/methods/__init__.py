"""Ways to train a depth head, one file each: its source, and what in it is ours."""
