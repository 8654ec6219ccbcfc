"""Rules without training beside the depth head, on everything that a preset has trained."""
