"""One table of the paper per class."""
