"""A score on a frozen split, for any agent, as a record that anybody can check.

An agent is a policy, a function in a Python file, a finished zero-shot run, or a file of commitments that whatever
played has written. Its record has every commitment, so that the figures follow from the record by the simulator alone:
``verify`` computes them again, and plays again where it is given the agent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import frozen
from recommit.evaluate import metrics, summaries, transcripts
from recommit.policy.config import MOST_ACTIONS
from recommit.rollout.decision_rows import DecisionRows, carried_out, join, of_callable
from recommit.storage import errors, files, verified
from recommit.storage.python_file import definition
from recommit.storage.recipe_text import brief
from recommit.version import VERSION
from recommit.zero_shot.spec import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.data.frozen import FrozenSplit

    #: Per level the commitments of its episode, a letter of u d l r per executed action.
    Commitments = list[list[str]]

FORMAT = 1
LETTERS = "udlr"
RECORD: verified.Fields = {
    "format": int,
    "split": str,
    "split_sha256": str,
    "name": str,
    "agent": dict.fromkeys(("kind", "sha256"), str),
    "recommit": str,
    "rows": list,
    "commitments": dict,
    "sha256": str,
}
#: What a row has of an evaluation's.
FIGURES = (
    *("decisions", "instances", "solved", "solve_rate", "solve_low", "solve_high", "actions_per_episode"),
    *("decisions_per_episode", "spl", "lost", "value", "value_low", "value_high"),
)
#: On another processor sums round otherwise, and a policy plays a few levels otherwise: at most so many of a hundred.
OTHERWISE = 2.0


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """Who is scored on what.

    Args:
        agent: A policy (its folder, that of its run, or a name of recommit policies); FILE.py:FUNCTION, which is run:
            see run-code; the folder of a zero-shot run; or a file of commitments (.jsonl). Optional beside verify.
        split: The frozen split: sliding-3x3, sliding-4x4 or sokoban-7x7.
        out: The record to write, .json.
        name: What a leaderboard calls the agent (default: as it was given).
        verify: Check this record instead: its figures are computed again from its commitments, and with an agent it
            is also played again.
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
            raise ValueError(
                f"score: expected an agent, --split of {', '.join(frozen.names())} and --out, or --verify RECORD, got "
                f"agent {self.agent or 'none'}, split {self.split or 'none'}, out {self.out or 'none'}"
            )
        if self.verify is not None and (self.split or self.out or self.name):
            raise ValueError("verify: expected a record and perhaps an agent, got --split, --out or --name besides")


def score(options: ScoreOptions) -> dict[str, Any]:
    """Play, and write the record; or check one. Returns the record."""
    if options.verify is not None:
        return verify(options.verify, options.agent, trusted=options.run_code)
    assert options.out is not None
    split = frozen.read(options.split)
    agent = read_agent(options.agent, trusted=options.run_code)
    played = {budget: agent.commitments(split, budget) for budget in split.budgets}
    record = {
        "format": FORMAT,
        "split": split.name,
        "split_sha256": split.sha256,
        "name": options.name or Path(options.agent).name,
        "agent": {"kind": agent.kind, "sha256": agent.sha256},
        "recommit": VERSION,
        "rows": [row(split, budget, each) for budget, each in played.items()],
        "commitments": {str(budget): each for budget, each in played.items()},
    }
    values: dict[str, Any] = json.loads(json.dumps(record))
    values["sha256"] = frozen.digest(values)
    files.replace(files.Files(), options.out, (json.dumps(values) + "\n").encode())
    return values


def verify(path: Path, agent: str = "", *, trusted: bool = False) -> dict[str, Any]:
    """The record of a file, whose every figure follows from its commitments; a ValueError says what does not."""
    record = verified.values(path.parent, path.name, RECORD)
    if record["format"] != FORMAT:
        raise errors.Damaged(f"{path}: expected format {FORMAT}, got {record['format']}")
    if frozen.digest(record) != record["sha256"]:
        raise errors.Damaged(f"{path}: expected what was written there, got other values: its sha256 does not fit")
    split = frozen.read(record["split"])
    if split.sha256 != record["split_sha256"]:
        raise errors.Damaged(f"{path}: expected split {split.sha256[:12]}, got {record['split_sha256'][:12]}")
    if sorted(record["commitments"]) != sorted(map(str, split.budgets)):
        raise errors.Damaged(f"{path}: expected budgets {split.budgets}, got {list(record['commitments'])[:8]}")
    rows = [row(split, budget, record["commitments"][str(budget)]) for budget in split.budgets]
    if json.loads(json.dumps(rows)) != record["rows"]:
        raise errors.Damaged(f"{path}: expected the figures of its commitments, got others")
    if agent:
        _played_again(path, record, split, read_agent(agent, trusted=trusted))
    return record


def _played_again(path: Path, record: dict[str, Any], split: FrozenSplit, agent: ScoredAgent) -> None:
    if agent.sha256 != record["agent"]["sha256"]:
        raise ValueError(f"agent: expected {record['agent']['sha256'][:12]} of {path}, got {agent.sha256[:12]}")
    for budget in split.budgets:
        before, now = record["commitments"][str(budget)], agent.commitments(split, budget)
        apart = sum(one != other for one, other in zip(before, now, strict=True))
        if 100 * apart > OTHERWISE * len(now):
            raise ValueError(
                f"agent: expected the commitments of {path}, got others in {apart} of {len(now)} levels at K = {budget}"
            )


def row(split: FrozenSplit, budget: int, commitments: Commitments) -> dict[str, Any]:
    """The figures of an agent under one budget."""
    rows = replayed(split, budget, commitments)
    played = metrics.episodes(rows, split.length, budget)
    every = summaries.row([rows], [played], budget, split.rooms, prices=split.prices)
    return {name: every[name] for name in FIGURES}


def replayed(split: FrozenSplit, budget: int, commitments: Commitments) -> DecisionRows:
    """The decisions behind commitments, by the simulator."""
    _check(split, budget, commitments)
    states, parts, over = split.starts.copy(), list[DecisionRows](), split.length == 0
    for turn in range(budget):
        who = np.array([i for i, level in enumerate(commitments) if len(level) > turn], np.intp)
        words = [commitments[i][turn] for i in who]
        depth = np.array([len(word) for word in words], np.int64)
        actions = np.zeros((len(who), MOST_ACTIONS), np.uint8)
        for place, word in enumerate(words):
            actions[place, : len(word)] = [LETTERS.index(letter) for letter in word]
        rows, states[who] = carried_out(split.task, states, who, turn, depth, actions)
        if (beyond := over[who] | (rows.executed < depth)).any():
            number = who[np.flatnonzero(beyond)[0]]
            raise ValueError(f"commitments: expected none beyond the goal, got more of level {number}, turn {turn}")
        over[who] = rows.solved
        parts.append(rows)
    return join(parts)


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
    """Whoever is scored: what it is, the sha256 of what it is made of, and how it plays."""

    kind: str
    sha256: str
    play: Callable[[FrozenSplit, int], DecisionRows | Commitments]

    def commitments(self, split: FrozenSplit, budget: int) -> Commitments:
        """What it does in every level."""
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
    """The agent that a word of the command line stands for."""
    path, python, name = given.partition(".py")
    if python and (not name or name.startswith(":")):
        return _of_function(Path(f"{path}.py"), name[1:] or "agent", trusted=trusted)
    if given.endswith(".jsonl"):
        return ScoredAgent("commitments", files.file_sha256(Path(given)), partial(_of_file, Path(given)))
    if (Path(given) / MANIFEST).is_file():
        return ScoredAgent("zero-shot", _sha256_of(Path(given)), partial(_of_zero_shot, Path(given)))
    return _of_policy(given)


def _of_policy(given: str) -> ScoredAgent:
    from recommit.policy.checkpoint import local_folder, weights_of
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.process import configure_inference, preserved_torch_state

    folder = local_folder(given)
    policy = CommitPolicy.from_pretrained(folder).eval()

    def play(split: FrozenSplit, budget: int) -> DecisionRows:
        policy.replace_prices(split.prices)

        def act(states: NDArray[np.uint8], turn: int) -> tuple[Any, Any]:
            depths, actions = policy.act(split.task, states, remaining=np.full(len(states), budget - turn))
            return depths, actions

        with preserved_torch_state():
            configure_inference(1)
            return of_callable(act, split.task, split.starts, budget)

    return ScoredAgent("policy", weights_of(folder), play)


def _of_function(path: Path, name: str, *, trusted: bool) -> ScoredAgent:
    if not path.is_file():
        raise ValueError(f"agent: expected a Python file, got none by the name {path}")
    found = definition("agent", path, name, trusted=trusted)
    if not callable(found):
        raise TypeError(f"agent: expected a function {name} in {path}, got {type(found).__name__}")

    def play(split: FrozenSplit, budget: int) -> DecisionRows:
        return of_callable(lambda states, turn: found(states, budget - turn), split.task, split.starts, budget)

    return ScoredAgent("function", files.file_sha256(path), play)


def _of_file(path: Path, split: FrozenSplit, budget: int) -> Commitments:
    """Lines {"budget": 15, "level": 0, "commitments": ["uldr", "u"]}; a level that no line names has none."""
    result: Commitments = [[] for _ in split.starts]
    for line in verified.lines(path.parent, path.name):
        verified.expect(path, line, {"budget": int, "level": int, "commitments": [str]})
        if not 0 <= line["level"] < len(result):
            raise ValueError(f"{path}: expected levels of 0..{len(result) - 1}, got {line['level']}")
        if line["budget"] == budget:
            result[line["level"]] = line["commitments"]
    return result


def _of_zero_shot(folder: Path, split: FrozenSplit, budget: int) -> DecisionRows:
    return transcripts.rows(folder, split.task, list(split.ids), split.starts, budget)


def _sha256_of(folder: Path) -> str:
    parts = [files.file_sha256(folder / name) for name in (MANIFEST, transcripts.DECISIONS)]
    return files.sha256(" ".join(parts).encode())
