"""``recommit render``: a level as a picture, a plan or an episode as an animation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recommit.cli.boards import LevelOptions, check_place
from recommit.puzzles.frames import encode_png
from recommit.puzzles.solutions import UNSOLVABLE
from recommit.storage import files
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from recommit.cli.boards import ChosenLevel
    from recommit.report.animation import PlayedEpisode

LETTERS = "udlr"


@dataclass(frozen=True, kw_only=True)
class RenderOptions(LevelOptions):
    """What is drawn, and how.

    Args:
        out: The file to write, .png of a level, or .gif; it is replaced whole or not at all.
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
        if self.out.suffix.lower() == ".png" and (self.plan or self.agent):
            raise ValueError(f"out: expected a name that ends in .gif with --plan and --agent, got {self.out}")
        if self.plan and self.agent:
            raise ValueError(f"plan: expected one of --plan and --agent, got --plan {self.plan} --agent {self.agent}")


def render(options: RenderOptions) -> None:
    """Draw a level as a picture, PNG, or a plan or an episode as an animation, GIF."""
    check_place(options.out)
    count = _draw_episode(options) if options.agent else _draw_plan(options.level(), options)
    tell(f"{options.out}: {count} picture{'s' * (count != 1)}, {options.out.stat().st_size / 1000:.0f} kB")


def _draw_plan(level: ChosenLevel, options: RenderOptions) -> int:
    """Draw a level, and what a plan makes of it; how many pictures that is."""
    from recommit.report import animation

    states = [level.state]
    for action in _actions(level, options.plan):
        states.append(level.task.step(states[-1][None], np.array([action], np.uint8))[0])
    boards = level.task.render(np.stack(states), options.cell)
    if options.out.suffix.lower() == ".png":
        files.replace(files.Files(), options.out, encode_png(boards[0]))
        return 1
    last = len(boards) - 1
    notes = [f"action {at} of {last}" for at in range(last + 1)] if last else [""]
    times = [animation.OBSERVATION, *[animation.ACTION] * (last - 1), animation.END][: last + 1]
    columns = zip(boards, [level.title] * (last + 1), notes, times, strict=True)
    animation.save(options.out, [animation.Frame(*each) for each in columns])
    return len(boards)


def _draw_episode(options: RenderOptions) -> int:
    """Draw every action of an episode."""
    episode = _episode(options)
    episode.save(options.out, cell=options.cell)
    return len(episode.states) + episode.observations


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
