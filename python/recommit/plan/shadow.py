"""A policy that has every shape of the real one and no bytes: what goes through it computes nothing and can be counted."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from recommit.plan.names import RANDOM, PublishedTokenizer, preset_of
from recommit.policy.backbone import adapter
from recommit.policy.make import PRESETS, config, make_tokenizer
from recommit.policy.policy import CommitPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

    from recommit.train.config import ModelConfig


def policy(model: ModelConfig) -> CommitPolicy:
    """The policy that a run begins with, on the meta device."""
    made, tokenizer, family = _language(model)
    with torch.device("meta"):
        backbone = family(made().to(getattr(torch, model.dtype)), tokenizer)
        return CommitPolicy(backbone, model.policy, source=model.backbone)


def _language(model: ModelConfig) -> tuple[Callable[[], Any], Any, Any]:
    """What makes the transformers model, its tokenizer, and the class that adapts it."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    name = preset_of(model.backbone)
    if name is None:
        family = adapter(json.loads((Path(model.backbone) / "config.json").read_text(encoding="utf-8"))["model_type"])
        said = AutoConfig.from_pretrained(model.backbone)
        return partial(AutoModel.from_config, said), AutoTokenizer.from_pretrained(model.backbone), family
    shape = _shape(name, model)
    family, tokenizer = adapter(shape.family), make_tokenizer(shape.family)
    said = config(shape, tokenizer)
    if not model.backbone.startswith(RANDOM):
        tokenizer = PublishedTokenizer(family.markers, said.image_token_id)
    return partial(AutoModel.from_config, said), tokenizer, family


def _shape(name: str, model: ModelConfig) -> Any:
    if name not in PRESETS:
        raise ValueError(f"model.backbone: expected random: and one of {', '.join(PRESETS)}, got {model.backbone}")
    try:
        changes: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in model.shape.items()}
        return replace(PRESETS[name], **changes)
    except TypeError as error:
        raise ValueError(f"model.shape: {error}") from None


@contextmanager
def embodied(*modules: nn.Module) -> Iterator[None]:
    """A context in which the modules stand on a processor that computes nothing, so that kernels are chosen as on a real one;
    the meta device would choose attention that keeps every score."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        for module in modules:
            _embody(module)
        yield


def _embody(module: nn.Module) -> None:
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None:
                part._parameters[name] = nn.Parameter(_like(parameter), requires_grad=parameter.requires_grad)
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = _like(buffer)


def _like(tensor: Tensor) -> Tensor:
    return torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu")
