"""LoRA adapters on a backbone's language model: how they are added, and saved in PEFT's own format."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from safetensors.torch import save as to_bytes

from recommit.policy.config import ADAPTER
from recommit.storage.files import Files, replace

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from recommit.policy.backbones.backbone import Backbone
    from recommit.policy.config import LoraConfig


def add_lora(backbone: Backbone, config: LoraConfig) -> None:
    """Freeze the backbone and put a new LoRA adapter into its language model; its own weights stay as they are."""
    if not backbone.lora_targets:
        raise ValueError("policy.lora: expected null for a backbone that has nothing to adapt, got LoRA")
    import peft
    from peft.tuners.tuners_utils import BaseTunerLayer

    backbone.model.requires_grad_(False)
    adapter = peft.LoraConfig(
        r=config.rank, lora_alpha=config.alpha, lora_dropout=config.dropout, target_modules=backbone.lora_targets
    )
    with warnings.catch_warnings():  # PEFT asks transformers by a name that is going away
        warnings.simplefilter("ignore", FutureWarning)
        model: Any = backbone.model
        backbone.model = peft.get_peft_model(model, adapter, adapter_name=ADAPTER)
    for layer in backbone.model.modules():
        if isinstance(layer, BaseTunerLayer):  # PEFT would make float32 of what autocast makes bfloat16 of at once
            layer.cast_input_dtype_enabled = False


def weights(backbone: Backbone) -> dict[str, Tensor]:
    """Weights of the adapter, by PEFT's names."""
    from peft.utils import get_peft_model_state_dict

    found: dict[str, Tensor] = get_peft_model_state_dict(backbone.model, adapter_name=ADAPTER)
    return found


def save(backbone: Backbone, source: str, revision: str, folder: Path) -> None:
    """Write a folder that ``PeftModel.from_pretrained(backbone, folder)`` reads; ``source`` and ``revision`` are
    those of a backbone that the package lists."""
    model: Any = backbone.model
    folder.mkdir(parents=True, exist_ok=True)
    data = to_bytes({name: tensor.contiguous() for name, tensor in weights(backbone).items()})
    replace(Files(), folder / "adapter_model.safetensors", data)
    about = model.peft_config[ADAPTER]
    about.base_model_name_or_path, about.revision = source or None, revision or None
    about.inference_mode = True
    about.save_pretrained(folder)
    about.inference_mode = False
