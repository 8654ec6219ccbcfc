"""A task of Inspect: its models, its log viewer, our observations and scores.

pip install recommit pillow inspect-ai
inspect eval inspect_task.py --model openai/gpt-5.5 -T task=sokoban -T count=16
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import Score, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, TaskState, solver

from recommit.puzzles.frames import data_url
from recommit.zero_shot.game import GameSpec

if TYPE_CHECKING:
    from inspect_ai.scorer import Scorer
    from inspect_ai.solver import Solver

    from recommit.zero_shot.game import Observation

#: The names of a score, in the order of a log's columns.
FIGURES = ("solved", "lost", "decisions", "actions", "spl", "regret")


@task
def commitments(split: str = "test", forget: bool = True, **fields: Any) -> Task:
    """Games of a split. ``fields`` are those of ``recommit.zero_shot.game.GameSpec``.

    Each observation is a conversation of its own, as in ``recommit zero-shot``, unless ``forget`` is false.
    """
    spec = GameSpec(**fields)
    starts, ids = spec.starts(split), spec.ids(split)
    samples = [
        Sample(
            input=[_message(spec.of_state(starts.states[i]).observe())],
            id=ids[i],
            metadata={"state": starts.states[i].tolist()},
        )
        for i in range(spec.count)
    ]
    return Task(dataset=MemoryDataset(samples), solver=commit_loop(spec, forget), scorer=verdict())


@solver
def commit_loop(spec: GameSpec, forget: bool = True) -> Solver:
    """Observe, ask, execute, until the board is solved or no decision remains."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        game = spec.of_state(state.metadata["state"])
        earlier: list[Any] = []
        while not game.over:
            seen = game.observe()
            shown = [ChatMessageSystem(content=seen.system), *earlier, _message(seen)]
            state.messages = shown
            state = await generate(state)
            choice = state.output.choices[0] if state.output.choices else None
            cut_off = choice is not None and choice.stop_reason in ("max_tokens", "model_length")
            refused = choice is not None and choice.stop_reason == "content_filter"
            game.commit(game.read(state.output.completion, cut_off=cut_off, refused=refused))
            earlier = [] if forget else state.messages[1:]
        score = game.score()
        state.store.set("score", {name: float(getattr(score, name)) for name in FIGURES})
        state.store.set("steps", [f"{step.outcome} {step.depth}" for step in game.steps])
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def verdict() -> Scorer:
    """What the game came to."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        return Score(value=state.store.get("score"), explanation=", ".join(state.store.get("steps")))

    return score


def _message(seen: Observation) -> ChatMessageUser:
    """An observation as a user's message."""
    if seen.png is None:
        return ChatMessageUser(content=seen.text)
    return ChatMessageUser(content=[ContentImage(image=data_url(seen.png)), ContentText(text=seen.text)])
