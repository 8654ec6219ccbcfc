"""``recommit play``: a level played by hand, with the keys of a terminal, or by a policy that one watches."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import ACTIONS
from recommit.cli.boards import LevelOptions, check_place
from recommit.cli.flags import WrongCall
from recommit.cli.keys import with_keys
from recommit.storage import files
from recommit.storage.terminal_text import StatusLine, plain, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.cli.boards import ChosenLevel
    from recommit.puzzles.levels import Grid
    from recommit.watch.live import PolicyMatch
    from recommit.watch.match import Level, Match

#: Search nodes of a hint, and of the fewest actions that are named at the end.
NODES = 2_000_000


@dataclass(frozen=True, kw_only=True)
class PlayOptions(LevelOptions):
    """Which level is played, and by whom.

    Args:
        agent: Watch a policy instead: the folder of a training run or of a saved policy, or the name of one that comes
            with the package, sliding-3x3 or sokoban-7x7 (default: play by hand). Its own puzzle and size are played
            unless another is asked for.
        budget: Observations of an episode at most (default: that of the puzzle).
        price_action: What an executed action costs, as a share of a solved episode.
        price_observation: What an observation costs.
        out: Write what is to be watched to a file instead: a page, .html, or a recording for
            recommit watch, .json (default: none).
        count: Levels of that file.
        anyway: Let a policy play puzzles and sizes that it was not trained on.
    """

    agent: str = ""
    budget: int | None = None
    price_action: float = 0.01
    price_observation: float = 0.0
    out: Path | None = None
    count: int = 12
    anyway: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.budget is not None and not 1 <= self.budget <= 99:
            raise ValueError(f"budget: expected 1..99, got {self.budget}")
        if self.count < 1:
            raise ValueError(f"count: expected at least 1, got {self.count}")
        if self.out and self.out.suffix.lower() not in (".html", ".json"):
            raise ValueError(f"out: expected a name that ends in .html or .json, got {self.out}")
        if not self.agent and self.out:
            raise ValueError("agent: expected a policy (--agent FOLDER) with --out, got none")


class BoardGame:
    """One level after another; ``level`` gives the one of a number."""

    def __init__(self, level: Callable[[int], ChosenLevel], index: int = 0) -> None:
        self.level, self.index = level, index
        self.note, self.over = "", False
        self._begin()

    @property
    def state(self) -> Grid:
        """The board as it is now."""
        return self.path[-1]

    @property
    def solved(self) -> bool:
        """Is every box, or tile, where it belongs?"""
        return bool(self.chosen.task.is_solved(self.state[None])[0])

    def press(self, key: str) -> None:
        """Do what a key says; words that are no key do nothing."""
        self.note = ""
        if key in ACTIONS:
            self._move(ACTIONS.index(key))
        elif key in ("undo", "restart"):
            del self.path[1 if key == "restart" else max(1, len(self.path) - 1) :]
        elif key == "hint":
            self.note = self._hint()
        elif key == "next":
            self._next()
        elif key == "quit":
            self.over = True

    def summary(self) -> str:
        """How many actions so far; at the end, how few would have done."""
        count = len(self.path) - 1
        words = f"{count} action{'s' * (count != 1)}"
        return f"solved with {words}{self._fewest()}" if self.solved else words

    def board(self) -> str:
        """The board in letters, as level files have it."""
        import recommit

        return recommit.format_levels(self.state[None], task=self.chosen.task.task, format="plain").strip("\n")

    def screen(self) -> str:
        """Title, board, how it stands, and the keys."""
        return "\n".join([plain(self.chosen.title), "", self.board(), "", self.summary(), self.note, HELP])

    def _begin(self) -> None:
        self.chosen = self.level(self.index)
        self.path = [self.chosen.state]

    def _next(self) -> None:
        """The next level, if there is one: the game goes on where there is none."""
        self.index += 1
        try:
            self._begin()
        except WrongCall:
            self.index -= 1
            self.note = "this is the last level"

    def _move(self, action: int) -> None:
        after = self.chosen.task.step(self.state[None], np.array([action], np.uint8))[0]
        if not self.solved and not np.array_equal(after, self.state):
            self.path.append(after)

    def _solutions(self, state: Grid) -> Any:
        import recommit

        return self.chosen.task.solve(state[None], recommit.Limits(nodes=NODES), threads=1)

    def _hint(self) -> str:
        if self.solved:
            return "it is solved"
        solutions = self._solutions(self.state)
        if int(solutions.length[0]) == -1:
            return "nothing solves it from here: undo"
        plan = solutions[0]
        return f"{ACTIONS[plan[0]]}, then {len(plan) - 1} more" if len(plan) else "too hard for a hint"

    def _fewest(self) -> str:
        least = int(self._solutions(self.path[0]).length[0])
        return f"; the fewest are {least}" if least >= 0 else ""


#: Shown below the board.
HELP = "arrows, wasd or hjkl move   u undo   r restart   ? hint   n next level   q quit"


def play(options: PlayOptions) -> None:
    """Play levels with the keys of the terminal, or watch a policy play them beside a fixed depth of its plans.

    Arrows, wasd or hjkl move; u takes back, r begins again, ? gives a hint, n goes on to the next level, q ends.
    """
    if options.agent:
        _watch(options)
    else:
        with_keys(BoardGame(options.level, options.index))


def _watch(options: PlayOptions) -> None:
    """Watch a policy that plays, or write down how it does."""
    from recommit.runs.process import configure_inference, preserved_torch_state, watching_threads
    from recommit.watch.terminal import MatchGame

    if options.out is not None:
        check_place(options.out)
    line = StatusLine()
    line.show(f"loading {options.agent}, then every depth on the first level: some seconds")
    with preserved_torch_state():
        match, chosen = _match(options)
        configure_inference(watching_threads(match.policy))
        if options.out is None:
            game = MatchGame(match, chosen.index)
            line.clear()
            with_keys(game)
        else:
            _record(match, chosen, options.out, line)


def _record(match: PolicyMatch, chosen: PlayOptions, out: Path, line: StatusLine) -> None:
    """Write a page or a recording of some levels."""
    from recommit.watch import recorded

    recording = recorded.record(match, _levels(match, chosen.index, chosen.count, line))
    line.clear()
    is_page = out.suffix.lower() == ".html"
    made = recorded.page(recording) if is_page else recorded.text(recording)
    files.replace(files.Files(), out, made.encode())
    tell(f"{out}: {len(recording['levels'])} levels, {out.stat().st_size / 1000:.0f} kB")


def _levels(match: Match, first: int, count: int, line: StatusLine) -> Iterator[Level]:
    """So many levels, or as many as there are."""
    for number in range(first, first + count):
        line.show(f"level {number - first + 1} of {count}")
        try:
            yield match.level(number)
        except WrongCall:
            if number == first:
                raise
            return


def _command(options: PlayOptions) -> str:
    """The call, without what is the default anyway."""
    words = ["recommit", "play", *([str(options.file)] if options.file else [])]
    for each in fields(options):
        value = getattr(options, each.name)
        if each.name == "file" or value == each.default:
            continue
        several = value if isinstance(value, tuple) else () if value is True else (value,)
        words += [f"--{each.name.replace('_', '-')}", *map(str, several)]
    return shlex.join(words)


def _match(options: PlayOptions) -> tuple[PolicyMatch, PlayOptions]:
    """The policy, and the options with its own puzzle."""
    from recommit.policy.checkpoint import local_folder, weights_of
    from recommit.policy.policy import CommitPolicy
    from recommit.prices import Prices
    from recommit.watch import match as match_of
    from recommit.watch.live import PolicyMatch

    folder, prices = local_folder(options.agent), Prices(options.price_action, options.price_observation)
    policy = CommitPolicy.from_pretrained(folder, anyway=options.anyway).eval()
    policy.replace_prices(prices)
    chosen = options.of_policy(options.agent, policy.config.trained)
    first = chosen.level()
    task = first.task

    def level(number: int) -> Level:
        found = chosen.level(number)
        return match_of.of_state(found.task.task, found.state, found.title)

    about = match_of.About(
        policy=Path(options.agent).name,
        weights=weights_of(folder),
        task=task.task,
        depths=policy.config.depths,
        budget=options.budget or task.budgets(first.state.shape)["loose"],
        value=match_of.words(prices),
        command=_command(options) if options.out else "",  # of what is played now nobody asks
    )
    return PolicyMatch(policy, about, prices, level), chosen
