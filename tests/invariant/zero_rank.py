"""One rank of a training run, for ``test_zero``: python zero_rank.py MODE RECIPE DATA OUT STAGE; DATA is a warm start
for grpo.
"""

from __future__ import annotations

import os
import sys

from recommit.runs import ranks
from recommit.train import config
from recommit.train.grpo import config as grpo_config
from recommit.train.grpo import trainer as run
from recommit.train.sft import trainer as sft


def main(mode: str, recipe: str, data: str, out: str, stage: str) -> int:
    changes = [] if stage == "plain" else ["engine.kind=deepspeed", f"engine.stage={stage}"]
    if mode.startswith("grpo"):
        more = [f"advantage.estimator={mode.partition('-')[2]}"]
        return run.train(config.load(recipe, [*changes, *more], grpo_config.GrpoConfig, "grpo"), data, out, quiet=True)
    step, rank = sft.SftTrainer._step, int(os.environ.get("RANK", "0"))

    def stopping(self: sft.SftTrainer) -> dict[str, float]:
        if self.state.step == 7:
            os._exit(9)
        return step(self)

    def unequal(self: sft.SftTrainer) -> dict[str, float]:
        make = sft.targets.make
        sft.targets.make = lambda *a, **k: make(*a, **k)[: 8 if rank == 0 else 1 + self.state.step % 3]
        try:
            return step(self)
        finally:
            sft.targets.make = make

    sft.SftTrainer._step = {"whole": step, "stop": stopping, "unequal": unequal}[mode]
    return sft.train(config.load(recipe, changes), data, out, quiet=True)


if __name__ == "__main__":
    ranks.end(main(*sys.argv[1:]))
