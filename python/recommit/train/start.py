"""The policy that a run starts from."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from recommit.policy.make import PRESETS, make_backbone
from recommit.policy.policy import CommitPolicy

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.train.config import ModelConfig

RANDOM = "random:"


def device(name: str) -> torch.device:
    """``auto``: the GPU of this process if there is one."""
    if name != "auto":
        return torch.device(name)
    local = int(os.environ.get("LOCAL_RANK", "0"))
    return torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu")


def policy(config: ModelConfig, folder: Path, seed: int, where: torch.device) -> CommitPolicy:
    """New heads on the configured backbone; a random one is made in ``folder`` once."""
    source = config.backbone
    if source.startswith(RANDOM):
        source = str(_made(config, folder / "backbone", seed))
    made = CommitPolicy.from_backbone(source, config.policy, seed=seed, dtype=getattr(torch, config.dtype))
    return made.to(where)


def _made(config: ModelConfig, folder: Path, seed: int) -> Path:
    name = config.backbone.removeprefix(RANDOM)
    if name not in PRESETS:
        raise ValueError(f"model.backbone: expected random: and one of {', '.join(PRESETS)}, got {config.backbone}")
    shape: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in config.shape.items()}
    try:
        wanted = replace(PRESETS[name], **shape)
    except TypeError as error:
        raise ValueError(f"model.shape: {error}") from None
    if not folder.is_dir():
        temporary = folder.with_name(f".{folder.name}.tmp")
        make_backbone(temporary, wanted, seed=seed, dtype=config.dtype)
        temporary.rename(folder)
    return folder
