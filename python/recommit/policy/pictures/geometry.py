"""What the backbone reads around a picture: its prompt, and where in it the picture's tokens stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit.policy.config import MOST_LEFT
from recommit.policy.prompt import load_prompt
from recommit.policy.transfer import to_device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.policy.backbones.backbone import Backbone, Geometry
    from recommit.policy.config import PolicyConfig
    from recommit.policy.pictures.vision import Vision
    from recommit.puzzles.puzzle import Puzzle


class Geometries:
    """One per task, size of picture and, where the policy is told, number of decisions remaining; each is made once."""

    def __init__(self, backbone: Backbone, vision: Vision, config: PolicyConfig) -> None:
        self.backbone, self.vision, self.config = backbone, vision, config
        self._geometries: dict[tuple[str, int, int, int], Geometry] = {}

    def of(self, task: Puzzle, shape: tuple[int, int], remaining: int = 0) -> Geometry:
        """That of states of ``shape``, with so many decisions ``remaining``."""
        rows, cols = self.vision.grid(task, shape)
        key = (task.task, rows, cols, remaining if self.config.show_budget else 0)
        if key not in self._geometries:
            prompt = load_prompt(self.config.prompts[self.config.task_index(task.task)])
            wording = prompt.with_left(remaining) if self.config.show_budget else prompt
            self._geometries[key] = self.backbone.geometry(wording, rows, cols)
        return self._geometries[key]

    def of_each(self, task: Puzzle, shape: tuple[int, int], remaining: NDArray[np.integer] | None) -> Geometry:
        """That of prompts which differ in how many decisions are ``remaining``, and in no other token."""
        if not self.config.show_budget:
            return self.of(task, shape)
        if remaining is None or not len(remaining) or not (remaining.min() >= 1 and remaining.max() <= MOST_LEFT):
            raise ValueError(
                f"remaining: expected a count for each state, 1..{MOST_LEFT}, as show_budget says, got {remaining}"
            )
        numbers, which = np.unique(remaining, return_inverse=True)
        every = [self.of(task, shape, int(number)) for number in numbers]
        if len({len(each.tokens) for each in every}) > 1:
            raise ValueError(
                "show_budget: expected a tokenizer to which numbers of two digits are equally long, got another"
            )
        rows = to_device(which.astype(np.int64), every[0].tokens.device)
        return replace(every[0], tokens=torch.stack([each.tokens for each in every])[rows])
