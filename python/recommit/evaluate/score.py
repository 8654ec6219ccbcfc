"""A score on a frozen split, for any agent, as a record that can be checked.

An agent is a policy, a function in a Python file, a finished zero-shot run, or a file of commitments that any program
may have written. The record holds every commitment, so that ``verify`` can recompute its figures with the simulator.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import leaderboard_splits
from recommit.evaluate import metrics, summaries, transcripts
from recommit.evaluate.transcripts import LETTERS
from recommit.policy.config import MOST_ACTIONS, PLAN_LENGTH
from recommit.rollout.decision_rows import DecisionRows, of_callable
from recommit.storage import errors, files, verified
from recommit.storage.python_file import definition, failing_line
from recommit.storage.recipe_text import brief
from recommit.version import VERSION
from recommit.zero_shot.spec import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.data.leaderboard_splits import FrozenSplit
    from recommit.evaluate.transcripts import Commitments


FORMAT = 1
RECORD: verified.Fields = {
    "format": verified.exactly(FORMAT),
    "split": str,
    "split_sha256": str,
    "name": str,
    "agent": {"kind": str, "sha256": str, ...: ()},
    "recommit": str,
    "rows": list,
    "commitments": dict,
    "sha256": str,
    ...: (),
}
#: Figures of a row, a subset of an evaluation's.
FIGURES = (
    *("decisions", "instances", "solved", "solve_rate", "solve_low", "solve_high", "actions_per_episode"),
    *("decisions_per_episode", "spl", "lost", "value", "value_low", "value_high"),
)
#: Largest record in bytes, and longest name in characters.
MOST_RECORD, MOST_NAME = 1 << 26, 80


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """Score an agent on a frozen split.

    Args:
        agent: A policy (its folder, that of its run, or a name of recommit policies); FILE.py:FUNCTION, which is run:
            see run-code; the folder of a zero-shot run; or a file of commitments (.jsonl). None beside verify.
        split: The frozen split: sliding-3x3, sliding-4x4 or sokoban-7x7.
        out: The record to write, .json.
        name: Name of the agent on a leaderboard (default: as it was given).
        verify: Check this record instead: its figures are computed again from its commitments.
        run_code: Yes, run the agent's Python file.
    """

    agent: str = ""
    split: str = ""
    out: Path | None = None
    name: str = ""
    verify: Path | None = None
    run_code: bool = False

    def __post_init__(self) -> None:
        if self.verify is None and not (self.agent and self.split and self.out):
            names = ", ".join(leaderboard_splits.names())
            raise ValueError(
                f"score: expected an agent, --split of {names} and --out, or --verify RECORD, got "
                f"agent {self.agent or 'none'}, split {self.split or 'none'}, out {self.out or 'none'}"
            )
        if self.verify is not None and (self.agent or self.split or self.out or self.name):
            raise ValueError("verify: expected a record alone, got an agent, --split, --out or --name besides")
        if self.out and self.out.suffix.lower() != ".json":
            raise ValueError(f"out: expected a name that ends in .json, got {self.out}")
        if self.verify is None:
            _check_name(self.called)

    @property
    def called(self) -> str:
        """Name of the agent in the record."""
        return self.name or Path(self.agent).name


def score(options: ScoreOptions) -> dict[str, Any]:
    """Play an agent and write its record, or verify one; returns the record."""
    if options.verify is not None:
        return verify(options.verify)
    assert options.out is not None
    split = leaderboard_splits.read(options.split)
    agent = read_agent(options.agent, trusted=options.run_code)
    played = {budget: agent.commitments(split, budget) for budget in split.budgets}
    record = {
        "format": FORMAT,
        "split": split.name,
        "split_sha256": split.sha256,
        "name": options.called,
        "agent": {"kind": agent.kind, "sha256": agent.sha256},
        "recommit": VERSION,
        "rows": [row(split, budget, each) for budget, each in played.items()],
        "commitments": {str(budget): each for budget, each in played.items()},
    }
    values: dict[str, Any] = json.loads(json.dumps(record))
    values["sha256"] = verified.digest(values)
    files.replace(files.Files(), options.out, _text(values).encode())
    return values


def _check_name(name: str) -> None:
    """Refuse a name that tables, pages and terminals cannot show."""
    if not 1 <= len(name) <= MOST_NAME or not name.isprintable():
        raise ValueError(f"name: expected 1..{MOST_NAME} printable characters, got {brief(name)}")


def _text(record: dict[str, Any]) -> str:
    """The only valid text of a record."""
    return json.dumps(record) + "\n"


def verify(path: Path) -> dict[str, Any]:
    """Read a record and recompute its figures from its commitments; raises ``ValueError`` where they differ."""
    record = verified.record(path, verified.content(path.parent, path.name, MOST_RECORD), RECORD, _text)
    _check_name(record["name"])
    split = leaderboard_splits.read(record["split"])
    if split.sha256 != record["split_sha256"]:
        raise errors.Damaged(f"{path}: expected split {split.sha256[:12]}, got {record['split_sha256'][:12]}")
    if sorted(record["commitments"]) != sorted(map(str, split.budgets)):
        raise errors.Damaged(f"{path}: expected budgets {split.budgets}, got {list(record['commitments'])[:8]}")
    rows = [row(split, budget, record["commitments"][str(budget)]) for budget in split.budgets]
    if not verified.alike(json.loads(json.dumps(rows)), record["rows"]):
        raise errors.Damaged(f"{path}: expected the figures of its commitments, got others")
    return record


def row(split: FrozenSplit, budget: int, commitments: Commitments) -> dict[str, Any]:
    """The figures of an agent under one budget."""
    rows = replayed(split, budget, commitments)
    played = metrics.episodes(rows, split.length, budget)
    every = summaries.row([rows], [played], budget, split.rooms, prices=split.prices)
    return {name: every[name] for name in FIGURES}


def replayed(split: FrozenSplit, budget: int, commitments: Commitments) -> DecisionRows:
    """Check commitments and replay them in the simulator; returns the decisions."""
    _check(split, budget, commitments)
    rows = transcripts.replayed(split.task, split.starts, budget, commitments)
    if len(short := np.flatnonzero(rows.executed < rows.depth)):
        transcripts.refuse_more(int(rows.instance[short[0]]), int(rows.turn[short[0]]))
    return rows


def _check(split: FrozenSplit, budget: int, commitments: Commitments) -> None:
    count = len(split.starts)
    if not isinstance(commitments, list) or len(commitments) != count:
        raise ValueError(f"commitments: expected a list of {count} levels, got {brief(commitments)}")
    for number, level in enumerate(commitments):
        if not isinstance(level, list) or len(level) > budget:
            raise ValueError(f"commitments: expected a list of at most {budget} of level {number}, got {brief(level)}")
        for word in level:
            if not isinstance(word, str) or not 1 <= len(word) <= MOST_ACTIONS or set(word) - set(LETTERS):
                letters = f"1..{MOST_ACTIONS} letters of udlr"
                raise ValueError(f"commitments: expected {letters} in level {number}, got {brief(word)}")


@dataclass(frozen=True)
class ScoredAgent:
    """An agent to score: its kind, the sha256 of its files, and the function that plays it."""

    kind: str
    sha256: str
    play: Callable[[FrozenSplit, int], DecisionRows | Commitments]

    def commitments(self, split: FrozenSplit, budget: int) -> Commitments:
        """Play all levels of a split; returns the commitments of each level."""
        played = self.play(split, budget)
        if isinstance(played, list):
            return played
        result: Commitments = [[] for _ in split.starts]
        order = np.lexsort((played.turn, played.instance))
        for instance, actions, executed in zip(
            *(getattr(played, name)[order].tolist() for name in ("instance", "actions", "executed")), strict=True
        ):
            result[instance].append("".join(LETTERS[actions >> 2 * place & 3] for place in range(executed)))
        return result


def read_agent(given: str, *, trusted: bool = False) -> ScoredAgent:
    """Parse the command line's ``agent``: a function, a file of commitments, a zero-shot run or a policy."""
    if python := re.fullmatch(r"(.+\.py)(?::(\w+))?", given):
        return _of_function(Path(python[1]), python[2] or "agent", trusted=trusted)
    if given.endswith(".jsonl"):
        return ScoredAgent("commitments", files.file_sha256(Path(given)), partial(_of_file, Path(given)))
    if ((folder := Path(given)) / MANIFEST).is_file():
        parts = [files.file_sha256(folder / name) for name in (MANIFEST, transcripts.DECISIONS)]
        play = lambda split, budget: transcripts.rows(folder, split.task, list(split.ids), split.starts, budget)
        return ScoredAgent("zero-shot", files.sha256(" ".join(parts).encode()), play)
    return _of_policy(given)


def _of_policy(given: str) -> ScoredAgent:
    errors.refuse_missing("train", "torch", "pyarrow")
    from recommit.policy.checkpoint import local_folder, weights_of
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.process import torch_settings

    folder = local_folder(given)
    policy = CommitPolicy.from_pretrained(folder).eval()

    def play(split: FrozenSplit, budget: int) -> DecisionRows:
        policy.replace_prices(split.prices)

        def act(states: NDArray[np.uint8], turn: int) -> tuple[Any, Any]:
            depths, actions = policy.act(split.task, states, remaining=np.full(len(states), budget - turn))
            return depths, actions

        with torch_settings(inference=True):
            return of_callable(act, split.task, split.starts, budget)

    return ScoredAgent("policy", weights_of(folder), play)


def _of_function(path: Path, name: str, *, trusted: bool) -> ScoredAgent:
    if not path.is_file():
        raise ValueError(f"agent: expected a Python file, got none by the name {path}")
    found = definition("agent", path, name, trusted=trusted)
    if not callable(found):
        what = "nothing by that name" if found is None else type(found).__name__
        raise ValueError(f"agent: expected a function {name} in {path}, got {what}")  # noqa: TRY004

    def play(split: FrozenSplit, budget: int) -> DecisionRows:
        def act(states: NDArray[np.uint8], turn: int) -> tuple[Any, Any]:
            count = len(states)
            try:
                said = found(states, budget - turn)
            except (Exception, SystemExit) as error:
                raise ValueError(f"agent: {failing_line(path, error)}: {type(error).__name__}: {error}") from error
            return _checked(said, count)

        return of_callable(act, split.task, split.starts, budget)

    return ScoredAgent("function", files.file_sha256(path), play)


def _checked(said: Any, count: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Validate depths [N] and actions [N, 8..16] before the cast to uint8, which would turn 256 into action 0."""
    every = [np.asarray(each) for each in said] if isinstance(said, tuple | list) and len(said) == 2 else []
    width = every[1].shape[-1] if every and every[1].ndim == 2 else 0
    length = min(max(width, PLAN_LENGTH), MOST_ACTIONS)
    shapes = [each.shape for each in every]
    if shapes != [(count,), (count, length)] or any(each.dtype.kind not in "iu" for each in every):
        kinds = " and ".join(f"{each.dtype} {list(each.shape)}" for each in every)
        raise ValueError(
            f"agent: expected whole numbers, depths [{count}] and actions [{count}, {PLAN_LENGTH}], "
            f"or up to {MOST_ACTIONS}, got {kinds or type(said).__name__}"
        )
    for name, each, low, high in zip(("depths", "actions"), every, (1, 0), (length, 3), strict=True):
        if each.min() < low or each.max() > high:
            raise ValueError(f"agent: expected {name} of {low}..{high}, got {each.min()}..{each.max()}")
    return every[0].astype(np.int64), np.ascontiguousarray(every[1], np.uint8)


def _of_file(path: Path, split: FrozenSplit, budget: int) -> Commitments:
    """Read lines {"budget": 15, "level": 0, "commitments": ["uldr", "u"]}, one for every level and budget."""
    found: dict[tuple[int, int], list[str]] = {}
    for line in verified.lines(path.parent, path.name):
        verified.expect(path, line, {"budget": int, "level": int, "commitments": [str]})
        place = line["budget"], line["level"]
        if place[0] not in split.budgets or not 0 <= place[1] < len(split.starts) or place in found:
            raise ValueError(
                f"{path}: expected budgets of {split.budgets} and levels of 0..{len(split.starts) - 1}, each once, "
                f"got budget {brief(place[0])}, level {brief(place[1])}{' again' if place in found else ''}"
            )
        found[place] = line["commitments"]
    wanted = [(budget, number) for number in range(len(split.starts))]
    if missing := [place for place in wanted if place not in found]:
        raise ValueError(
            f"{path}: expected a line for each of {len(wanted)} levels at budget {budget}, got "
            f"{len(wanted) - len(missing)} and none for level {missing[0][1]}; nothing done is an empty list"
        )
    return [found[place] for place in wanted]
