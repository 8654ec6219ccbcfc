"""Reinforcement of the depth head and the plans, from a warm start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.lazy import attach

if TYPE_CHECKING:
    from recommit.train.grpo.trainer import train

__all__ = ["train"]

__getattr__, __dir__ = attach(
    __name__,
    {
        "recommit.train.grpo.trainer": "train",
    },
)
