"""A vision-language policy that commits to several actions per observation: backbone, depth head, action decoder.

    policy = recommit.CommitPolicy.from_backbone("Qwen/Qwen2.5-VL-7B-Instruct")
    depths, actions = policy.act(task, states)

Needs the extra ``policy`` (torch, transformers, peft). Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.lazy import attach

if TYPE_CHECKING:
    from recommit.policy.backbones.backbone import Backbone, PromptInputs, load_backbone
    from recommit.policy.backbones.random_init import make_backbone
    from recommit.policy.config import MOST_ACTIONS, PLAN_LENGTH, DecoderConfig, HeadConfig, LoraConfig, PolicyConfig
    from recommit.policy.policy import CommitPolicy

__all__ = [
    "MOST_ACTIONS",
    "PLAN_LENGTH",
    "Backbone",
    "CommitPolicy",
    "DecoderConfig",
    "HeadConfig",
    "LoraConfig",
    "PolicyConfig",
    "PromptInputs",
    "load_backbone",
    "make_backbone",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "recommit.policy.backbones.backbone": "Backbone PromptInputs load_backbone",
        "recommit.policy.backbones.random_init": "make_backbone",
        "recommit.policy.config": "MOST_ACTIONS PLAN_LENGTH DecoderConfig HeadConfig LoraConfig PolicyConfig",
        "recommit.policy.policy": "CommitPolicy",
    },
)
