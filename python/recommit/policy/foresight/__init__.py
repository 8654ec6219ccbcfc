"""Foresight: what a policy expects its plan to lead to, learned from exact distances and asked of the picture alone."""
