"""``recommit sweep``: find how much of an action chunk to execute."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from json import dumps
from typing import TYPE_CHECKING, Any

from recommit.horizon.sweep.options import SweepOptions
from recommit.runs.progress import Curves, Progress, clock, refuse_missing
from recommit.storage.errors import Unavailable, need
from recommit.storage.terminal_text import say, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def sweep(options: SweepOptions, json: bool = False, quiet: bool = False) -> None:
    """Find how much of a chunk to execute: every depth and rule on the same episodes.

    The same command goes on with a sweep that was interrupted.

    Args:
        json: Print the summary as JSON.
        quiet: Print nothing while playing.
    """
    from recommit.horizon.sweep.card import CARD
    from recommit.horizon.sweep.run import FIGURES, TABLE, run
    from recommit.horizon.sweep.table import for_lerobot, recommended
    from recommit.storage import safe_open

    try:
        from recommit.report import sweep_figure
    except ImportError:
        raise need("matplotlib", "report") from None
    if options.lerobot:
        _need_lerobot()
        if not quiet:
            say("loading LeRobot and the policy")
    projects = {"wandb": options.wandb, "trackio": options.trackio}
    refuse_missing(projects)
    try:
        card = run(options, progress=_shown(quiet))
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on, and plays no episode again") from None
    sweep_figure.write(card, recommended(card), *(options.out / name for name in FIGURES))
    _track(card, options.out, projects)
    tell(dumps(card["summary"], indent=2) if json else safe_open.text(options.out / TABLE), end="\n" if json else "")
    if options.lerobot and not json:
        tell("\n" + for_lerobot(card, options.lerobot, options.arguments()["type"], options.out / CARD), end="")


def _need_lerobot() -> None:
    """Refuse an environment without the LeRobot whose interface is known, before a worker imports it."""
    try:
        found = version("lerobot")
    except PackageNotFoundError:
        found = "none"
    if not found.startswith("0.6."):
        raise Unavailable(
            f"--lerobot needs LeRobot 0.6, found {found}; it needs Python 3.12: pip install 'lerobot>=0.6,<0.7'"
        )


def _track(card: dict[str, Any], out: Path, projects: dict[str, str]) -> None:
    """Log the summary to trackers: fixed depths as a curve, rules as single points."""
    curves = Curves(out, tensorboard=False, projects=projects, whole=card["settings"], step=0)
    for row in card["summary"]:
        name, _, depth = row["name"].partition("-")
        fixed = name == "fixed"
        figures = {key: row[key][0] for key in ("score", "queries", "minus_best_fixed")}
        curves.add(int(depth) if fixed else card["horizon"], figures, prefix=name if fixed else row["name"])
    curves.close()


def _shown(quiet: bool) -> Callable[[int, int, str], None]:
    """A progress callback with the remaining time, estimated from the episodes of this call."""
    import time

    line = Progress(0, 0, quiet=quiet)
    begin: list[tuple[float, int]] = []

    def show(done: int, total: int, what: str) -> None:
        if not begin or done < begin[0][1]:
            begin[:] = [(time.monotonic(), done)]
        if total and line.due():
            since, first = begin[0]
            each = (time.monotonic() - since) / max(done - first, 1)
            line.write(f"{done:,}/{total:,} episodes  {what}  {clock(each * (total - done))} left")

    return show
