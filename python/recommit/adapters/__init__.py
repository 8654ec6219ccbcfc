"""Thin adapters to other libraries, each with its own extra. Those to language-model trainers use
``recommit.zero_shot.game``."""
