"""Vision-language models that play without any training, through an API: asked safely, resumably, each decision
once. ``zero_shot(model, out, ...)`` is ``recommit zero-shot`` from Python.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.zero_shot.call import ZeroShotCall, zero_shot

__all__ = ["ZeroShotCall", "zero_shot"]


def __getattr__(name: str) -> Any:
    """A name that is imported when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'recommit.zero_shot' has no attribute {name!r}")
    globals()[name] = getattr(import_module("recommit.zero_shot.call"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
