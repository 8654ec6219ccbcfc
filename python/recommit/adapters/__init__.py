"""Thin adapters to other libraries. Each needs its own extra, and plays through ``recommit.zero_shot.game``."""
