"""Episodes: observe, ask, write the answer down, only then act. What is in the journal is never asked again.

Episodes are not played in lock step, as by ``graph.episodes.turns``: where a cap ends a run, those that began first are
finished and count.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from recommit.storage import files
from recommit.storage.errors import Damaged
from recommit.zero_shot import parser
from recommit.zero_shot.game import Game, Step
from recommit.zero_shot.parser import Commitment

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.puzzles.puzzle import Instances
    from recommit.storage.jsonl import JsonLines
    from recommit.zero_shot.client import Completion
    from recommit.zero_shot.game import Observation
    from recommit.zero_shot.spec import ZeroShotSpec


@dataclass
class Episode:
    """One instance, played as far as it has been. ``infra`` says why it cannot be counted, if so."""

    index: int
    instance: str
    length: int
    steps: list[Step] = field(default_factory=list)
    finished: bool = False
    infra: str | None = None
    #: Names of models that the server says it ran.
    models: set[str] = field(default_factory=set)


class ModelPlayer:
    """Plays instances of one task; any number of threads may play different ones."""

    def __init__(
        self,
        spec: ZeroShotSpec,
        instances: Instances,
        ask: Callable[[Observation, dict[str, Any]], tuple[Completion, dict[str, Any]]],
        journal: JsonLines,
    ) -> None:
        self.spec = spec
        self.instances, self.ask, self.journal = instances, ask, journal
        self._recorded: dict[tuple[str, int], dict[str, Any]] = {}

    def restore(self, records: list[dict[str, Any]]) -> None:
        """Take in the decisions of earlier starts."""
        for record in records:
            try:
                place = (str(record["instance"]), int(record["decision"]))
                _ = _commitment(record), record["model"].strip()
            except (KeyError, TypeError, ValueError, AttributeError):
                raise Damaged("decisions.jsonl: expected records of decisions, got another") from None
            if place in self._recorded:
                raise Damaged(f"decisions.jsonl: expected one record per decision, got two of {place[0]}, {place[1]}")
            self._recorded[place] = record

    def play(self, episode: Episode) -> None:
        """Play to the goal or the end of the budget. If asking fails, what was played stays in ``episode``."""
        game = self.spec.game.of_state(self.instances.states[episode.index])
        episode.steps = game.steps
        while not game.over:
            record = self.decide(episode, game)
            episode.models |= {record["model"]} - {""}
            game.commit(_commitment(record))
        episode.finished = True

    def decide(self, episode: Episode, game: Game) -> dict[str, Any]:
        """The record of the next decision, from the journal or, once it is in there, from the model."""
        decision, seen = len(game.steps), files.sha256(game.state.tobytes())
        recorded = self._recorded.get((episode.instance, decision))
        if recorded is not None:
            if recorded["state_sha256"] != seen:
                raise Damaged(f"decisions.jsonl: {episode.instance}, {decision}: expected its state, got another")
            return recorded
        record = self._answered(episode, decision, game) | {"state_sha256": seen, "state": game.state.tolist()}
        self.journal.add(record)
        return record

    def _answered(self, episode: Episode, decision: int, game: Game) -> dict[str, Any]:
        place = {"instance": episode.instance, "decision": decision}
        said, took = self.ask(game.observe(), place)
        commitment = game.read(said.text, refused=said.refused, cut_off=said.cut_off)
        return {
            **place,
            "outcome": commitment.outcome.value,
            "h": commitment.depth,
            "actions": [parser.ACTIONS[action] for action in commitment.actions],
            **asdict(said),
            **took,
        }


def _commitment(record: dict[str, Any]) -> Commitment:
    """What a record says was carried out, in the codes of the puzzle."""
    outcome, depth = parser.AnswerOutcome(record["outcome"]), record["h"]
    codes = tuple(parser.ACTIONS.index(word) for word in record["actions"])
    if depth != len(codes) or depth > parser.DEPTHS[-1] or (outcome is parser.AnswerOutcome.OK) != (depth > 0):
        raise ValueError(f"h: expected {len(codes)}, got {depth}")
    return Commitment(outcome, depth, codes)
