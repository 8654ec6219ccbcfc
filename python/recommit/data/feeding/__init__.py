"""Data sets on their way into training: batches, mixtures, samples."""
