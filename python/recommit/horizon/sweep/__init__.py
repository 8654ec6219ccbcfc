"""Success against how much of a chunk is executed, for any policy and environment, as a card that can be checked."""

from __future__ import annotations

from recommit.horizon.sweep.card import read
from recommit.horizon.sweep.options import SweepOptions
from recommit.horizon.sweep.run import run
from recommit.horizon.sweep.table import text

__all__ = ["SweepOptions", "read", "run", "text"]
