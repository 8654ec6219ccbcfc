"""Data sets being made: labels, workers, a journal of what is done."""
