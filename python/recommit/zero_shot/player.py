"""Episodes: look, ask, write the answer down, only then act. What is in the journal is never asked again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data.showing import png
from recommit.storage import files
from recommit.storage.errors import Damaged
from recommit.zero_shot import parser
from recommit.zero_shot.http.bodies import Question
from recommit.zero_shot.http.client import DecisionPlace
from recommit.zero_shot.prompt import MOVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.policy.prompt import Prompt
    from recommit.puzzles.instances import Instances
    from recommit.puzzles.puzzle import Puzzle
    from recommit.storage.jsonl import JsonLines
    from recommit.zero_shot.http.client import Answer

    State = NDArray[np.uint8]


@dataclass(frozen=True)
class Step:
    """One decision, carried out."""

    outcome: str
    depth: int
    executed: int
    solved: bool


@dataclass
class Episode:
    """One instance, played as far as it has been. ``infra`` says why it cannot be counted, if so."""

    index: int
    instance: str
    length: int
    steps: list[Step] = field(default_factory=list)
    finished: bool = False
    infra: str | None = None


class ModelPlayer:
    """Plays instances of one task; any number of threads may play different ones."""

    def __init__(
        self,
        task: Puzzle,
        instances: Instances,
        prompts: tuple[Prompt, Prompt],
        ask: Callable[[Question, DecisionPlace], Answer],
        journal: JsonLines,
        *,
        budget: int,
        cell: int,
        lenient: bool,
        moves: str = MOVES[0],
    ) -> None:
        self.task, self.instances, self.prompts, self.ask, self.journal = task, instances, prompts, ask, journal
        self.budget, self.cell, self.lenient = budget, cell, lenient
        #: Where a word means the tile's way, the blank goes the opposite one, whose code differs in the last bit.
        self.turned = int(moves != MOVES[0])
        self._recorded: dict[tuple[str, int], dict[str, Any]] = {}

    def restore(self, records: list[dict[str, Any]]) -> None:
        """Take in the decisions of earlier starts."""
        for record in records:
            try:
                place = (str(record["instance"]), int(record["decision"]))
                _checked(record)
            except (KeyError, TypeError, ValueError):
                raise Damaged("decisions.jsonl: expected records of decisions, got another") from None
            if place in self._recorded:
                raise Damaged(f"decisions.jsonl: expected one record per decision, got two of {place[0]}, {place[1]}")
            self._recorded[place] = record

    def play(self, episode: Episode) -> None:
        """Play to the goal or the end of the budget. If asking fails, what was played stays in ``episode``."""
        episode.steps.clear()
        state: State = self.instances.states[episode.index]
        solved = bool(self.task.is_solved(state[None], threads=1)[0])
        while not solved and len(episode.steps) < self.budget:
            record = self.decide(episode, state)
            state, step = self._carried_out(state, record)
            episode.steps.append(step)
            solved = step.solved
        episode.finished = True

    def decide(self, episode: Episode, state: State) -> dict[str, Any]:
        """The record of the next decision, from the journal or, once it is in there, from the model."""
        decision, seen = len(episode.steps), files.sha256(state.tobytes())
        recorded = self._recorded.get((episode.instance, decision))
        if recorded is not None:
            if recorded["state_sha256"] != seen:
                raise Damaged(f"decisions.jsonl: {episode.instance}, {decision}: expected its state, got another")
            return recorded
        record = self._answered(episode, decision, state) | {"state_sha256": seen, "state": state.tolist()}
        self.journal.add(record)
        return record

    def _answered(self, episode: Episode, decision: int, state: State) -> dict[str, Any]:
        picture = png.encode(self.task.render(state[None], cell=self.cell, threads=1)[0])
        question = Question(self.prompts[0].text, self.prompts[1].text, picture)
        answer = self.ask(question, DecisionPlace(episode.instance, episode.index, decision))
        completion = answer.completion
        commitment = parser.parse(
            completion.text, lenient=self.lenient, refused=completion.refused, cut_off=completion.cut_off
        )
        return {
            "instance": episode.instance,
            "decision": decision,
            "outcome": commitment.outcome.value,
            "h": commitment.depth,
            "actions": [parser.ACTIONS[action ^ self.turned] for action in commitment.actions],
            "text": completion.text,
            "finish": completion.finish,
            "model": completion.model,
            "id": completion.id,
            "tokens_in": completion.tokens_in,
            "tokens_out": completion.tokens_out,
            "charged": list(answer.charged),
            "number": answer.number,
            "attempts": answer.attempts,
            "seconds": answer.seconds,
            "address": answer.address,
            "parameters": answer.parameters,
            "request": answer.request,
        }

    def _carried_out(self, state: State, record: dict[str, Any]) -> tuple[State, Step]:
        depth, codes = _checked(record)
        if not depth:
            return state, Step(record["outcome"], 0, 0, False)
        actions = np.zeros((1, parser.DEPTHS[-1]), np.uint8)
        actions[0, :depth] = codes
        outcome = self.task.execute(state[None], actions, np.array([depth], np.int32), threads=1)
        step = Step(record["outcome"], depth, int(outcome.executed[0]), bool(outcome.solved[0]))
        return outcome.states[0], step


def _checked(record: dict[str, Any]) -> tuple[int, list[int]]:
    """Depth and actions of a record."""
    codes = [parser.ACTIONS.index(word) for word in record["actions"]]
    depth = record["h"]
    if (
        depth != len(codes)
        or depth > parser.DEPTHS[-1]
        or (parser.AnswerOutcome(record["outcome"]) == "ok") != (depth > 0)
    ):
        raise ValueError(f"h: expected {len(codes)}, got {depth}")
    return depth, codes
