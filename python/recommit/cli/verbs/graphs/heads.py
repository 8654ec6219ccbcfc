"""``recommit train world-model|head``: heads beside reinforcement learning."""

from __future__ import annotations

from recommit.cli.flags import taking
from recommit.cli.requests import WrongCall
from recommit.storage.terminal_text import say, tell
from recommit.train.options import HeadOptions, WorldModelOptions


@taking(WorldModelOptions)
def world_model(options: WorldModelOptions, quiet: bool = False) -> int:
    """Train a world model.

    Args:
        quiet: Print nothing while training.
    """
    from recommit.runs.process import settle_to_look
    from recommit.train.heads.world_model import train_world_model

    settle_to_look(options.threads)
    try:
        result = train_world_model(options, _silent if quiet else say)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    exact, pictures = 100 * result["exact"], 100 * result["pictures"]
    tell(f"{exact:.1f} % of distances exact, {pictures:.1f} % of pictures right after an action, in {options.out}")
    return 0


@taking(HeadOptions, policy="none", features="conditioned, or z+confidence")
def head(options: HeadOptions, quiet: bool = False) -> int:
    """Train a head.

    Args:
        quiet: Print nothing while training.
    """
    from recommit.runs.process import settle_to_look
    from recommit.train.head import train_head

    settle_to_look(options.threads)
    try:
        record = train_head(options, _silent if quiet else say)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    what = f"{100 * record['value']:.1f} on held-out starts after {record['updates']:,} updates"
    tell(f"{options.method}: {what}, in {options.out}")
    return 0


def _silent(line: str) -> None:
    del line
