"""GRPO on the depth head and the action decoder, from a warm start."""
