"""Reinforcement of the depth head and the plans, from a warm start."""
