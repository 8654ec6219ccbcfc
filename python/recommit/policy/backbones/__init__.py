"""Vision-language backbones of a policy."""
