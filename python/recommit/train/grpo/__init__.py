"""Reinforcement of the depth head and the plans, from a warm start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.train.grpo.trainer import train

__all__ = ["train"]


def __getattr__(name: str) -> Any:
    """``train`` brings torch: it is imported when it is asked for."""
    if name == "train":
        from recommit.train.grpo.trainer import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
