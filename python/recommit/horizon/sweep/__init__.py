"""Success against how much of a chunk is executed, for any policy and environment, as a card that can be checked."""

from __future__ import annotations

from recommit.horizon.sweep.card import read
from recommit.horizon.sweep.options import SweepOptions, VerifyOptions
from recommit.horizon.sweep.run import run
from recommit.horizon.sweep.table import text
from recommit.horizon.sweep.verification import Rejected, verify

__all__ = ["Rejected", "SweepOptions", "VerifyOptions", "read", "run", "text", "verify"]
