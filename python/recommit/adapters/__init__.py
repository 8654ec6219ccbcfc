"""Thin adapters to what other people already use. Each needs its own extra, and plays through ``recommit.game``."""
