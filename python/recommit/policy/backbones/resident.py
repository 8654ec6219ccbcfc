"""Keep frozen backbone weights in this process from one policy to the next, once ``keep`` was called.

Only weights that are never trained are kept: the backbone under an adapter, not sharded, while its files are unchanged.
While one policy still uses them, the next reads its own copy.
"""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class _Kept:
    """The most recently read backbone."""

    on = False
    key: Any = None
    tokenizer: Any = None
    #: Its transformers model with any adapter in it, once it is frozen.
    model: Any = None
    #: Weak reference to the backbone object that uses the weights.
    user: Callable[[], Any] = staticmethod(lambda: None)


def keep() -> None:
    """Turn on keeping of frozen weights."""
    _Kept.on = True


def in_use() -> bool:
    """True if a live backbone still uses the weights."""
    return _Kept.user() is not None


def read(kind: Any, folder: Path, options: dict[str, Any]) -> Any:
    """Load a backbone of class ``kind``; reuse the kept weights if class, files and options are the same."""
    if not _Kept.on:
        return kind.from_pretrained(folder, **options)
    files = tuple((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(folder.iterdir()))
    key = (kind, folder.resolve(), files, sorted(map(str, options.items())))
    gc.collect()  # trainers are in reference cycles
    if key == _Kept.key and _Kept.model is not None and not in_use() and not _split(_Kept.model):
        model = _Kept.model.unload()
        found = kind(model.requires_grad_(True).eval(), _Kept.tokenizer)
    else:
        _Kept.model = None
        found = kind.from_pretrained(folder, **options)
    _Kept.key, _Kept.model = key, None
    _Kept.tokenizer, _Kept.user = getattr(found, "tokenizer", None), weakref.ref(found)
    return found


def frozen(backbone: Any) -> None:
    """Record that a backbone has an adapter, so that its own weights are frozen and may be kept."""
    if _Kept.on and _Kept.user() is backbone and _Kept.tokenizer is not None:
        _Kept.model = backbone.model


def _split(model: Any) -> bool:
    """True if the weights are sharded over ranks (ZeRO-3)."""
    return any(hasattr(parameter, "ds_id") for parameter in model.parameters())
