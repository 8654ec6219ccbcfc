"""A training run for ``test_train_kills``: python train_once.py MODE RECIPE FROM OUT [AT [SECONDS]].

``sft`` begins from data, ``grpo`` from a warm start; ``naive`` is ``sft`` that writes checkpoints in place. It is
killed at change number AT of its folder, or after SECONDS more of processor time.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.crash.changes import Changes, killed, soon_killed

from recommit.runs import checkpoints
from recommit.train import config
from recommit.train.grpo import trainer as run
from recommit.train.grpo.config import GrpoConfig
from recommit.train.sft import trainer as sft


def naive_save(self: checkpoints.Checkpoints, step: int, write: Any, **_: Any) -> checkpoints.Checkpoint:
    folder = self.folder / f"step-{step:08d}"
    folder.mkdir(parents=True, exist_ok=True)
    write(folder)
    return checkpoints.Checkpoint(folder, step)


def main(mode: str, recipe: str, begin: str, out: str, at: str = "0", seconds: str = "0") -> int:
    Changes().watch(Path(out), int(at), soon_killed(float(seconds)) if float(seconds) else killed)
    if mode == "naive":
        checkpoints.Checkpoints.save = naive_save  # type: ignore[method-assign]
        checkpoints.verify = lambda folder: int(folder.name[5:])
    if mode == "grpo":
        return run.train(config.load(recipe, cls=GrpoConfig, stage="grpo"), begin, Path(out), quiet=True)
    return sft.train(config.load(recipe), begin, Path(out), quiet=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
