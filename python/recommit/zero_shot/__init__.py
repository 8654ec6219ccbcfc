"""Zero-shot play of vision-language models through an API: safe, resumable, with each decision queried once.
``zero_shot(ZeroShotOptions(model, out, ...))`` is ``recommit zero-shot`` from Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.lazy import attach

if TYPE_CHECKING:
    from recommit.zero_shot.options import ZeroShotOptions
    from recommit.zero_shot.runner import zero_shot

__all__ = ["ZeroShotOptions", "zero_shot"]

__getattr__, __dir__ = attach(
    __name__, {"recommit.zero_shot.options": "ZeroShotOptions", "recommit.zero_shot.runner": "zero_shot"}
)
