"""A vision-language policy that commits to several actions per observation: backbone, depth head, action decoder.

    policy = recommit.CommitPolicy.from_backbone("Qwen/Qwen2.5-VL-7B-Instruct")
    depths, actions = policy.act(task, states)

Needs the extra ``policy`` (torch, transformers, peft). Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOME = {
    "backbones.backbone": ["Backbone", "PromptInputs", "load_backbone"],
    "config": ["MOST_ACTIONS", "PLAN_LENGTH", "DecoderConfig", "HeadConfig", "LoraConfig", "PolicyConfig"],
    "backbones.random_init": ["make_backbone"],
    "policy": ["CommitPolicy"],
}


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            value = getattr(import_module(f"recommit.policy.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'recommit.policy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
