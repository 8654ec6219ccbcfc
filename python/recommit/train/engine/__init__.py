"""Weights that learn: in one process or sharded over ranks by DeepSpeed."""
