"""A taskset and an environment of verifiers (``verifiers.v1``): games whose observations reach the model as pictures.

pip install recommit pillow 'verifiers>=0.4'
PYTHONPATH=. vf-eval recommit_v1 -m MODEL --no-push    # beside this file, whose name is the taskset's id
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import verifiers.v1 as vf

from recommit.puzzles.frames import data_url
from recommit.zero_shot.game import GameSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.zero_shot.game import Observation

__all__ = ["RecommitEnv", "RecommitTaskset"]


class RecommitConfig(vf.TasksetConfig):
    """Which games: see ``recommit.zero_shot.game.GameSpec``."""

    puzzle: Literal["sliding", "sokoban", "ice"] = "sliding"
    size: list[int] = []
    boxes: int = 0
    length: list[int] = []
    budget: int = 0
    count: int = 256
    seed: int = 0
    view: Literal["image", "text"] = "image"
    cell: int = 56
    split: Literal["train", "validation", "test"] = "train"


class RecommitData(vf.TaskData):
    """One start, and the fields of its spec."""

    info: dict[str, Any]


class RecommitTask(vf.Task[RecommitData, vf.State, vf.TaskConfig]):
    """A start: what it came to is recorded by the environment, which knows."""


class RecommitEnvConfig(vf.EnvConfig):
    """Who plays."""

    player: vf.AgentConfig = vf.AgentConfig()


class RecommitTaskset(vf.Taskset[RecommitTask, RecommitConfig]):
    """The instances of a split."""

    def load(self) -> Iterator[RecommitTask]:
        """One task per start."""
        config = self.config
        names = ("size", "boxes", "length", "budget", "count", "seed", "view", "cell")
        fields = {"task": config.puzzle, **{name: getattr(config, name) for name in names}}
        spec = GameSpec(**fields)
        for state, name in zip(spec.starts(config.split).states, spec.ids(config.split), strict=True):
            system, info = spec.of_state(state).observe().system, {"spec": fields, "state": state.tolist()}
            yield RecommitTask(RecommitData(id=name, name=name, system_prompt=system, info=info), config.task)


class RecommitEnv(vf.Env[RecommitEnvConfig]):
    """One game per task. The game is played here; the model only answers."""

    async def run(self, task: Any, agents: Any) -> None:
        """Observe, ask, execute; then record what the game came to."""
        game = GameSpec(**task.data.info["spec"]).of_state(task.data.info["state"])
        async with agents.player.interaction(task) as interaction:
            while not game.over:
                segment = await interaction.turn([_message(game.observe())])
                if segment.terminated:
                    break
                game.commit(segment.last_reply)
        score = game.score()
        interaction.trace.record_reward("solved", float(score.solved), 1.0)
        for name in ("actions", "decisions", "blocked", "spl", "lost", "regret"):
            interaction.trace.record_metric(name, float(getattr(score, name)))


def _message(seen: Observation) -> Any:
    """An observation as a user's message; its picture is a part of its own."""
    parts: list[Any] = [vf.TextContentPart(text=seen.text)]
    if seen.png is not None:
        parts.insert(0, vf.ImageUrlContentPart(image_url=vf.ImageUrlSource(url=data_url(seen.png))))
    return vf.UserMessage(content=parts)
