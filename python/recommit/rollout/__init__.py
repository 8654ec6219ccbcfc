"""Sampled episodes of a policy, and episodes on a commitment graph."""
