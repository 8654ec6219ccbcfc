"""Thin adapters to other libraries, each with an extra of its own. Those to trainers of language models play through
``recommit.zero_shot.game``."""
