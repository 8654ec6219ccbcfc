"""The supervised warm start. Also ``deepspeed ... -m recommit.train.sft`` with the flags of ``recommit train sft``."""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial, reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import recommit.data
from recommit.policy.transfer import to_device, to_host
from recommit.train import losses, ranks, start, state, targets, validate
from recommit.train.config import plain
from recommit.train.engine import make_engine, schedule
from recommit.train.peers import watched
from recommit.train.rundir import RunDirectory
from recommit.train.trainer import Trainer
from recommit.train.watch import Interrupt

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from recommit.data.dataset import Dataset
    from recommit.train.config import SftConfig
    from recommit.train.ranks import Team
    from recommit.train.targets import Targets


def train(config: SftConfig, data: str | Path, out: str | Path, *, quiet: bool = False) -> int:
    """Run, or go on with, a warm start; 0 when it is finished and 130 when it was interrupted."""
    if config.run.threads:
        torch.set_num_threads(config.run.threads)
    dataset = recommit.data.open(data, "train")
    team = ranks.join(config.run.device) if config.engine.kind == "deepspeed" else ranks.alone(config.run.device)
    with watched(team), RunDirectory(out, lead=team.lead) as folder, Interrupt() as interrupt:
        content = {"content_sha256": dataset.manifest.content, "recipe": dataset.recipe.to_dict()}
        folder.begin({"kind": "sft", "ranks": team.world, **plain(config), "data": content})
        with closing(Sft(config, dataset, folder, team, quiet=quiet or not team.lead)) as run:
            return run.run(interrupt)


class Sft(Trainer):
    """Imitation of exact labels: every admissible depth of a state from one pass."""

    kind = "sft"
    config: SftConfig

    def __init__(
        self, config: SftConfig, dataset: Dataset, folder: RunDirectory, team: Team, *, quiet: bool = False
    ) -> None:
        super().__init__(config, folder, team, quiet=quiet)
        self.dataset, self.task = dataset, dataset.puzzle
        share, rest = divmod(config.optim.batch, team.world)
        if rest:
            raise ValueError(f"optim.batch: expected a multiple of {team.world} ranks, got {config.optim.batch}")
        self.parts = -(-share // (config.optim.micro_batch or share))
        state.seed(config.run.seed)
        self.policy = start.policy(config.model, folder.folder, config.run.seed, team)
        self.policy.train_only(self.task, depth_head=False)  # the depth head learns by reinforcement alone
        self.policy.backbone.recompute = config.engine.checkpointing
        self.policy.train()
        start.keep_features(self.policy, config.run)
        self.engine = make_engine(self.policy, config.optim, config.engine, team, self.parts)
        state.seed(config.run.seed + team.rank)  # dropout differs between ranks, the first weights do not
        self.feed = recommit.data.Feed(dataset, share, seed=config.run.seed, rank=team.rank, world=team.world)
        watched = config.validation.instances > 0
        self.instances = validate.instances(dataset.recipe, config.validation) if watched else None

    @property
    def task_shape(self) -> tuple[int, int]:
        """See ``Trainer``."""
        return self.dataset.recipe.size

    def _more(self) -> dict[str, Any]:
        return {"feed": self.feed.state_dict()}

    def _take_up(self, more: dict[str, Any]) -> None:
        self.feed.load_state_dict(more["feed"])

    def _step(self) -> dict[str, float]:
        """One step of the optimiser."""
        first = self.feed.position + self.team.rank * self.feed.batch
        batch = targets.make(
            self.task, next(self.feed), self.config.targets, seed=self.config.run.seed, first=first, threads=1
        )
        weight = losses.total_weight(batch, self.config.targets)
        whole = self.team.total([weight])[0]
        parts, measured = self._parts(batch), []
        for i, part in enumerate(parts):
            # Engines average gradients over ranks; the loss is an average over all actions of all ranks.
            divisor = max(whole, 1.0) / self.team.world
            value, logits = self.engine.run(
                partial(losses.sft_loss, self.policy, self.task, part, self.config.targets, divisor)
            )
            self.engine.backward(value, last=i + 1 == len(parts))
            measured.append(_measured(value, logits, part))
        norm = self.engine.step(schedule(self.config.optim, self.at.step))
        self._watch_for_nan(norm)
        self.at.step += 1
        self.at.states += self.config.optim.batch
        (each,) = to_host(torch.stack(measured))
        sums = reduce(np.add, each.astype(np.float64)).tolist()
        loss, right, live = self.team.total([sums[0] / self.team.world, *sums[1:]])
        return {"loss": loss, "right": right, "live": live, "norm": norm}

    def _parts(self, batch: Targets) -> list[Targets]:
        """As many micro-batches on every rank, however many rows it got: a missing one weighs nothing."""
        size = self.config.optim.micro_batch or len(batch)
        parts = [batch[begin : begin + size] for begin in range(0, len(batch), size)]
        return parts + [targets.nothing(batch)] * (self.parts - len(parts))

    def _summary(self, found: list[dict[str, float]]) -> dict[str, Any]:
        return {
            "epoch": round(self.at.states / self.feed.total, 4),
            "loss": round(sum(f["loss"] for f in found) / len(found), 6),
            "optimal": round(sum(f["right"] for f in found) / max(sum(f["live"] for f in found), 1), 4),
            "gradient_norm": round(sum(f["norm"] for f in found) / len(found), 5),
        }

    def _introduction(self) -> str:
        return f"{self._trained()}, on {self.feed.total:,} states"


@torch.no_grad()
def _measured(loss: Tensor, logits: Tensor, part: Targets) -> Tensor:
    """The loss of a micro-batch, in how many of its states the first action is optimal, and in how many one is: still on
    the device, since whoever reads it waits for the whole queue."""
    right, live = losses.accuracy(logits[:, :1], to_device(part.optimal[:, :1], logits.device))
    return torch.stack([each.float() for each in (loss, right[0], live[0])])


if __name__ == "__main__":
    # The program is the command line's, which no module here may import; the launcher of DeepSpeed starts modules.
    ranks.end(import_module("recommit.cli").main(["train", "sft", *ranks.arguments(sys.argv[1:])]))
