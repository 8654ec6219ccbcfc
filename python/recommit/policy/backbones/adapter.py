"""LoRA on a backbone whose own weights stay as they are."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from recommit.policy.config import ADAPTER

if TYPE_CHECKING:
    from recommit.policy.backbones.backbone import Backbone
    from recommit.policy.config import LoraConfig


def adapt(backbone: Backbone, lora: LoraConfig) -> None:
    """Freeze the backbone and put a new adapter into its language model."""
    import peft

    backbone.model.requires_grad_(False)
    adapter = peft.LoraConfig(
        r=lora.rank, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules=backbone.lora_targets
    )
    with warnings.catch_warnings():  # PEFT asks transformers by a name that is going away
        warnings.simplefilter("ignore", FutureWarning)
        model: Any = backbone.model
        backbone.model = peft.get_peft_model(model, adapter, adapter_name=ADAPTER)
