"""TRL's ``GRPOTrainer`` on our puzzles: a class for ``environment_factory``, and the rows of a data set.

    from recommit.adapters import trl
    spec = GameSpec("sliding", view="text")
    GRPOTrainer(model, args=args, train_dataset=trl.rows(spec), environment_factory=trl.factory(spec))

The model commits by calling the tool ``commit``; ``max_tool_calling_iterations`` also bounds its observations.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from recommit.zero_shot.game import GameSpec, prompts

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.zero_shot.game import Game

#: Replaces the prompt's instruction to answer with JSON: here the answer is a tool call.
CALL = 'Each commitment is one call of the tool "commit" with a list of 1, 2, 4 or 8 actions.'


class ToolRollout:
    """One rollout's board. Every public method but ``reset`` and ``get_reward`` is a tool of the model."""

    def __init__(self, spec: GameSpec | None = None) -> None:
        self._spec = spec or GameSpec(view="text")
        if self._spec.view != "text":
            raise ValueError(
                "view: expected text for TRL, since chat templates (Qwen2.5-VL's, TRL issue 5663) drop pictures of a "
                f"tool's answer silently, got {self._spec.view}; recommit.adapters.vagen has pictures"
            )
        self._game: Game | None = None

    def reset(self, state: list[list[int]], **_: Any) -> str:
        """The first observation of a row's board."""
        self._game = self._spec.of_state(state)
        return self._shown("\n")

    def commit(self, actions: list[str]) -> str:
        """Execute a commitment open loop, then observe the board again.

        Args:
            actions: One, two, four or eight of "up", "down", "left" and "right", in their order.

        Returns:
            What the commitment did, and the board as it is now.
        """
        game = self._playing()
        if game.over:
            return "The game is over."
        step = game.commit(actions)
        if game.solved:
            return "Solved."
        return self._shown(f"{step.text} {game.remaining} observations left.\n")

    def get_reward(self) -> float:
        """1 for a solved board, 0 for any other."""
        return float(self._playing().solved)

    def _playing(self) -> Game:
        if self._game is None:
            raise RuntimeError("reset: expected before commit and get_reward")
        return self._game

    def _shown(self, message: str) -> str:
        return f"{message}{self._playing().rows}\n"


def factory(spec: GameSpec) -> Callable[[], ToolRollout]:
    """The argument for ``environment_factory``."""
    ToolRollout(spec)  # validate before training
    return partial(ToolRollout, spec)


def rows(spec: GameSpec, split: str = "train", count: int | None = None) -> Any:
    """A ``datasets.Dataset`` of starts: prompt, id and state. Rollouts of one group begin alike."""
    import datasets

    starts, names = spec.starts(split), spec.ids(split)
    many = spec.count if count is None else min(count, spec.count)
    system, question = (each.text for each in prompts(spec.task, spec.moves, spec.view))
    opening = [
        {"role": "system", "content": f"{system.split('Answer with one JSON')[0]}{CALL}"},
        {"role": "user", "content": question},
    ]
    return datasets.Dataset.from_list(
        [{"prompt": opening, "id": names[i], "state": starts.states[i].tolist()} for i in range(many)]
    )
