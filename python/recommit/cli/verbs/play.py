"""``recommit play`` and ``recommit watch``: a policy's play, live or recorded."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.cli.boards import LevelOptions, check_place
from recommit.cli.flags import WrongCall
from recommit.storage import files
from recommit.storage.terminal_text import StatusLine, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.watch.live import PolicyMatch
    from recommit.watch.match import Level, Match


@dataclass(frozen=True, kw_only=True)
class PlayOptions(LevelOptions):
    """Which level is played, and by whom.

    Args:
        agent: The folder of a training run or of a saved policy, or the name of one that comes with the package,
            sliding-3x3 or sokoban-7x7. Its own puzzle and size are played unless another is asked for.
        budget: Observations of an episode at most (default: that of the puzzle).
        price_action: What an executed action costs, as a share of a solved episode.
        price_observation: What an observation costs.
        out: Write what is to be watched to a file instead: a page, .html, or what it holds, .json (default: none).
        count: Levels of that file.
    """

    agent: str
    budget: int | None = None
    price_action: float = 0.01
    price_observation: float = 0.0
    out: Path | None = None
    count: int = 12

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.budget is not None and not 1 <= self.budget <= 99:
            raise ValueError(f"budget: expected 1..99, got {self.budget}")
        if self.count < 1:
            raise ValueError(f"count: expected at least 1, got {self.count}")
        if self.out and self.out.suffix.lower() not in (".html", ".json"):
            raise ValueError(f"out: expected a name that ends in .html or .json, got {self.out}")


def play(options: PlayOptions) -> None:
    """Watch a policy play levels beside a fixed depth of its plans, or write that down."""
    from recommit.runs.process import torch_settings
    from recommit.watch.terminal import MatchGame, with_keys

    if options.out is not None:
        check_place(options.out)
    line = StatusLine()
    line.show(f"loading {options.agent}, then every depth on the first level: some seconds")
    match, chosen = _match(options)
    with torch_settings(inference=True):
        if options.out is None:
            game = MatchGame(match, chosen.index)
            line.clear()
            with_keys(game)
        else:
            _record(match, chosen, options.out, line)


def _record(match: PolicyMatch, chosen: PlayOptions, out: Path, line: StatusLine) -> None:
    """Write an HTML page or a recording of some levels."""
    from recommit.watch import recorded

    recording = recorded.record(match, _levels(match, chosen.index, chosen.count, line))
    line.clear()
    is_page = out.suffix.lower() == ".html"
    made = recorded.page(recording) if is_page else recorded.text(recording)
    files.replace(files.Files(), out, made.encode())
    tell(f"{out}: {len(recording['levels'])} levels, {out.stat().st_size / 1000:.0f} kB")


def _levels(match: Match, first: int, count: int, line: StatusLine) -> Iterator[Level]:
    """``count`` levels from ``first`` on, or fewer if the file ends."""
    for number in range(first, first + count):
        line.show(f"level {number - first + 1} of {count}")
        try:
            yield match.level(number)
        except WrongCall:
            if number == first:
                raise
            return


def _command(options: PlayOptions) -> str:
    """The command line, without default values."""
    words = ["recommit", "play", *([str(options.file)] if options.file else [])]
    for each in fields(options):
        value = getattr(options, each.name)
        if each.name == "file" or value == each.default:
            continue
        several = value if isinstance(value, tuple) else () if value is True else (value,)
        words += [f"--{each.name.replace('_', '-')}", *map(str, several)]
    return shlex.join(words)


def _match(options: PlayOptions) -> tuple[PolicyMatch, PlayOptions]:
    """The match of a policy, and the options filled in for it."""
    from recommit.policy.checkpoint import local_folder, weights_of
    from recommit.policy.policy import CommitPolicy
    from recommit.prices import Prices
    from recommit.watch import match as match_of
    from recommit.watch.live import PolicyMatch

    folder, prices = local_folder(options.agent), Prices(options.price_action, options.price_observation)
    policy = CommitPolicy.from_pretrained(folder).eval()
    policy.replace_prices(prices)
    chosen = options.of_policy(options.agent, policy.config.trained)
    first = chosen.level(chosen.index)
    about = match_of.About(
        policy=Path(options.agent).name,
        weights=weights_of(folder),
        task=first.task.task,
        depths=policy.config.depths,
        budget=options.budget or first.task.budgets(first.state.shape)["loose"],
        value=match_of.words(prices),
        command=_command(options) if options.out else "",  # live matches show no command
    )
    return PolicyMatch(policy, about, prices, chosen.level), chosen


def watch(recording: str = "", out: str = "") -> None:
    """Watch a recorded policy beside a fixed depth of its plans; this needs numpy alone.

    Args:
        recording: One of the package by its name (default: the first).
        out: Write a page, .html, instead of showing the terminal (default: none).
    """
    from recommit.watch import recorded
    from recommit.watch.terminal import MatchGame, with_keys

    values = recorded.read(recording or recorded.names()[0])
    if not out:
        with_keys(MatchGame(recorded.RecordedMatch(values)))
        return
    check_place(Path(out))
    files.replace(files.Files(), Path(out), recorded.page(values).encode())
    tell(out)
