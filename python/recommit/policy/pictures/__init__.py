"""From a board to what the language model reads: patches, the picture encoder, its remembered features."""
