"""An OpenEnv server: boards as text and picture, tasks of a split, and the best commitment as an oracle.

    pip install recommit 'openenv>=0.10'
    uvicorn --factory openenv_server:server --port 8000

A step's action is a list of words or a model's whole text; both are judged as ``recommit zero-shot`` judges them. The
reward is 1 in the step that solves the board, and 0 elsewhere. It has no protection against pages of other places that
a browser on this machine may open: ``/web`` is off.
"""

from __future__ import annotations

import base64
import os
from typing import Any, Literal

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from recommit.zero_shot.game import Game, GameSpec, Step, prompts


class CommitAction(Action):
    """A commitment: 1, 2, 4 or 8 actions, whose number is the depth. Or the whole text of a model's answer."""

    actions: list[Literal["up", "down", "left", "right"]] = []
    text: str = ""


class BoardObservation(Observation):
    """What the board shows, and what the last commitment did."""

    text: str = ""  # the board as rows of characters
    prompt: str = ""  # the rules and the form of an answer, after a reset
    image: str | None = None  # a PNG file in base64
    decisions_left: int = 0
    outcome: str = ""  # what the last answer was taken for
    executed: int = 0
    optimal: list[str] | None = None  # only of a server with an oracle


class CommitEnvironment(Environment):
    """One session: one game after another."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, spec: GameSpec, *, oracle: bool = False) -> None:
        super().__init__()
        self.spec, self.oracle = spec, oracle
        self._game: Game | None = None

    def reset(self, seed: int | None = None, split: str = "train", index: int | None = None, **_: Any) -> Any:
        """A game of a split; ``seed`` picks the index where none is given."""
        self._game = self.spec.game(split, (seed or 0) % self.spec.count if index is None else index)
        first = " ".join(each.text for each in prompts(self.spec.task, self.spec.moves, "text"))
        return self._observation(self._game, None, first)

    def step(self, action: CommitAction, **_: Any) -> Any:
        """Carry out a commitment. After the end of a game nothing changes any more."""
        if self._game is None:
            self.reset()
        game = self._game
        assert game is not None
        return self._observation(game, None if game.over else game.commit(action.text or list(action.actions)))

    def _observation(self, game: Game, step: Step | None, first: str = "") -> BoardObservation:
        best = game.optimal() if self.oracle and not game.over else None
        png = game.observe().png if self.spec.view == "image" else None
        return BoardObservation(
            done=game.over,
            reward=float(step is not None and step.solved),
            text=game.rows,
            prompt=first,
            image=base64.b64encode(png).decode() if png else None,
            decisions_left=game.remaining,
            outcome=step.outcome if step else "",
            executed=step.executed if step else 0,
            optimal=game.words(best) if best else None,
        )

    @property
    def state(self) -> State:
        """How many commitments the game has seen."""
        return State(step_count=len(self._game.steps) if self._game else 0)


def app(spec: GameSpec, *, sessions: int = 64, oracle: bool = False) -> Any:
    """The server, with a session per connection."""
    os.environ["ENABLE_WEB_INTERFACE"] = "false"
    environment = lambda: CommitEnvironment(spec, oracle=oracle)
    names = {"env_name": "recommit", "max_concurrent_envs": sessions}
    return create_app(environment, CommitAction, BoardObservation, **names)


def server() -> Any:
    """What ``uvicorn --factory`` starts."""
    return app(GameSpec("sliding"), oracle=True)
