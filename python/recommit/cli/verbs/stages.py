"""``recommit train ...``, ``estimate``, ``evaluate``, ``zero-shot``, ``report`` and ``reproduce``.

Imports of a stage are deferred until it runs.
"""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any, TypeVar

from recommit.cli.boards import check_place
from recommit.cli.flags import WrongCall
from recommit.estimate.options import EstimateOptions
from recommit.evaluate.options import EvaluateOptions
from recommit.report.options import ReportOptions
from recommit.reproduce.options import ReproduceOptions
from recommit.storage import files
from recommit.storage.terminal_text import StatusLine, say, tell
from recommit.train.options import GrpoOptions, HeadOptions, SftOptions, WorldModelOptions
from recommit.zero_shot.options import ZeroShotOptions

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")


def sft(options: SftOptions, show: bool = False, quiet: bool = False) -> int:
    """Train a policy by imitation of optimal plans.

    The same command goes on with a run that was interrupted.

    Args:
        show: Print the configuration and stop.
        quiet: Say nothing while training.
    """
    config = options.config()
    if show:
        return _shown(config)
    from recommit.train.config import tasks
    from recommit.train.sft.trainer import train

    data, out = _needed("data", options.data), _needed("out", options.out)
    about: dict[str, Any] = {"trackers": options.trackers, "puzzles": tasks(options.recipe), "quiet": quiet}
    return train(config, data, out, init=options.init, backbone=options.place, **about)


def grpo(options: GrpoOptions, show: bool = False, quiet: bool = False) -> int:
    """Train a policy's depth head and plans by reinforcement (GRPO).

    The same command goes on with a run that was interrupted.

    Args:
        show: Print the configuration and stop.
        quiet: Say nothing while training.
    """
    config = options.config()
    if show:
        return _shown(config)
    from recommit.train.config import tasks
    from recommit.train.grpo.trainer import train

    init, out = _needed("init", options.init), _needed("out", options.out)
    about: dict[str, Any] = {"trackers": options.trackers, "puzzles": tasks(options.recipe), "quiet": quiet}
    return train(config, init, out, data=options.data or None, reward=options.reward, **about)


def _needed(name: str, value: Value | None) -> Value:
    """A value that is required unless ``--show`` is given."""
    if not value:
        raise WrongCall(f"{name}: expected a folder (--{name} FOLDER), got none; --show alone needs none")
    return value


def _shown(config: Any) -> int:
    from recommit.train.config import plain

    tell(dumps(plain(config), indent=2))
    return 0


def world_model(options: WorldModelOptions, quiet: bool = False) -> None:
    """Train a world model on a policy's plans, whose predictions choose depths.

    It predicts the board after each action, and the remaining distance.

    Args:
        quiet: Print nothing while training.
    """
    from recommit.train.heads.world_model import train_world_model

    result = train_world_model(options, _teller(quiet))
    exact, pictures = 100 * result["exact"], 100 * result["pictures"]
    tell(f"{exact:.1f} % of distances exact, {pictures:.1f} % of pictures right after an action, in {options.out}")


def head(options: HeadOptions, quiet: bool = False) -> None:
    """Train a depth head for all prices and budgets on a commitment graph.

    Args:
        quiet: Print nothing while training.
    """
    from recommit.train.heads.conditioned import train_head

    record = train_head(options, _teller(quiet))
    tell(f"{100 * record['value']:.1f} on held-out starts after {record['updates']:,} updates, in {options.out}")


def _teller(quiet: bool) -> Callable[[str], None]:
    return (lambda _: None) if quiet else say


def _counted(work: Callable[[Callable[[str], None]], Value]) -> Value:
    """Run ``work`` with a progress line; returns its result."""
    line = StatusLine()
    try:
        return work(line.show)
    finally:
        line.clear()


def estimate(options: EstimateOptions, json: bool = False) -> None:
    """Estimate what a recipe takes before anything is loaded: FLOPs, memory, time.

    Args:
        json: Print JSON.
    """
    estimates = _counted(options.estimates)
    if json:
        tell(dumps([each.to_json() for each in estimates], indent=2))
        return
    from recommit.estimate.costs import text

    tell("\n".join(map(text, estimates)), end="")
    tell("\nBy arithmetic; no run of it was measured on a GPU: docs/a100.md says how.")


def evaluate(options: EvaluateOptions, json: bool = False, quiet: bool = False) -> None:
    """Play agents on the same test instances and compare the first with the others.

    Args:
        json: Print the summary as JSON.
        quiet: Print nothing while playing.
    """
    from recommit.evaluate.evaluation import evaluated

    try:
        result = evaluated(options, quiet=quiet)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on, and plays no agent again") from None
    if result is not None:  # None on other ranks than the main process
        tell(dumps(result.rows, indent=2) + "\n" if json else result.text, end="")


def zero_shot(options: ZeroShotOptions, json: bool = False, quiet: bool = False) -> int:
    """Let a vision-language model play through an API.

    The same options go on with a run that was interrupted.

    Args:
        json: Print the summary as JSON.
        quiet: Say nothing while playing.
    """
    from recommit.zero_shot.runner import ZeroShotRun, table

    rows = ZeroShotRun(options).run(quiet=quiet)
    tell(dumps(rows, indent=2) + "\n" if json else table(rows), end="")
    return 0 if rows[0]["instances"] else 1  # no episode was completed


def report(options: ReportOptions, json: bool = False, quiet: bool = False) -> None:
    """Write one page about an evaluation: figures, tables and episodes to watch.

    It needs no server and no network.

    Args:
        json: Print JSON.
        quiet: Print nothing.
    """
    from recommit.evaluate.seeds import Seeds
    from recommit.report import page

    check_place(options.out)
    if options.out.suffix == ".md":
        files.replace(files.Files(), options.out, Seeds([options.eval, *options.seeds]).markdown().encode())
        return
    made = page.write(options)
    counts = {"figures": len(made.figures), "watched": made.watched, "instances": made.of}
    if json:
        tell(dumps({"out": str(options.out), **counts}))
    elif not quiet:
        tell(f"{options.out}: {counts['figures']} figures, {made.watched} of {made.of} instances to watch")


def reproduce(options: ReproduceOptions, show: bool = False, plan: str = "", quiet: bool = False) -> int:
    """Run a preset: data, warm start, GRPO, evaluation and report.

    What is there is not made again.

    Args:
        show: Print the commands of the preset, as a shell would run them, and stop.
        plan: Estimate its training runs on this card (a100, h200, rtx4090), which takes minutes, and stop.
        quiet: Say nothing while working.
    """
    from recommit.reproduce import run

    if show:
        tell(run.shown(options), end="")
        return 0
    if plan:
        tell(_counted(lambda show: run.planned(options, plan, show)), end="")
        return 0
    return run.reproduce(options, quiet=quiet)
