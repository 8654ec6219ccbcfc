"""Frozen weights that stay in this process from one policy to the next, where ``keep`` was called.

Only what nobody trains stays: the backbone under an adapter, whole on this rank, as long as its files do not change. A
policy that is still in use keeps it for itself.
"""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class _Kept:
    """The last backbone that was read."""

    on = False
    key: Any = None
    tokenizer: Any = None
    #: Its transformers model with any adapter in it, once it is frozen.
    model: Any = None
    #: That of the policy that has it.
    user: Callable[[], Any] = staticmethod(lambda: None)


def keep() -> None:
    """Let frozen weights stay."""
    _Kept.on = True


def in_use() -> bool:
    """True if a policy still has the weights."""
    return _Kept.user() is not None


def read(kind: Any, folder: Path, options: dict[str, Any]) -> Any:
    """A backbone of a class from a folder, on weights that are here already where they are the same."""
    if not _Kept.on:
        return kind.from_pretrained(folder, **options)
    files = tuple((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(folder.iterdir()))
    key = (kind, folder.resolve(), files, sorted(map(str, options.items())))
    gc.collect()  # a trainer goes in a circle
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
    """Note that an adapter was put into a backbone, and its weights will stay as they are."""
    if _Kept.on and _Kept.user() is backbone and _Kept.tokenizer is not None:
        _Kept.model = backbone.model


def _split(model: Any) -> bool:
    """True if ranks have a part of the weights each."""
    return any(hasattr(parameter, "ds_id") for parameter in model.parameters())
