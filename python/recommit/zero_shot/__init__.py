"""Vision-language models that play without any training, through an API: asked safely, resumably, each decision
once. ``zero_shot(ZeroShotOptions(model, out, ...))`` is ``recommit zero-shot`` from Python.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.zero_shot.options import ZeroShotOptions
    from recommit.zero_shot.runner import zero_shot

__all__ = ["ZeroShotOptions", "zero_shot"]


def __getattr__(name: str) -> Any:
    """A name that is imported when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'recommit.zero_shot' has no attribute {name!r}")
    module = "recommit.zero_shot.options" if name == "ZeroShotOptions" else "recommit.zero_shot.runner"
    globals()[name] = getattr(import_module(module), name)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
