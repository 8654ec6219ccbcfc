"""What teaching foresight has come to so far, in one file: a command that was killed goes on where it was, to the bit.

    OUT/learning    a line about it with its own sha256, then the weights and the optimiser's moments (safetensors)

States are drawn by the number of a step, so that nothing else is to be remembered. The file is gone once the policy is
written.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from recommit.policy.checkpoint import check_and_copy
from recommit.storage import errors, files, ownership, safe_open, verified

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from recommit.policy.world_model import WorldModel

NAME = "learning"
#: The moments that AdamW keeps of every weight.
MOMENTS = ("exp_avg", "exp_avg_sq")
#: What its first line says.
FIELDS = {"begun": dict, "curve": [{"step": verified.NUMBER}], "sha256": str}


class LearningFile:
    """The file in a folder, of a command that was ``begun`` with these values."""

    def __init__(self, folder: Path, begun: Mapping[str, Any]) -> None:
        #: As JSON has it, where tuples are lists.
        self.path, self.begun = folder / NAME, json.loads(json.dumps(begun))

    def write(self, net: WorldModel, optimizer: torch.optim.Optimizer, curve: list[dict[str, float]]) -> None:
        """Replace it by what there is after the last step of ``curve``."""
        data = save(_tensors(net, optimizer))
        about = {"begun": self.begun, "curve": curve, "sha256": files.sha256(data)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        files.replace(files.Files(), self.path, verified.checkable(json.dumps(about)) + data)

    def resume(self, net: WorldModel, optimizer: torch.optim.Optimizer) -> list[dict[str, float]]:
        """Set both back to what was written; the curve until then, empty where nothing was."""
        if not self.path.is_file():
            return []
        line, _, data = safe_open.content(self.path).partition(b"\n")
        text = verified.checked(line)
        about = None if text is None else verified.parsed(self.path, text)
        if about is not None:
            verified.expect(self.path, about, FIELDS)
        if about is None or files.sha256(data) != about["sha256"] or not about["curve"]:
            raise errors.Damaged(f"{self.path}: expected what was written there, got other bytes; remove it")
        ownership.check(self.path.parent, about["begun"], self.begun)
        curve: list[dict[str, float]] = about["curve"]
        for parameter in net.parameters():
            moments = {name: torch.zeros_like(parameter) for name in MOMENTS}
            optimizer.state[parameter] = {"step": torch.tensor(float(curve[-1]["step"])), **moments}
        try:
            check_and_copy(_tensors(net, optimizer), load(data), self.path)
        except SafetensorError as error:
            raise errors.Damaged(f"{self.path}: expected weights, got {error}") from None
        return curve


def _tensors(net: WorldModel, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Everything that learns, by name; the tensors themselves."""
    named = {f"net.{name}": weight.detach() for name, weight in net.named_parameters()}
    for name, weight in net.named_parameters():
        named |= {f"{moment}.{name}": optimizer.state[weight][moment] for moment in MOMENTS}
    return named
