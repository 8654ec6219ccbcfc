"""A policy that has every shape of the real one and no contents: what goes through it computes nothing and can be
counted."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F

from recommit.estimate.counting.names import RANDOM, PublishedTokenizer, preset_of
from recommit.policy.backbones.backbone import family
from recommit.policy.backbones.make import BACKBONES, config, make_tokenizer
from recommit.policy.policy import CommitPolicy
from recommit.storage import verified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

    from recommit.train.config import ModelConfig


def policy(model: ModelConfig) -> CommitPolicy:
    """The policy that a run begins with, on the meta device."""
    build, tokenizer, adapted = _language(model)
    with torch.device("meta"):
        backbone = adapted(build().to(getattr(torch, model.dtype)), tokenizer)
        return CommitPolicy(backbone, model.policy, source=model.backbone)


def _language(model: ModelConfig) -> tuple[Callable[[], Any], Any, Any]:
    """What makes the transformers model, its tokenizer, and the class that adapts it."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    name = preset_of(model.backbone)
    if name is None:
        adapted = family(verified.values(Path(model.backbone), "config.json", {"model_type": str})["model_type"])
        model_config = AutoConfig.from_pretrained(model.backbone)
        return partial(AutoModel.from_config, model_config), AutoTokenizer.from_pretrained(model.backbone), adapted
    shape = _shape(name, model)
    adapted, tokenizer = family(shape.family), make_tokenizer(shape.family)
    model_config = config(shape, tokenizer)
    if not model.backbone.startswith(RANDOM):
        tokenizer = PublishedTokenizer(adapted.markers, model_config.image_token_id)
    return partial(AutoModel.from_config, model_config), tokenizer, adapted


def _shape(name: str, model: ModelConfig) -> Any:
    if name not in BACKBONES:
        raise ValueError(f"model.backbone: expected random: and one of {', '.join(BACKBONES)}, got {model.backbone}")
    try:
        changes: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in model.shape.items()}
        return replace(BACKBONES[name], **changes)
    except TypeError as error:
        raise ValueError(f"model.shape: {error}") from None


@contextmanager
def kernels() -> Iterator[None]:
    """A context in which attention of tensors without contents is one operation that keeps no scores, as on a processor
    and on a GPU; torch itself would choose the one that keeps them all."""
    real = F.scaled_dot_product_attention

    def chosen(query: Tensor, *rest: Any, **named: Any) -> Any:
        return (_attend if query.is_meta else real)(query, *rest, **named)

    F.scaled_dot_product_attention = chosen
    try:
        yield
    finally:
        F.scaled_dot_product_attention = real


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    del enable_gqa  # it sees by the shapes that heads share keys
    mask = None if attn_mask is None else torch.empty_like(attn_mask, dtype=query.dtype)
    attention = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    result: Tensor = attention(query, key, value, dropout_p, is_causal, attn_mask=mask, scale=scale)[0]
    return result
