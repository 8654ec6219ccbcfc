"""The supervised warm start: imitation of labelled states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.lazy import attach

if TYPE_CHECKING:
    from recommit.train.sft.trainer import train

__all__ = ["train"]

__getattr__, __dir__ = attach(
    __name__,
    {
        "recommit.train.sft.trainer": "train",
    },
)
