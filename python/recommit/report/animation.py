"""One episode, played and animated: ``recommit.episode(policy, state).save("episode.gif")``. Pillow writes the GIF."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks
from recommit.puzzles.puzzle import Instance
from recommit.puzzles.solver import puzzle_of
from recommit.storage import errors
from recommit.storage.files import replacing

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle

    State = NDArray[np.uint8]
    #: States [1, rows, columns] and the turn -> depths [1] and actions [1, 8].
    Choose = Callable[[State, int], tuple[NDArray[Any], NDArray[Any]]]


#: Duration of a frame in milliseconds: of an action, of an observation, of the end.
ACTION, OBSERVATION, END = 220, 520, 2400
MARGIN, HEAD, LEAST = 12, 48, 200
#: Background, ink, pale ink and the colour of an observation, by theme.
COLOURS = {
    "light": ("#ffffff", "#1f2430", "#6b7384", "#2f6fde"),
    "dark": ("#14171c", "#e7e9ee", "#8b93a3", "#6ea0ff"),
}


@dataclass(frozen=True, eq=False)
class PlayedEpisode:
    """A played episode: ``states[t]`` is the state before action t, the last one is where the episode ended."""

    task: Puzzle
    states: State
    #: Depth of each decision, and the number of actions of it that were executed.
    depths: tuple[int, ...]
    executed: tuple[int, ...]
    actions: tuple[int, ...]
    solved: bool
    #: Most observations of the episode.
    budget: int

    @property
    def observations(self) -> int:
        """Number of observations, one per decision."""
        return len(self.depths)

    def __len__(self) -> int:
        """Executed actions."""
        return len(self.actions)

    def __repr__(self) -> str:
        end = "solved" if self.solved else "not solved"
        return (
            f"<{self.task.task} episode: {end}, {len(self)} actions, {self.observations} of {self.budget} observations>"
        )

    def save(self, path: str | os.PathLike[str], *, cell: int = 48, theme: str = "light") -> Path:
        """Write a GIF: a frame around the board marks every observation, and the line above counts them."""
        path, boards = Path(path), self.task.render(self.states, cell=cell, theme=theme)
        if path.suffix.lower() != ".gif":
            raise ValueError(f"path: expected a name that ends in .gif, got {path}")
        pictures, times, at = list[Any](), list[int](), 0
        for number, (depth, count) in enumerate(zip(self.depths, self.executed, strict=True), 1):
            title = f"observation {number} of {self.budget}, action {{}}"
            pictures.append(_picture(boards[at], title.format(at), f"commits to {depth}", theme, framed=True))
            opened = range(at + 1, at + count + 1)
            pictures += [_picture(boards[place], title.format(place), "open loop", theme) for place in opened]
            times += [OBSERVATION, *[ACTION] * count]
            at += count
        title = f"{self.observations} of {self.budget} observations, {at} actions"
        pictures.append(_picture(boards[at], title, "solved" if self.solved else "budget spent", theme))
        return save_pictures(path, pictures, [*times, END])


def episode(
    agent: CommitPolicy | Choose | str | os.PathLike[str],
    state: State | Sequence[Sequence[int]] | Instance,
    budget: int | None = None,
    *,
    task: Puzzle | None = None,
) -> PlayedEpisode:
    """Play from ``state`` until it is solved, or until ``budget`` observations are spent (the puzzle's loose budget).

    ``agent`` is a policy, the folder of one or of a training run, the name of one that comes with the package,
    ``"solver"``, which plays optimal plans, or a function of states [1, rows, columns] and turn that gives depths [1]
    and actions [1, 8]. The cells of the state tell which ``task`` it is.
    """
    start = _start(state)
    puzzle = task or puzzle_of(start)
    observations = puzzle.budgets(start.shape)["loose"] if budget is None else budget
    if observations < 1:
        raise ValueError(f"budget: expected at least 1, got {budget}")
    return _play(_choose(agent, puzzle), puzzle, start, observations)


def _start(state: Any) -> State:
    """Cells of a state, which may also be an ``Instance`` or lists of numbers."""
    batch, one = checks.grids(state.state if isinstance(state, Instance) else state, "state")
    if not one:
        raise ValueError(f"state: expected 2 dimensions [rows, columns], got shape {batch.shape}")
    return np.ascontiguousarray(batch[0])


def _play(choose: Choose, task: Puzzle, start: State, budget: int) -> PlayedEpisode:
    states, actions, depths, executed = [start], list[int](), list[int](), list[int]()
    solved = bool(task.is_solved(start))
    while not solved and len(depths) < budget:
        depth, plan = choose(states[-1][None], len(depths))
        depths.append(int(depth[0]))
        executed.append(0)
        for action in plan[0, : depths[-1]].tolist():
            states.append(task.step(states[-1], action))
            actions.append(action)
            executed[-1] += 1
            solved = bool(task.is_solved(states[-1]))
            if solved:
                break
    return PlayedEpisode(task, np.stack(states), tuple(depths), tuple(executed), tuple(actions), solved, budget)


def _choose(agent: Any, task: Puzzle) -> Choose:
    if isinstance(agent, str) and agent == "solver":
        return lambda states, _: _optimal(task, states)
    if hasattr(agent, "act"):
        return lambda states, _: agent.act(task, states)
    if callable(agent):
        choose: Choose = agent
        return choose
    from recommit.policy import pretrained

    if not pretrained.find(agent).is_dir():  # nothing is downloaded
        known = ", ".join(pretrained.names())
        raise ValueError(
            f"agent: expected a policy, a function, solver, the folder of a policy or one of {known}, got {agent}"
        )
    for module in filter(errors.is_missing, ("torch", "safetensors")):
        raise errors.need(module, "train")
    from recommit.policy.checkpoint import local_folder
    from recommit.policy.policy import CommitPolicy

    policy = CommitPolicy.from_pretrained(local_folder(agent))
    return lambda states, _: policy.act(task, states)


def _optimal(task: Puzzle, states: State) -> tuple[NDArray[Any], NDArray[Any]]:
    """The next eight actions of an optimal plan."""
    plan = task.solve(states)[0][:8]
    if not len(plan):
        raise ValueError("state: expected one that can be solved, got one that cannot")
    return np.array([len(plan)]), plan[None]


def save_pictures(path: Path, pictures: Sequence[Any], times: Sequence[int]) -> Path:
    """Write Pillow images as a GIF in 64 colours, each with its duration in milliseconds."""
    palette = _together(pictures).quantize(64)
    first, *rest = (each.quantize(palette=palette, dither=0) for each in pictures)
    content = io.BytesIO()
    first.save(content, "GIF", save_all=True, append_images=rest, duration=list(times), loop=0, optimize=True)
    with replacing(path) as file:
        file.write(content.getvalue())
    return path


def _together(pictures: Sequence[Any]) -> Any:
    """First, middle and last picture side by side, for the palette: a box on its goal may occur at the end alone."""
    from PIL import Image

    chosen = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
    width, height = pictures[0].size
    page = Image.new("RGB", (len(chosen) * width, height))
    for place, picture in enumerate(chosen):
        page.paste(picture, (place * width, 0))
    return page


def _picture(board: NDArray[np.uint8], title: str, note: str, theme: str, *, framed: bool = False) -> Any:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise errors.need("pillow", "cli") from None
    back, ink, pale, blue = COLOURS[theme]
    height, width = board.shape[:2]
    picture = Image.new("RGB", (max(width, LEAST) + 2 * MARGIN, height + HEAD + MARGIN), back)
    pen = ImageDraw.Draw(picture)
    pen.text((MARGIN, 6), title, ink, ImageFont.load_default(15))
    pen.text((MARGIN, 26), note, blue if framed else pale, ImageFont.load_default(13))
    picture.paste(Image.fromarray(board), (MARGIN, HEAD))
    if framed:
        pen.rectangle((MARGIN - 4, HEAD - 4, MARGIN + width + 3, HEAD + height + 3), outline=blue, width=3)
    return picture
