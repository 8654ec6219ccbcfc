"""LoRA adapters on a backbone's language model: adding them, fused application, saving in PEFT's format."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from safetensors.torch import save as to_bytes
from torch import Tensor

from recommit.policy.backbones import resident
from recommit.policy.config import ADAPTER
from recommit.storage.files import Files, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from recommit.policy.backbones.backbone import Backbone
    from recommit.policy.config import LoraConfig


def add_lora(backbone: Backbone, config: LoraConfig) -> None:
    """Freeze the backbone and add a new LoRA adapter to its language model."""
    if not backbone.lora_targets:
        raise ValueError("policy.lora: expected null for a backbone that has nothing to adapt, got LoRA")
    if not any(re.fullmatch(backbone.lora_targets, name) for name, _ in backbone.model.named_modules()):
        own = f"{type(backbone).__name__}.lora_targets"
        raise ValueError(f"policy.lora: expected modules by {own}, got none by {backbone.lora_targets}")
    import peft
    from peft.tuners.tuners_utils import BaseTunerLayer

    backbone.model.requires_grad_(False)
    adapter = peft.LoraConfig(
        r=config.rank, lora_alpha=config.alpha, lora_dropout=config.dropout, target_modules=backbone.lora_targets
    )
    with warnings.catch_warnings():  # PEFT uses a deprecated name of transformers
        warnings.simplefilter("ignore", FutureWarning)
        model: Any = backbone.model
        backbone.model = peft.get_peft_model(model, adapter, adapter_name=ADAPTER)
    for layer in backbone.model.modules():
        if isinstance(layer, BaseTunerLayer):  # PEFT would cast to float32, and autocast back to bfloat16
            layer.cast_input_dtype_enabled = False
    resident.frozen(backbone)


class Adapters:
    """The adapters of one pass, in few kernels: all float32 weights are cast to the backbone's dtype together; the A
    factors of projections of one input are one matrix product, and each B product is fused with the addition. Same
    result as PEFT, except that such projections share one dropout mask.

    ``groups`` are the projections of each input; ``linears`` takes a group, or consecutive members of one."""

    def __init__(self, groups: Iterable[Sequence[Any]], dtype: torch.dtype) -> None:
        adapted = [group for group in groups if all(hasattr(layer, "lora_A") for layer in group)]
        layers = [layer for group in adapted for layer in group]
        #: Projection -> its group's A factors, its index among them, and its B factor.
        self._factors: dict[int, tuple[Tensor, int, Tensor]] = {}
        self._split = False
        if not layers:
            return
        (name,) = layers[0].active_adapters
        dropout = layers[0].lora_dropout[name]
        self._dropout = getattr(dropout, "p", 0.0) if dropout.training else 0.0  # here, outside any compiled graph
        weights = [getattr(layer, factor)[name].weight for factor in ("lora_A", "lora_B") for layer in layers]
        self._split = hasattr(weights[0], "ds_id")  # sharded over ranks: gathered in a module's forward hook only
        if not self._split:
            firsts, seconds = joined(weights, list(map(len, adapted)), layers[0].scaling[name], dtype)
            places = [(first, i) for first, group in zip(firsts, adapted, strict=True) for i in range(len(group))]
            self._factors = {id(a): (*b, c) for a, b, c in zip(layers, places, seconds, strict=True)}

    def linears(self, x: Tensor, *layers: Any) -> list[Tensor]:
        """The outputs of several projections, with their adapters, of the same input."""
        if self._split:
            with torch.autocast(x.device.type, x.dtype, enabled=x.dtype != torch.float32):
                return [layer(x) for layer in layers]
        if id(layers[0]) not in self._factors:
            return [layer(x) for layer in layers]
        firsts, places, seconds = zip(*(self._factors[id(layer)] for layer in layers), strict=True)
        rank = seconds[0].shape[1]
        first, part = firsts[0], slice(rank * places[0], rank * (places[-1] + 1))
        first = first if len(first) == rank * len(layers) else first[part]
        inner = F.linear(F.dropout(x, self._dropout) if self._dropout else x, first).flatten(0, -2)
        made = []
        for layer, part, second in zip(layers, inner.split(rank, dim=-1), seconds, strict=True):
            plain = layer.base_layer(x)
            made.append(torch.addmm(plain.flatten(0, -2), part, second.t()).view(plain.shape))
        return made


def joined(weights: list[Tensor], sizes: list[int], scale: float, dtype: torch.dtype) -> tuple[Any, Any]:
    """Scaled A factors, concatenated in groups of these sizes, and B factors, cast to ``dtype``."""
    made = _Joined.apply(dtype, sizes, scale, *weights)
    return made[: len(sizes)], made[len(sizes) :]


class _Joined(torch.autograd.Function):
    """A few foreach kernels in forward and backward, where autograd would launch two or three per weight."""

    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, sizes: list[int], scale: float, *weights: Tensor) -> tuple[Tensor, ...]:
        rank, half = len(weights[0]), len(weights) // 2
        heads = [weights[sum(sizes[:i])] for i in range(len(sizes))]
        groups = [one.new_empty(rank * size, one.shape[1], dtype=dtype) for one, size in zip(heads, sizes, strict=True)]
        seconds = [torch.empty_like(weight, dtype=dtype) for weight in weights[half:]]
        torch._foreach_copy_([*(part for group in groups for part in group.split(rank)), *seconds], list(weights))
        torch._foreach_mul_(groups, scale)
        ctx.rank, ctx.groups, ctx.scale, ctx.dtype = rank, len(groups), scale, weights[0].dtype
        return (*groups, *seconds)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        made = [torch.empty_like(grad, dtype=ctx.dtype) for grad in grads]
        torch._foreach_copy_(made, list(grads))
        groups, seconds = made[: ctx.groups], made[ctx.groups :]
        torch._foreach_mul_(groups, ctx.scale)
        return (None, None, None, *(part for group in groups for part in group.split(ctx.rank)), *seconds)


def weights(backbone: Backbone) -> dict[str, Tensor]:
    """Weights of the adapter, by PEFT's names."""
    from peft.utils import get_peft_model_state_dict

    return get_peft_model_state_dict(backbone.model, adapter_name=ADAPTER)


def save(backbone: Backbone, source: str, revision: str, folder: Path) -> None:
    """Write a folder that ``PeftModel.from_pretrained(backbone, folder)`` reads; ``source`` and ``revision`` are those
    of a backbone in ``LISTED``, else empty."""
    model: Any = backbone.model
    folder.mkdir(parents=True, exist_ok=True)
    data = to_bytes({name: tensor.contiguous() for name, tensor in weights(backbone).items()})
    replace(Files(), folder / "adapter_model.safetensors", data)
    about = model.peft_config[ADAPTER]
    about.base_model_name_or_path, about.revision = source or None, revision or None
    about.inference_mode = True
    about.save_pretrained(folder)
    about.inference_mode = False
