"""Depth heads on frozen plans: one by a world model, and one conditioned on prices and budget."""
