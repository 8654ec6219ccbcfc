"""``recommit train sft|grpo|family|world-model|head``. Light to import."""

from __future__ import annotations

import json
from typing import Any

from recommit.storage.terminal_text import say, tell
from recommit.train.options import FamilyOptions, GrpoOptions, HeadOptions, SftOptions, WorldModelOptions


def sft(options: SftOptions, show: bool = False, quiet: bool = False) -> int:
    """Train a policy by imitation, or go on with a run that was interrupted: the same command does both.

    Args:
        show: Print the configuration and stop.
        quiet: Say nothing while training.
    """
    config = options.config()
    if show:
        return _shown(config)
    from recommit.train.sft import train

    return train(config, options.data, options.out, init=options.init, tasks=options.tasks, quiet=quiet)


def grpo(options: GrpoOptions, show: bool = False, quiet: bool = False) -> int:
    """Improve a policy by GRPO on both heads, or go on with such a run: the same command does both.

    Args:
        show: Print the configuration and stop.
        quiet: Say nothing while training.
    """
    config = options.config()
    if show:
        return _shown(config)
    from recommit.train.grpo import train

    data = options.data or None
    return train(config, options.init, options.out, data=data, tasks=options.tasks, quiet=quiet)


def family(options: FamilyOptions, quiet: bool = False) -> int:
    """Train variants by GRPO from one warm start, each with every seed; finished ones are skipped.

    Args:
        quiet: Say nothing while training.
    """
    from recommit.train.family import processes, runs

    fleet, wanted = options.fleet(), options.runs()
    runs.refuse_foreign(options.out, wanted)
    if fleet is None:
        return runs.train(wanted, jobs=options.jobs, quiet=quiet)
    return processes.train(fleet, wanted, options.out / "launch", quiet=quiet)


def world_model(options: WorldModelOptions, quiet: bool = False) -> int:
    """Train a world model on a policy's plans: it predicts the board after each action, and the remaining distance.

    Args:
        quiet: Print nothing while training.
    """
    from recommit.train.heads.world_model import train_world_model

    result = train_world_model(options, _silent if quiet else say)
    exact, pictures = 100 * result["exact"], 100 * result["pictures"]
    tell(f"{exact:.1f} % of distances exact, {pictures:.1f} % of pictures right after an action, in {options.out}")
    return 0


def head(options: HeadOptions, quiet: bool = False) -> int:
    """Train a depth head on a graph's frozen plans: the price- and budget-conditioned head, or one by a baseline.

    Args:
        quiet: Print nothing while training.
    """
    from recommit.train.head import train_head

    record = train_head(options, _silent if quiet else say)
    what = f"{100 * record['value']:.1f} on held-out starts after {record['updates']:,} updates"
    tell(f"{options.method}: {what}, in {options.out}")
    return 0


def _silent(line: str) -> None:
    del line


def _shown(config: Any) -> int:
    from recommit.train.config import plain

    tell(json.dumps(plain(config), indent=2))
    return 0
