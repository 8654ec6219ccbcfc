"""``recommit render``: a level, a plan or an episode as one picture, a sheet of several, or an animation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recommit.cli.boards import LevelOptions, check_place
from recommit.puzzles.solutions import UNSOLVABLE
from recommit.storage import errors
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.cli.boards import ChosenLevel
    from recommit.report.animation import PlayedEpisode

    Boards = NDArray[np.uint8]

#: Pictures in a row of a sheet, pixels between them, most pixels of a sheet, and the sheet behind the boards.
ROW, GAP, MOST = 8, 8, 1 << 26
PAGE = (250, 248, 244)
LETTERS = "udlr"


@dataclass(frozen=True, kw_only=True)
class RenderOptions(LevelOptions):
    """What is drawn, and how.

    Args:
        out: The file to write, .png or .gif; it is replaced whole or not at all.
        plan: Actions to show, u d l r as recommit solve prints them; the word solve for an optimal plan (default:
            none).
        agent: Show an episode instead: of a training run or a saved policy, by its folder, of one that comes with the
            package, by its name (recommit policies), or of the solver. A policy plays its own puzzle and size unless
            another is asked for.
        cell: Pixels per cell.
    """

    out: Path
    plan: str = ""
    agent: str = ""
    cell: int = 48

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.out.suffix.lower() not in (".png", ".gif"):
            raise ValueError(f"out: expected a name that ends in .png or .gif, got {self.out}")
        if self.plan and self.agent:
            raise ValueError(f"plan: expected one of --plan and --agent, got --plan {self.plan} --agent {self.agent}")


def render(options: RenderOptions) -> None:
    """Draw a level, a plan or an episode: a PNG with one picture after another, or a GIF that moves."""
    check_place(options.out)
    out = options.out
    count = _draw_episode(options) if options.agent else _draw_plan(options.level(), options)
    tell(f"{out}: {count} picture{'s' * (count != 1)}, {out.stat().st_size / 1000:.0f} kB")


def _draw_plan(level: ChosenLevel, options: RenderOptions) -> int:
    """Draw a level, and what a plan makes of it; how many pictures that is."""
    from recommit.report import animation

    states = [level.state]
    for action in _actions(level, options.plan):
        states.append(level.task.step(states[-1][None], np.array([action], np.uint8))[0])
    boards = level.task.render(np.stack(states), options.cell)
    if options.out.suffix.lower() == ".png":
        return sheet(boards, options.out)
    last = len(boards) - 1
    notes = [f"action {at} of {last}" for at in range(last + 1)] if last else [""]
    times = [animation.OBSERVATION, *[animation.ACTION] * (last - 1), animation.END][: last + 1]
    columns = zip(boards, [level.title] * (last + 1), notes, times, strict=True)
    animation.save(options.out, [animation.Frame(*each) for each in columns])
    return len(boards)


def _draw_episode(options: RenderOptions) -> int:
    """Draw an episode: on a sheet the boards that it observed and its end, in an animation every action."""
    episode = _episode(options)
    if options.out.suffix.lower() == ".gif":
        episode.save(options.out, cell=options.cell)
        return len(episode.states) + episode.observations
    places = np.concatenate([[0], np.cumsum(np.array(episode.executed, np.intp))])
    boards = episode.task.render(episode.states[places], options.cell)
    return sheet(boards, options.out)


def _episode(options: RenderOptions) -> PlayedEpisode:
    """On the chosen level, by default one of the policy's own puzzle and size."""
    import recommit

    if options.agent == "solver":
        level = options.level()
        return recommit.episode(options.agent, level.state, task=level.task)
    from recommit.policy.checkpoint import local_folder
    from recommit.runs.process import configure_inference, preserved_torch_state, watching_threads

    policy = recommit.CommitPolicy.from_pretrained(local_folder(options.agent))
    level = options.of_policy(options.agent, policy.config.trained).level()
    with preserved_torch_state():
        configure_inference(watching_threads(policy))
        return recommit.episode(policy.eval(), level.state, task=level.task)


def _actions(level: ChosenLevel, plan: str) -> list[int]:
    """The plan's letters as actions; ``solve`` is an optimal plan."""
    if plan == "solve":
        solutions = level.task.solve(level.state[None])
        if (length := int(solutions.length[0])) < 0:
            why = "cannot" if length == UNSOLVABLE else "the search gave up on"
            raise ValueError(f"plan: expected a level that can be solved, got one that {why}")
        return [int(action) for action in solutions[0]]
    if wrong := sorted(set(plan.lower()) - set(LETTERS)):
        raise ValueError(f"plan: expected the word solve, or letters of u d l r, got {wrong[0]!r}")
    return [LETTERS.index(letter) for letter in plan.lower()]


def sheet(boards: Boards, out: Path) -> int:
    """Write boards in rows, from left to right, as one PNG."""
    from recommit.storage.files import replacing

    try:
        from PIL import Image
    except ImportError:
        raise errors.need("pillow", "cli") from None
    count, height, width = len(boards), *boards.shape[1:3]
    columns = min(count, ROW)
    rows, step = -(-count // columns), (height + GAP, width + GAP)
    if rows * step[0] * columns * step[1] > MOST:
        raise ValueError(f"cell: expected so few pixels that {count} boards have at most {MOST:,}, got more")
    page = np.empty((rows * step[0] - GAP, columns * step[1] - GAP, 3), np.uint8)
    page[:] = PAGE
    for number, board in enumerate(boards):
        row, column = divmod(number, columns)
        page[row * step[0] :, column * step[1] :][:height, :width] = board
    with replacing(out) as file:
        Image.fromarray(page).save(file, format="PNG", optimize=True)
    return count
