"""One episode, played and kept: ``recommit.episode(policy, state).save("episode.gif")``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recommit.puzzles.instances import Instance
from recommit.puzzles.solver import puzzle_of
from recommit.report import gif
from recommit.report.gif import FilmFrame

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

    State = NDArray[np.uint8]
    #: States [1, rows, columns] and the turn -> depths [1] and actions [1, 8].
    Choose = Callable[[State, int], tuple[NDArray[Any], NDArray[Any]]]


class ActingPolicy(Protocol):
    """What ``CommitPolicy`` has, and what stands in for it must have."""

    def act(self, task: Puzzle, states: State) -> tuple[NDArray[Any], NDArray[Any]]:
        """See ``CommitPolicy.act``."""


@dataclass(frozen=True, eq=False)
class PlayedEpisode:
    """What was played: ``states[t]`` is the state before action t, the last one where the episode ended."""

    task: Puzzle
    states: State
    #: How many actions each look committed to, and how many of them were executed.
    depths: tuple[int, ...]
    executed: tuple[int, ...]
    actions: tuple[int, ...]
    solved: bool
    #: Looks that there were.
    budget: int

    @property
    def looks(self) -> int:
        """Decisions of the episode."""
        return len(self.depths)

    def __len__(self) -> int:
        """Executed actions."""
        return len(self.actions)

    def __repr__(self) -> str:
        end = "solved" if self.solved else "not solved"
        return f"<{self.task.task} episode: {end}, {len(self)} actions, {self.looks} of {self.budget} looks>"

    def save(self, path: str | os.PathLike[str], *, cell: int = 48, theme: str = "light") -> Path:
        """Write a GIF: a frame around the board marks every look, and the line above counts them. Needs Pillow."""
        return gif.write(Path(path), list(self._frames(cell, theme)), theme)

    def _frames(self, cell: int, theme: str) -> Iterator[FilmFrame]:
        """A look, then the actions that it committed to, and so on; the end."""
        boards, at = self.task.render(self.states, cell=cell, theme=theme), 0
        for look, (depth, count) in enumerate(zip(self.depths, self.executed, strict=True), 1):
            title = f"look {look} of {self.budget}, action {{}}"
            yield FilmFrame(boards[at], title.format(at), f"commits to {depth}", gif.LOOK, framed=True)
            for place in range(at + 1, at + count + 1):
                yield FilmFrame(boards[place], title.format(place), "acts without looking", gif.ACTION)
            at += count
        end = "solved" if self.solved else "out of looks"
        yield FilmFrame(boards[at], f"{self.looks} of {self.budget} looks, {at} actions", end, gif.END)


def episode(
    agent: ActingPolicy | Choose | str | os.PathLike[str],
    state: State | Sequence[Sequence[int]] | Instance,
    budget: int | None = None,
    *,
    task: Puzzle | None = None,
) -> PlayedEpisode:
    """Play from ``state`` until it is solved, or until ``budget`` looks are spent (the puzzle's loose budget).

    ``agent`` is a policy, the folder of one or of a training run, ``"solver"``, which plays optimal plans, or a
    function of states [1, rows, columns] and turn that gives depths [1] and actions [1, 8]. The cells of the state tell
    which ``task`` it is.
    """
    start = _start(state)
    puzzle = task or puzzle_of(start)
    looks = puzzle.usual.budgets["loose"] if budget is None else budget
    if looks < 1:
        raise ValueError(f"budget: expected at least 1, got {budget}")
    return _play(_choose(agent, puzzle), puzzle, start, looks)


def _start(state: Any) -> State:
    """The cells of a state, which may be lists of numbers."""
    start = state.state if isinstance(state, Instance) else state
    if not isinstance(start, np.ndarray):
        wide = np.array(start, np.int64)
        start = wide.astype(np.uint8)
        if (start != wide).any():
            raise ValueError(f"state: expected cells of 0..255, got {wide.min()}..{wide.max()}")
    if start.ndim != 2:
        raise ValueError(f"state: expected 2 dimensions [rows, columns], got shape {start.shape}")
    return np.ascontiguousarray(start)


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
    from recommit.policy.policy import CommitPolicy

    policy = CommitPolicy.from_pretrained(_folder(agent))
    return lambda states, _: policy.act(task, states)


def _folder(agent: str | os.PathLike[str]) -> Path:
    """The policy in a folder; nothing is downloaded."""
    from recommit.policy.checkpoint import local_folder

    if not Path(agent).is_dir():
        raise ValueError(f"agent: expected a policy, a function, solver or the folder of a policy, got {agent}")
    return local_folder(Path(agent))


def _optimal(task: Puzzle, states: State) -> tuple[NDArray[Any], NDArray[Any]]:
    """The next eight actions of an optimal plan."""
    plan = task.solve(states)[0][:8]
    if not len(plan):
        raise ValueError("state: expected one that can be solved, got one that cannot")
    return np.array([len(plan)]), plan[None]
