"""A run in its folder: workers that play, one journal, and figures whenever it ends, however it ends.

    observe   the picture of a state and the prompt (``game``)
    ask       within the caps and with retries (``client``), over a bounded connection (``transport``)
    parse     the text: a commitment, or the one reason why it is none (``parser``)
    write     the answer into the journal before it is executed, so that no decision is queried twice after a kill

Each worker thread does this for one episode at a time. A start of the command restores the answers and counts of
earlier ones, and plays the rest.

manifest.json      the spec, which decides the answers; one per folder
decisions.jsonl    the journal and the transcripts: one line per answered decision, on the disk before it is executed
attempts.jsonl     every request before it was sent, and every failure
episodes.jsonl     one line per episode
summary.json       the figures
DIGESTS            sha256 of all of these once everything is played, checked by every reader
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from dataclasses import asdict, dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.results.intervals import share
from recommit.storage import files, jsonl, verified
from recommit.storage.errors import Damaged, DataError
from recommit.storage.jsonl import JsonLines
from recommit.storage.lock import Lock
from recommit.storage.recipe_text import brief
from recommit.storage.terminal_text import say
from recommit.zero_shot import parser, spec
from recommit.zero_shot.client import Client, GaveUp, Ledger, Server, StopRequested, Unusable
from recommit.zero_shot.game import spl
from recommit.zero_shot.parser import AnswerOutcome, Commitment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Instances
    from recommit.zero_shot.client import Completion
    from recommit.zero_shot.game import Game, Observation, Step
    from recommit.zero_shot.options import ZeroShotOptions
    from recommit.zero_shot.spec import ZeroShotSpec

#: Number of consecutive episodes without answers after which the server counts as down.
STRIKES = 8
SEALED = (spec.MANIFEST, "decisions.jsonl", "attempts.jsonl", "episodes.jsonl", "summary.json")


@dataclass
class Episode:
    """State of one instance's episode. ``infra`` is the infrastructure error for which it does not count, if any."""

    index: int
    instance: str
    length: int
    steps: list[Step] = field(default_factory=list)
    finished: bool = False
    infra: str | None = None
    #: Names of models that the server reports.
    models: set[str] = field(default_factory=set)


class ModelPlayer:
    """Plays instances of one task; threads may play different instances concurrently."""

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
        """Load and check the decisions of earlier starts."""
        for record in records:
            try:
                place = (str(record["instance"]), int(record["decision"]))
                _ = _commitment(record), record["model"].strip()
                counts = {type(record[name]) for name in ("tokens_in", "tokens_out")}
                if not counts <= {int, NoneType}:
                    raise ValueError(counts)
            except (KeyError, TypeError, ValueError, AttributeError):
                raise Damaged("decisions.jsonl: expected records of decisions, got another") from None
            if place in self._recorded:
                raise Damaged(f"decisions.jsonl: expected one record per decision, got two of {place[0]}, {place[1]}")
            self._recorded[place] = record

    def play(self, episode: Episode) -> None:
        """Play to the goal or the end of the budget. If a request fails, the steps so far stay in ``episode``."""
        game = self.spec.game.of_state(self.instances.states[episode.index])
        episode.steps = game.steps
        while not game.over:
            record = self.decide(episode, game)
            episode.models |= {record["model"]} - {""}
            game.commit(_commitment(record))
        episode.finished = True

    def decide(self, episode: Episode, game: Game) -> dict[str, Any]:
        """Record of the next decision: from the journal, or else from the model, which is journaled first."""
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
    """Commitment in a record, in the codes of the puzzle; raises on an inconsistent record."""
    outcome, depth = AnswerOutcome(record["outcome"]), record["h"]
    codes = tuple(parser.ACTIONS.index(word) for word in record["actions"])
    if depth != len(codes) or depth > parser.DEPTHS[-1] or (outcome is AnswerOutcome.OK) != (depth > 0):
        raise ValueError(f"h: expected {len(codes)}, got {depth}")
    return Commitment(outcome, depth, codes)


class ZeroShotRun:
    """A run that is ready to start: the constructor raises ``ValueError`` for wrong ``options``, and neither writes nor
    sends anything."""

    def __init__(self, options: ZeroShotOptions) -> None:
        self.options, self.server = options, Server.of(options)
        self.spec = spec.ZeroShotSpec.of(options)
        self.starts = self.spec.starts()

    def run(self, *, quiet: bool = False) -> list[dict[str, Any]]:
        """Play the rest of the run; returns the summary. After any early end the run can be resumed."""
        options, out, disk = self.options, self.options.out, files.Files()
        files.make_folders(disk, out)
        with Lock(out, work="zero-shot run"):
            spec.keep(self.spec.manifest(self.starts), out)  # refuses other folders, before anything in them changes
            files.sweep(disk, out)
            if verified.verify(out):
                verified.write_digests(disk, out, {})
            attempts, decisions = jsonl.read(out / "attempts.jsonl"), jsonl.read(out / "decisions.jsonl")
            with (
                JsonLines(out / "attempts.jsonl", disk, finite=True) as log,
                JsonLines(out / "decisions.jsonl", disk, finite=True) as journal,
            ):
                ledger = Ledger(options.max_requests, log, threading.Event())
                plays = ModelPlayer(self.spec, self.starts, Client(options, self.server, ledger).ask, journal)
                plays.restore(decisions)
                ledger.restore(attempts, decisions)
                rows = _Workers(self, plays, ledger, quiet=quiet).go(options.workers)
            if not rows[0]["infra_errors"]:
                verified.seal(disk, out, SEALED)
            return rows


def zero_shot(options: ZeroShotOptions, *, quiet: bool = True) -> list[dict[str, Any]]:
    """Let a vision-language model play through an API, or resume such a run; returns the rows of ``summary.json``."""
    return ZeroShotRun(options).run(quiet=quiet)


class _Workers:
    """The workers of one start. They are plain daemon threads, since those of an executor would be waited for, while a
    second Ctrl-C has to end everything at once."""

    def __init__(self, run: ZeroShotRun, plays: ModelPlayer, ledger: Ledger, *, quiet: bool) -> None:
        self.run, self.player, self.ledger, self.quiet = run, plays, ledger, quiet
        starts: Instances = run.starts
        self.episodes = [Episode(i, starts.ids[i], int(starts.length[i])) for i in range(len(starts))]
        self.waiting = iter(self.episodes)
        self.failure: BaseException | None = None
        self._playing, self._strikes, self._ended = 0, 0, 0
        self._done = threading.Event()
        self._lock = threading.Lock()

    def go(self, workers: int) -> list[dict[str, Any]]:
        """Play, and write the figures even after an early end."""
        self._playing = workers
        for _ in range(workers):
            threading.Thread(target=self._work, daemon=True).start()
        try:
            self._wait_for_all()
        except BaseException:
            with contextlib.suppress(DataError):  # the first failure is what matters
                self._write()
            raise
        return self._write()

    def _wait_for_all(self) -> None:
        try:
            self._wait()
        except KeyboardInterrupt:
            self.ledger.stop.set()
            self._say("interrupted: waiting for the answers that are under way; once more ends at once")
            self._wait()
            raise
        if self.failure is not None:
            raise self.failure

    def _wait(self) -> None:
        # Not join(), which takes a thread for ended after Ctrl-C; with a timeout, so that Ctrl-C is handled.
        while not self._done.wait(0.2):
            continue

    def _work(self) -> None:
        try:
            while not self.ledger.stop.is_set() and (episode := next(self.waiting, None)) is not None:
                self._play(episode)
        except StopRequested:
            pass
        except BaseException as error:  # noqa: BLE001  (the main thread raises it)
            self.failure = self.failure or error
            self.ledger.stop.set()
        with self._lock:
            self._playing -= 1
            if not self._playing:
                self._done.set()

    def _play(self, episode: Episode) -> None:
        try:
            self.player.play(episode)
        except GaveUp as error:
            episode.infra = str(error)
        with self._lock:
            self._strikes = self._strikes + 1 if episode.infra else 0
            self._ended += 1
            strikes, ended = self._strikes, self._ended
        ledger, ending = self.ledger, "solved" if episode.steps and episode.steps[-1].solved else "not solved"
        spent = f"{ledger.requests:,} requests, {ledger.tokens_in + ledger.tokens_out:,} tokens"
        ending = "infra error" if episode.infra else ending
        self._say(f"{ended} of {len(self.episodes)}: {episode.instance} {ending}, {spent}")
        if strikes >= STRIKES:
            raise Unusable(f"{strikes} episodes in a row got no answers, the last: {episode.infra}")

    def _say(self, text: str) -> None:
        if not self.quiet:
            say(text)

    def _write(self) -> list[dict[str, Any]]:
        out, disk = self.run.options.out, files.Files()
        rooms = self.run.starts.rooms if isinstance(self.run.starts, spec.HeldOutInstances) else None
        spent = {name: getattr(self.ledger, name) for name in ("requests", "tokens_in", "tokens_out")}
        rows = [row | spent for row in summary_rows(self.run.spec, self.episodes, rooms)]
        lines = "".join(json.dumps(row) + "\n" for row in episode_rows(self.episodes))
        files.replace(disk, out / "episodes.jsonl", lines.encode())
        files.replace(disk, out / "summary.json", (json.dumps(rows, indent=2, allow_nan=False) + "\n").encode())
        return rows


def episode_rows(episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """One row per episode, as far as it has been played."""
    return [
        {
            "instance": each.instance,
            "length": each.length,
            "finished": each.finished,
            "infra_error": each.infra,
            "solved": _solved(each.steps),
            "decisions": len(each.steps),
            "actions": _executed(each.steps),
            "outcomes": dict(Counter(step.outcome for step in each.steps)),
        }
        for each in episodes
    ]


def summary_rows(
    spec: ZeroShotSpec, episodes: Sequence[Episode], rooms: NDArray[np.int64] | None = None
) -> list[dict[str, Any]]:
    """One row for the budget of the run, and one for every smaller budget of the paper, from prefixes of the same
    episodes."""
    named = {decisions: name for name, decisions in spec.game.puzzle.budgets(spec.game.size).items()}
    budgets = [spec.game.budget, *sorted((k for k in named if k < spec.game.budget), reverse=True)]
    counted = [each for each in episodes if each.finished]
    head = {"agent": spec.options.model, "task": spec.game.task}
    rest = {
        "instances": len(counted),
        "cell": spec.game.cell,
        "answered_by": sorted(set().union(*(each.models for each in episodes))),
        "infra_errors": sum(each.infra is not None for each in episodes),
        "unfinished": sum(not each.finished and each.infra is None for each in episodes),
    }
    theirs = None if rooms is None else rooms[[each.index for each in counted]]
    return [
        {**head, "budget": named.get(k, str(k)), "decisions": k, **rest, **_figures(counted, k, theirs)}
        for k in budgets
    ]


def _figures(episodes: list[Episode], budget: int, rooms: NDArray[np.int64] | None) -> dict[str, Any]:
    played = [each.steps[:budget] for each in episodes]
    solved = list(map(_solved, played))
    within = share(np.array(solved, bool), rooms)
    outcomes = Counter(step.outcome for steps in played for step in steps)
    chosen = [step.depth for steps in played for step in steps if step.depth]
    pairs = zip(episodes, played, strict=True)
    return {
        "solved": sum(solved),
        "solve_rate": within.mean if episodes else None,
        "solve_low": within.low,
        "solve_high": within.high,
        "actions_per_episode": _mean([_executed(steps) for steps in played]),
        "decisions_per_episode": _mean([len(steps) for steps in played]),
        "spl": _mean([spl(each.length, _executed(steps), _solved(steps)) for each, steps in pairs]),
        "mean_depth": _mean(chosen),
        "depths": {str(depth): count for depth, count in sorted(Counter(chosen).items())},
        "outcomes": {outcome.value: outcomes[outcome.value] for outcome in AnswerOutcome},
    }


def _solved(steps: Sequence[Step]) -> bool:
    return any(step.solved for step in steps)


def _executed(steps: Sequence[Step]) -> int:
    return sum(step.executed for step in steps)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def table(all_rows: list[dict[str, Any]]) -> str:
    """Summary as text: a line per budget, then the outcomes of answers and the episodes that do not count."""
    first = all_rows[0]
    lines = [f"{first['agent']}, {first['task']}, cells of {first['cell']} pixels"]
    for row in all_rows:
        rate = "-" if row["solve_rate"] is None else f"{100 * row['solve_rate']:.1f} %"
        interval = f"[{100 * row['solve_low']:.1f}, {100 * row['solve_high']:.1f}]"
        actions = f"{row['actions_per_episode']:.1f}" if row["solved"] else "-"
        lines.append(
            f"  {row['budget']:<6} K = {row['decisions']:<3} solved {row['solved']} of {row['instances']}: "
            f"{rate} {interval}, {actions} actions per episode"
        )
    counted = ", ".join(f"{name} {count}" for name, count in first["outcomes"].items() if count)
    lines.append(f"  answers: {counted or 'none'}")
    if first["answered_by"] not in ([], [first["agent"]]):
        lines.append(f"  the server says that they are by {', '.join(map(brief, first['answered_by']))}")
    if first["infra_errors"]:
        lines.append(f"  {first['infra_errors']} episodes got no answers from the server and are not counted")
    if first["unfinished"]:
        lines.append(f"  {first['unfinished']} episodes are not finished and not counted")
    return "\n".join(lines) + "\n"
