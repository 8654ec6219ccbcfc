"""Depth heads of our own: by exact advantages on a commitment graph, conditioned on prices and budget, and by a world
model; with what they share with ``recommit.train.baselines``.

A commitment graph with features holds all that a depth head reads and all that follows from its choices, so a head
learns without a simulator and without a pass of the policy.
"""
