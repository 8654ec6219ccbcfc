"""``recommit render``: a level, a plan or an episode as a picture. The signature is the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recommit.cli.flags import usual
from recommit.cli.requests import SIZE, WrongCall
from recommit.puzzles.registry import Task
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from recommit.cli.verbs.boards.chosen_level import ChosenLevel
    from recommit.report.animation import PlayedEpisode


@usual(
    task="sokoban",
    file="a generated level",
    size=SIZE,
    length="any",
    plan="none",
    agent="none",
    budget="that of the puzzle",
)
def render(
    file: Path | None = None,
    /,
    *,
    out: Path,
    task: Task | None = None,
    size: tuple[int, ...] = (),
    boxes: int = 2,
    length: tuple[int, ...] | None = None,
    seed: int = 0,
    index: int = 0,
    plan: str = "",
    agent: str = "",
    budget: int | None = None,
    anyway: bool = False,
    cell: int = 48,
    theme: Literal["light", "dark"] = "light",
) -> None:
    """Draw a level, a plan or an episode: a PNG with one picture after another, or a GIF that moves.

    Args:
        file: A level file of any of the known formats.
        out: The file to write, .png or .gif; it is replaced whole or not at all.
        task: Without a file: which puzzle.
        size: Rows, or rows and columns of a generated level.
        boxes: Boxes of a generated Sokoban level.
        length: Optimal length of a generated level, or shortest and longest.
        seed: Generated levels depend on it.
        index: Which level, counted from 0.
        plan: Actions to show, u d l r as recommit solve prints them; the word solve for an optimal plan.
        agent: Show an episode: of a training run or a saved policy, by its folder, or of the solver.
        budget: Most looks of the episode.
        anyway: Let a policy play puzzles and sizes that it was not trained on.
        cell: Pixels per cell.
        theme: Colours.
    """
    from recommit.cli.verbs.boards import pictures
    from recommit.cli.verbs.boards.chosen_level import LevelRequest

    if out.suffix.lower() not in (".png", ".gif"):
        raise WrongCall(f"out: expected a name that ends in .png or .gif, got {out}")
    if plan and agent:
        raise WrongCall(f"plan: expected one of --plan and --agent, got --plan {plan} --agent {agent}")
    level = LevelRequest(file, task, size, boxes, length, seed).level(index)
    try:
        style = pictures.Style(cell, theme)
        if agent:
            episode = _episode(level, agent, budget, anyway=anyway)
            count = pictures.of_episode(episode, out, style)
        else:
            count = pictures.of_plan(level, plan, out, style)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    tell(f"{out}: {count} picture{'s' * (count != 1)}, {out.stat().st_size / 1000:.0f} kB")


def _episode(level: ChosenLevel, agent: str, budget: int | None, *, anyway: bool) -> PlayedEpisode:
    import recommit

    if agent == "solver":
        return recommit.episode(agent, level.state, budget, task=level.task)
    from recommit.policy.checkpoint import local_folder

    policy = recommit.CommitPolicy.from_pretrained(local_folder(agent), anyway=anyway)
    return recommit.episode(policy.eval(), level.state, budget, task=level.task)
