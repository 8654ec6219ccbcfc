"""What the streams of a data set are for; the draws themselves are those of ``recommit.draws``."""

from __future__ import annotations

from recommit.draws import below, derived_seed, draw, mix, streams

__all__ = ["CHECK", "PERTURB", "SHUFFLE", "below", "derived_seed", "draw", "mix", "streams"]

PERTURB = 16
SHUFFLE = 17
CHECK = 18
