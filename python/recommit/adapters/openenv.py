"""An OpenEnv server: boards as text and picture, tasks by split, an oracle, and a board to play at ``/web``.

    recommit serve --task sliding --port 8000

A step's action is a list of words or a model's whole text; both are judged as ``recommit zero-shot`` judges them. The
reward is 1 in the step that solves the board, and 0 elsewhere.
"""

from __future__ import annotations

import base64
import html
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State

from recommit.data.spec import SPLITS
from recommit.puzzles.frames import encode_png
from recommit.puzzles.solutions import UNKNOWN, UNSOLVABLE, Limits
from recommit.version import VERSION
from recommit.zero_shot.game import prompts
from recommit.zero_shot.game_spec import GameSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI

    from recommit.zero_shot.game import Game, Step

#: What a client's own board may cost.
SOON = Limits(nodes=200_000)
#: What a person can click on at ``/web``.
_ARROWS = {"up": "↑", "down": "↓", "left": "←", "right": "→"}


class CommitAction(Action):  # type: ignore[misc, unused-ignore]
    """A commitment: 1, 2, 4 or 8 actions, whose number is the depth. Or the whole text of a model's answer."""

    actions: list[Literal["up", "down", "left", "right"]] = []
    text: str = ""


class BoardObservation(Observation):  # type: ignore[misc, unused-ignore]
    """What the board shows, and what the last commitment did."""

    text: str = ""  #: the board as rows of characters
    prompt: str = ""  #: the rules and the form of an answer, after a reset
    image: str | None = None  #: a PNG file in base64
    decisions_left: int = 0
    outcome: str = ""  #: what the last answer was taken for
    executed: int = 0
    moved: int = 0
    lost: bool = False  #: nobody can solve it any more
    distance: int | None = None  #: only for servers that show it
    optimal: list[str] | None = None  #: only for servers with an oracle


class BoardState(State):  # type: ignore[misc, unused-ignore]
    """Where a session is."""

    task: str = ""
    board: list[list[int]] = []
    decisions_left: int = 0
    solved: bool = False


class CommitEnvironment(Environment):  # type: ignore[misc, unused-ignore]
    """One session: one game after another."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, spec: GameSpec | None = None, *, oracle: bool = False, show_distance: bool = False) -> None:
        super().__init__()
        self.spec = spec or GameSpec()
        self.oracle, self.show_distance = oracle, show_distance
        self._game: Game | None = None
        self._episode: str | None = None

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = "train",
        index: int | None = None,
        injected_state: list[list[int]] | None = None,
        **_: Any,
    ) -> BoardObservation:
        """A game of a split, or from any board. ``seed`` picks the index where nobody names one."""
        place = (seed or 0) % self.spec.count if index is None else index
        self._game = self.spec.game(split, place) if injected_state is None else self._injected(injected_state)
        self._episode = episode_id
        first = " ".join(each.text for each in prompts(self.spec.task, self.spec.moves, "text"))
        return self._observation(self._game, None, first)

    def _injected(self, state: list[list[int]]) -> Game:
        """A game from a client's board; every observation says whether it is lost, which has to be known soon."""
        game = self.spec.of_state(state)
        if game.task.distance(game.state[None], SOON, threads=1)[0] == UNKNOWN:
            raise ValueError(f"injected_state: expected a board that {SOON.nodes} nodes of a search decide, got none")
        game.limit = SOON  # its own moves may lead to harder ones, and the server has other clients
        return game

    def step(self, action: CommitAction, timeout_s: float | None = None, **_: Any) -> BoardObservation:  # noqa: ARG002
        """Carry out a commitment. After the end of a game nothing changes any more."""
        if self._game is None:
            self.reset()
        assert self._game is not None
        if self._game.over:
            return self._observation(self._game, None)
        return self._observation(self._game, self._game.commit(action.text or list(action.actions)))

    def _observation(self, game: Game, step: Step | None, first: str = "") -> BoardObservation:
        after = {"outcome": step.outcome, "executed": step.executed, "moved": step.moved} if step else {}
        best = game.optimal() if self.oracle and not game.over else None
        return BoardObservation(
            done=game.over,
            reward=float(step is not None and step.solved),
            text=game.rows,
            prompt=first,
            image=base64.b64encode(encode_png(game.picture)).decode() if self.spec.view == "image" else None,
            decisions_left=game.remaining,
            lost=game.distance == UNSOLVABLE,
            distance=game.distance if self.show_distance and game.distance != UNKNOWN else None,
            optimal=game.words(best) if best else None,
            **after,
        )

    @property
    def state(self) -> BoardState:
        """Where the session is."""
        game = self._game
        if game is None:
            return BoardState(task=self.spec.task)
        return BoardState(
            episode_id=self._episode,
            step_count=len(game.steps),
            task=self.spec.task,
            board=game.state.tolist(),
            decisions_left=game.remaining,
            solved=game.solved,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """What the server calls itself."""
        about = f"{self.spec.task}: observe a board, commit to 1, 2, 4 or 8 actions. {self.spec.puzzle.rules}"
        return EnvironmentMetadata(name="recommit", description=about, version=VERSION)

    def list_splits(self) -> list[str]:
        """The splits of a data set of the same recipe."""
        return list(SPLITS)

    def num_tasks(self, split: str) -> int:
        """Instances of a split."""
        return len(self.spec.starts(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One instance: its name, its board and its optimal length."""
        if not 0 <= index < self.spec.count:
            raise IndexError(f"index: expected 0..{self.spec.count - 1}, got {index}")
        return self.get_task_range(split, index, index + 1)[0]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """All instances of a split."""
        return self.get_task_range(split)

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Some of them, by the bounds of a slice."""
        starts, names = self.spec.starts(split), self.spec.ids(split)
        return [
            {
                "id": names[i],
                "split": split,
                "index": i,
                "state": starts.states[i].tolist(),
                "length": int(starts.length[i]),
            }
            for i in range(self.spec.count)[slice(start, stop)]
        ]

    def render_web(self, observation: dict[str, Any]) -> str:
        """The board as ``/web`` shows it."""
        if observation.get("image"):
            return f'<img alt="board" src="data:image/png;base64,{html.escape(observation["image"])}">'
        return f"<pre>{html.escape(str(observation.get('text', '')))}</pre>"

    def web_actions(self, observation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Commitments of one action, and the oracle's where there is one."""
        single = [(f"{_ARROWS[word]} {word}", {"actions": [word]}) for word in _ARROWS]
        best = observation.get("optimal")
        return [*single, ("optimal", {"actions": best})] if best else single


def app(
    spec: GameSpec, *, sessions: int = 64, web: bool = True, oracle: bool = False, show_distance: bool = False
) -> FastAPI:
    """The server, with a session per connection."""
    with _environment("ENABLE_WEB_INTERFACE", str(web).lower()):  # the only switch there is, read as the server is made
        return create_app(
            lambda: CommitEnvironment(spec, oracle=oracle, show_distance=show_distance),
            CommitAction,
            BoardObservation,
            env_name="recommit",
            max_concurrent_envs=sessions,
            state_cls=BoardState,
        )


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable, and leave it afterwards as it was."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
