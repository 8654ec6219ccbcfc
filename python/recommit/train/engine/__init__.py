"""Training engines: plain PyTorch, or sharded over ranks by DeepSpeed."""
