"""Agents against the exact ceiling of their plans: gain share, and the regret of every commitment."""
