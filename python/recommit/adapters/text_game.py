"""A puzzle as trainers of language agents ask for it: a prompt, reset with a seed, a step per answer.

``vagen`` and ``nemo_gym`` are its two faces. The rewards of an episode sum to the decrease of the exact distance to the
goal: an answer that is no commitment has 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from recommit.puzzles.solutions import UNSOLVABLE
from recommit.zero_shot.game import GameSpec, prompts

if TYPE_CHECKING:
    from recommit.zero_shot.game import Game

#: What the player is asked at the end of every prompt and observation.
QUESTION = "Which commitment do you make?"


class Turn(NamedTuple):
    """What an answer led to."""

    reward: float
    terminated: bool  #: solved, or not solvable any more
    truncated: bool  #: no observation remains
    info: dict[str, Any]


class TextGame:
    """One player's episodes.

    Args:
        split: Of the levels; no level is in two splits.
        rules: Whether the prompt has the rules of the puzzle, beside the form of an answer.
        caption: Whether a picture comes with the board in characters, as ``view="text"`` has it.
        lost: Reward of the step after which the level cannot be solved any more, which ends the episode.
        spec: Fields of ``recommit.zero_shot.game.GameSpec``; Sokoban and 10,000 levels where they are not given.
    """

    def __init__(
        self, *, split: str = "train", rules: bool = True, caption: bool = True, lost: float = -1.0, **spec: Any
    ) -> None:
        self.spec = GameSpec(**{"task": "sokoban", "count": 10_000, **spec})
        self.split, self.lost, self.characters = split, lost, caption or self.spec.view == "text"
        every = [each for view in (self.spec.view, "text") for each in prompts(self.spec.task, self.spec.moves, view)]
        system, shown, _, lines = (each.text.removesuffix(QUESTION).strip() for each in every)
        legend = lines.partition(" An action")[0]  # the sentence about characters, before that about actions
        more = [shown, legend] if caption and legend not in shown else [shown]
        self.prompt = "\n\n".join([system, *more] if rules else [system])

    def reset(self, seed: int) -> None:
        """Begin the level of a seed: equal seeds, equal levels."""
        self.game: Game = self.spec.game(self.split, seed % self.spec.count)

    @property
    def observation(self) -> str:
        """What the last answer did, the board unless only a picture shows it, and the question."""
        game = self.game
        did = f"{game.steps[-1].text} " if game.steps else ""
        board = f"{game.rows}\n\n" if self.characters else ""
        return f"{board}{did}{game.remaining} observations left. {QUESTION}"

    def step(self, answer: str) -> Turn:
        """Carry out the commitment in a model's answer."""
        before, step = self.game.distance, self.game.commit(answer)
        info = {"outcome": step.outcome, "executed": step.executed, "moved": step.moved, **self.info}
        reward = self.lost if info["lost"] else float(before - info["distance"])
        ended = info["success"] or info["lost"]
        return Turn(reward, ended, self.game.over and not ended, info)

    @property
    def info(self) -> dict[str, Any]:
        """Where the level stands."""
        lost = self.game.distance == UNSOLVABLE
        return {"success": self.game.solved, "lost": lost, "distance": self.game.distance}
