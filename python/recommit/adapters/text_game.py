"""A puzzle as a text game for trainers of language agents: a prompt, reset with a seed, one step per answer.

Used by ``vagen`` and ``nemo_gym``. The rewards of an episode sum to the decrease of the exact distance to the goal; an
invalid answer gets 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from recommit.puzzles.solutions import UNSOLVABLE
from recommit.zero_shot.game import GameSpec, prompts

if TYPE_CHECKING:
    from recommit.zero_shot.game import Game

#: The question at the end of every prompt and observation.
QUESTION = "Which commitment do you make?"


class Turn(NamedTuple):
    """Result of an answer."""

    reward: float
    terminated: bool  #: solved or dead
    truncated: bool  #: out of budget
    info: dict[str, Any]


class TextGame:
    """Episodes of one player.

    Args:
        split: Split of the levels; no level is in two splits.
        rules: Whether the prompt has the rules of the puzzle, beside the form of an answer.
        caption: Whether pictures are accompanied by the board in characters, as with ``view="text"``.
        lost: Reward of a step into a dead state, which ends the episode.
        spec: Fields of ``recommit.zero_shot.game.GameSpec``; default: Sokoban with 10,000 levels.
    """

    def __init__(
        self, *, split: str = "train", rules: bool = True, caption: bool = True, lost: float = -1.0, **spec: Any
    ) -> None:
        self.spec = GameSpec(**{"task": "sokoban", "count": 10_000, **spec})
        self.split, self.lost, self.characters = split, lost, caption or self.spec.view == "text"
        every = [each for view in (self.spec.view, "text") for each in prompts(self.spec.task, self.spec.moves, view)]
        system, shown, _, lines = (each.text.removesuffix(QUESTION).strip() for each in every)
        legend = lines.partition(" An action")[0]  # the sentence about characters
        more = [shown, legend] if caption and legend not in shown else [shown]
        self.prompt = "\n\n".join([system, *more] if rules else [system])

    def reset(self, seed: int) -> None:
        """Begin the level that ``seed`` determines."""
        self.game: Game = self.spec.game(self.split, seed % self.spec.count)

    @property
    def observation(self) -> str:
        """The board (unless shown only as a picture), the effect of the last answer, and the question."""
        game = self.game
        did = f"{game.steps[-1].text} " if game.steps else ""
        board = f"{game.rows}\n\n" if self.characters else ""
        return f"{board}{did}{game.remaining} observations left. {QUESTION}"

    def step(self, answer: str) -> Turn:
        """Execute the commitment in a model's answer."""
        before, step = self.game.distance, self.game.commit(answer)
        info = {"outcome": step.outcome, "executed": step.executed, "moved": step.moved, **self.info}
        reward = self.lost if info["lost"] else float(before - info["distance"])
        ended = info["success"] or info["lost"]
        return Turn(reward, ended, self.game.over and not ended, info)

    @property
    def info(self) -> dict[str, Any]:
        """Success, dead state and distance of the current state."""
        lost = self.game.distance == UNSOLVABLE
        return {"success": self.game.solved, "lost": lost, "distance": self.game.distance}
