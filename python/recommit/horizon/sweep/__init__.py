"""Success against the number of executed actions per chunk, for any policy and environment, as a verifiable card."""

from __future__ import annotations

from recommit.horizon.sweep.card import read
from recommit.horizon.sweep.options import SweepOptions
from recommit.horizon.sweep.run import run
from recommit.horizon.sweep.table import text

__all__ = ["SweepOptions", "read", "run", "text"]
