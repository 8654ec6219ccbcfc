"""A taskset and an environment of verifiers (``verifiers.v1``): games whose looks reach the model as pictures.

PYTHONPATH=. vf-eval recommit_v1 -m MODEL --no-push    # recommit_v1.py: see docs/guides/adapters.md
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

import verifiers.v1 as vf

from recommit.zero_shot.game_spec import GameSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.zero_shot.game import Game, Observation

__all__ = ["RecommitEnv", "RecommitTaskset"]


class RecommitConfig(vf.TasksetConfig):  # type: ignore[misc, unused-ignore]
    """Which games: see ``recommit.zero_shot.game_spec.GameSpec``."""

    puzzle: Literal["sliding", "sokoban", "ice"] = "sliding"
    size: list[int] = []
    boxes: int = 0
    length: list[int] = []
    budget: int = 0
    count: int = 256
    seed: int = 0
    view: Literal["image", "text"] = "image"
    cell: int = 56
    lenient: bool = False
    split: Literal["train", "validation", "test"] = "train"


class RecommitData(vf.TaskData):  # type: ignore[misc, unused-ignore]
    """One start, and the fields of its spec."""

    info: dict[str, Any]


class RecommitTask(vf.Task[RecommitData, vf.State, vf.TaskConfig]):  # type: ignore[misc, unused-ignore]
    """A start: what it came to is recorded by the environment, which knows."""


class RecommitEnvConfig(vf.EnvConfig):  # type: ignore[misc, unused-ignore]
    """Who plays."""

    player: vf.AgentConfig = vf.AgentConfig()


class RecommitTaskset(vf.Taskset[RecommitTask, RecommitConfig]):  # type: ignore[misc, unused-ignore]
    """The instances of a split."""

    def load(self) -> Iterator[RecommitTask]:
        """One task per start."""
        config = self.config
        names = ("size", "boxes", "length", "budget", "count", "seed", "view", "cell", "lenient")
        fields = {"task": config.puzzle, **{name: getattr(config, name) for name in names}}
        spec = GameSpec(**fields)
        starts, ids = spec.starts(config.split), spec.ids(config.split)
        for index in range(spec.count):
            game = spec.of_state(starts.states[index])
            info = {"spec": fields, "state": starts.states[index].tolist()}
            yield RecommitTask(
                RecommitData(id=ids[index], name=ids[index], system_prompt=game.observe().system, info=info),
                config.task,
            )


class RecommitEnv(vf.Env[RecommitEnvConfig]):  # type: ignore[misc, unused-ignore]
    """One game per task. The game is played here; the model only answers."""

    async def run(self, task: Any, agents: Any) -> None:
        """Look, ask, carry out; then record what the game came to."""
        game = _game(task.data.info)
        async with agents.player.interaction(task) as interaction:
            while not game.over:
                segment = await interaction.turn([_message(game.observe())])
                if segment.terminated:
                    break
                game.commit(segment.last_reply)
        _record(interaction.trace, game)


def _game(info: dict[str, Any]) -> Game:
    return GameSpec(**info["spec"]).of_state(info["state"])


def _message(look: Observation) -> Any:
    """A look as a user's message; its picture is a part of its own."""
    parts: list[Any] = [vf.TextContentPart(text=look.text)]
    if look.png is not None:
        url = "data:image/png;base64," + base64.b64encode(look.png).decode()
        parts.insert(0, vf.ImageUrlContentPart(image_url=vf.ImageUrlSource(url=url)))
    return vf.UserMessage(content=parts)


def _record(trace: Any, game: Game) -> None:
    score = game.score()
    trace.record_reward("solved", float(score.solved), 1.0)
    for name in ("actions", "decisions", "blocked", "spl", "lost", "regret"):
        trace.record_metric(name, float(getattr(score, name)))
