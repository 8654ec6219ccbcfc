"""A world model: two small networks over the cells of a picture.

Along a plan the first network predicts the next picture; the second predicts each picture's distance to the goal, or
that the level is lost. Both are trained on states with exact labels (``recommit.train.heads.world_model``); no
simulator or solver is used here. A cell is represented by the kind of its content.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recommit.policy import augmentations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.policy.config import WorldModelConfig

ACTIONS = 4
#: Initial logit in favour of a cell staying as it is.
STAYS = 4.0


class ResidualCells(nn.Module):
    """Residual block of two convolutions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(F.relu(self.first(F.relu(x))))


class WorldModel(nn.Module):
    """Predicts pictures and distances of one puzzle and size; pictures are kinds of cells, [N, rows, cols]."""

    def __init__(self, config: WorldModelConfig) -> None:
        super().__init__()
        self.config = config
        width, kinds = config.width, config.kinds
        widths = (kinds + ACTIONS, width, width, kinds)
        #: The effect of an action.
        self.moves = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairwise(widths))
        #: The distance to the goal.
        self.entry = nn.Conv2d(kinds, width, 3, padding=1)
        self.blocks = nn.ModuleList(ResidualCells(width) for _ in range(config.blocks))
        self.hidden = nn.Linear(config.rows * config.cols * width, 256)
        self.last = nn.Linear(256, config.far + 2)

    def next_scores(self, cells: Tensor, actions: Tensor) -> Tensor:
        """Logits [N, kinds, rows, cols] of every cell after one action each."""
        one = F.one_hot(actions.long(), ACTIONS).float()[:, :, None, None].expand(-1, -1, *cells.shape[1:])
        planes = self._planes(cells)
        x = torch.cat([planes, one], dim=1)
        for place, layer in enumerate(self.moves):
            x = layer(x if place == 0 else F.relu(x))
        return x + STAYS * planes  # most cells do not change

    def scores(self, cells: Tensor) -> Tensor:
        """Logits [N, far + 2] of 0 .. ``far`` actions to the goal, and of a lost level."""
        x = self.entry(self._planes(cells))
        for block in self.blocks:
            x = block(x)
        return self.last(F.relu(self.hidden(F.relu(x).flatten(1))))

    def forward(self, cells: Tensor, plan: Tensor, depths: Sequence[int], now: bool = True) -> Tensor:
        """[N, 2 (1 + depths)]: expected distance to the goal now (0 unless ``now``, which costs as much as a depth) and
        after each depth, with ``lost`` for a lost level; then the probabilities that each is lost."""
        pictures = [cells] * now + self.pictures(cells, plan, depths)
        both = (each.view(len(pictures), -1).T for each in self.expected(torch.cat(pictures)))
        return torch.cat([F.pad(each, (1 - now, 0)) for each in both], dim=1)

    def compare(self, cells: Tensor, plan: Tensor, depths: Sequence[int], among: Tensor) -> Tensor:
        """[N, 2 (1 + depths)] as ``forward`` without now, but no picture is judged beyond those of the depths
        ``among`` [N, depths], and none where it is one alone: this is 0 from the goal, those left out twice ``lost``.
        """
        distance = torch.where(among, 0.0, 2.0 * self.config.lost).T.contiguous()
        asked = among & (among.sum(dim=1, keepdim=True) > 1)
        rows = asked.any(dim=1)
        if rows.any():
            pictures = torch.stack(self.pictures(cells[rows], plan[rows], depths))
            distance[asked.T] = self.expected(pictures[asked[rows].T])[0]
        return F.pad(distance.T, (1, 1 + len(depths)))

    def pictures(self, cells: Tensor, plan: Tensor, depths: Sequence[int]) -> list[Tensor]:
        """The predicted pictures after each depth."""
        found, here = [], cells
        for place in range(max(depths)):
            here = self.next_scores(here, plan[:, place]).argmax(dim=1)
            if place + 1 in depths:
                found.append(here)
        return found

    def expected(self, cells: Tensor) -> tuple[Tensor, Tensor]:
        """Expected distance to the goal, with ``lost`` for a lost level, and the probability that it is lost."""
        probs = self.probs(cells)
        lost = probs[..., -1]
        remaining = probs[..., :-1] @ torch.arange(self.config.far + 1.0, device=probs.device)
        return remaining + self.config.lost * lost, lost

    def probs(self, cells: Tensor) -> Tensor:
        """Probabilities of the distances, averaged over the picture's symmetries."""
        rows, cols = cells.shape[1:]
        copies = augmentations.count(self.config.augmentations, rows, cols)
        flat, total = cells.flatten(1), 0.0
        for copy in range(copies):
            turned = flat[:, augmentations.cell_order(rows, cols, copy).to(flat.device)].view(-1, rows, cols)
            total = total + self.scores(turned).softmax(dim=-1)
        assert isinstance(total, Tensor)
        return total / copies

    def _planes(self, cells: Tensor) -> Tensor:
        return F.one_hot(cells.long(), self.config.kinds).permute(0, 3, 1, 2).float()
