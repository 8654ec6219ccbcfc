"""Boards as files: one picture, a sheet of several, or an animation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.cli.verbs.boards.gallery import PAGES
from recommit.report import animation
from recommit.report.animation import Frame
from recommit.storage import errors
from recommit.storage.files import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.cli.verbs.boards.chosen_level import ChosenLevel
    from recommit.report.animation import PlayedEpisode

    Boards = NDArray[np.uint8]

#: Pictures in a row of a sheet, pixels between them, and most pixels of a sheet.
ROW, GAP, MOST = 8, 8, 1 << 26
LETTERS = "udlr"


@dataclass(frozen=True)
class Style:
    """How boards are drawn."""

    cell: int
    theme: str


def of_plan(level: ChosenLevel, plan: str, out: Path, style: Style) -> int:
    """Draw a level, and what a plan makes of it; how many pictures that is."""
    states = _states(level, _actions(level, plan))
    boards = level.task.render(states, style.cell, theme=style.theme)
    if out.suffix.lower() == ".png":
        return sheet(boards, out, style.theme)
    last = len(boards) - 1
    notes = [f"action {at} of {last}" for at in range(last + 1)] if last else [""]
    times = [animation.OBSERVATION, *[animation.ACTION] * (last - 1), animation.END][: last + 1]
    frames = [Frame(*each) for each in zip(boards, [level.title] * (last + 1), notes, times, strict=True)]
    animation.save(out, frames, style.theme)
    return len(frames)


def of_episode(episode: PlayedEpisode, out: Path, style: Style) -> int:
    """Draw an episode: on a sheet the boards that it observed and its end, in an animation every action."""
    if out.suffix.lower() == ".gif":
        episode.save(out, cell=style.cell, theme=style.theme)
        return len(episode.states) + episode.observations
    places = np.concatenate([[0], np.cumsum(np.array(episode.executed, np.intp))])
    return sheet(episode.task.render(episode.states[places], style.cell, theme=style.theme), out, style.theme)


def sheet(boards: Boards, out: Path, theme: str) -> int:
    """Write boards in rows, from left to right, as one PNG."""
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
    page[:] = PAGES[theme]
    for number, board in enumerate(boards):
        row, column = divmod(number, columns)
        page[row * step[0] :, column * step[1] :][:height, :width] = board
    with replacing(out) as file:
        Image.fromarray(page).save(file, format="PNG", optimize=True)
    return count


def _actions(level: ChosenLevel, plan: str) -> list[int]:
    """The plan's letters as actions; ``solve`` is an optimal plan."""
    if plan == "solve":
        solutions = level.task.solve(level.state[None])
        if int(solutions.length[0]) < 0:
            raise ValueError("plan: expected a level that can be solved, got one that cannot")
        return [int(action) for action in solutions[0]]
    if wrong := sorted(set(plan.lower()) - set(LETTERS)):
        raise ValueError(f"plan: expected the word solve, or letters of u d l r, got {wrong[0]!r}")
    return [LETTERS.index(letter) for letter in plan.lower()]


def _states(level: ChosenLevel, actions: list[int]) -> Boards:
    states = [level.state]
    for action in actions:
        states.append(level.task.step(states[-1][None], np.array([action], np.uint8))[0])
    return np.stack(states)
