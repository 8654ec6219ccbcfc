"""Gain share: which part of what choosing depths can add a rule takes, at one price and over all of them."""

from __future__ import annotations

from recommit.graph.share.interval import LEAST, gain_interval

__all__ = ["LEAST", "gain_interval"]
