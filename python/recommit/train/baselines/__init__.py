"""Heads trained in every way that the field knows, on the same frozen plans, and what each way's credit is worth.

A commitment graph with features holds all that a depth head reads and all that follows from what it says, so that a
head learns here without a simulator and without a pass of the policy. ``fitting`` runs a method for so many updates or
CPU seconds, ``fitted`` keeps what came out as a rule, ``audit`` compares gradients with the exact one. Each method has
a file of its own, which names its source and says what in it is ours.
"""
