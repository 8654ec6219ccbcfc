"""The supervised warm start: imitation of labelled states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.train.sft.trainer import train

__all__ = ["train"]


def __getattr__(name: str) -> Any:
    """``train`` brings torch: it is imported when it is asked for."""
    if name == "train":
        from recommit.train.sft.trainer import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
