"""The supervised warm start: imitation of labelled states."""

from __future__ import annotations

from recommit.train.sft.trainer import train

__all__ = ["train"]
