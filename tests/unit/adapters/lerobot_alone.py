"""Passes by the ``__init__`` of LeRobot's policies: it imports every one, and one needs an older transformers."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

import torch

library = torch.library.Library("torchvision", "DEF")  # torchvision may have been compiled for another torch
for name in ("nms", "qnms"):
    library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
policies = types.ModuleType("lerobot.policies")
policies.__path__ = [str(Path(importlib.util.find_spec("lerobot").origin).parent / "policies")]
sys.modules["lerobot.policies"] = policies
