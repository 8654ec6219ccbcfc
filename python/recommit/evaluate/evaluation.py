"""Any set of agents on the same instances under every budget: rows, figures, paired comparisons."""

from __future__ import annotations

import hashlib
import sys
import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import sampling
from recommit.evaluate import agents, metrics, stats
from recommit.evaluate.agents import Player
from recommit.evaluate.metrics import Episodes
from recommit.evaluate.store import Store, flat
from recommit.puzzles import registry
from recommit.train.rundir import recipe_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.recipe import Recipe
    from recommit.evaluate.play import Rows


@dataclass(frozen=True)
class Plan:
    """What is asked for."""

    run: str
    #: Names of ``agents.KNOWN``; ``NAME@RUN`` is played by another run's policy.
    agents: tuple[str, ...]
    budgets: tuple[str, ...] = ("loose", "tight")
    instances: int = 1024
    validation: int = 256
    #: Shortest and longest length; empty: as in the data of the run.
    length: tuple[int, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.agents:
            agents.check(name.partition("@")[0])
        if not self.agents:
            raise ValueError("agents: expected at least one, got none")
        if self.instances < 1 or self.validation < 1:
            raise ValueError(f"instances: expected at least 1, got {min(self.instances, self.validation)}")
        if len(self.length) not in (0, 2):
            raise ValueError(f"length: expected two numbers or none, got {self.length}")


def decisions_of(budget: str, task: str) -> int:
    """K of ``loose``, ``tight`` or a number."""
    named = registry.puzzle(task).usual.budgets
    if budget in named:
        return named[budget]
    if budget.isdigit() and 1 <= int(budget) <= 64:
        return int(budget)
    raise ValueError(f"budgets: expected loose, tight or 1..64, got {budget}")


def starts(recipe: Recipe, split: str, count: int, length: tuple[int, ...]) -> sampling.Starts:
    """Instances of a split, by the recipe alone: as many as asked for, distinct up to symmetry."""
    wanted = recipe.of_length(length)
    wanted = replace(wanted, test=count, validation=count, shard=max(recipe.shard, count), states="")
    return sampling.starts(wanted, split, 0)


class Evaluation:
    """One call of ``recommit evaluate``."""

    def __init__(self, plan: Plan, store: Store, *, quiet: bool = False) -> None:
        self.plan, self.store, self.quiet = plan, store, quiet
        self.recipe = recipe_of(plan.run)
        self.task = self.recipe.puzzle()
        self.budgets = {name: decisions_of(name, self.recipe.task) for name in plan.budgets}
        self.drawn = starts(self.recipe, "test", plan.instances, plan.length)
        self.starts = np.ascontiguousarray(self.drawn.states)
        self.length = self.task.distance(self.starts)
        self._players: dict[str, Player] = {}
        self._validation: NDArray[np.uint8] | None = None

    def run(self) -> list[dict[str, Any]]:
        """Play whoever has not been played, and write every figure; the summary."""
        self.store.begin({**{f.name: getattr(self.plan, f.name) for f in fields(Plan)}, "test_set": self._name()})
        self._write_instances()
        played: dict[tuple[str, str], list[Episodes]] = {}
        summary, curves = [], {}
        for number, name in enumerate(self.plan.agents):
            began = time.monotonic()
            rows = {
                b: [self._rows(name, k, s) for s in range(agents.seeds(_base(name)))] for b, k in self.budgets.items()
            }
            for budget, k in self.budgets.items():
                played[name, budget] = [metrics.episodes(r, self.length, k) for r in rows[budget]]
                summary.append(self._summarised(name, budget, k, rows[budget], played[name, budget]))
            curves[name] = metrics.over_budgets(self._rows(name, self._largest, 0), self.length, self._largest)
            self._say(f"{number + 1}/{len(self.plan.agents)} {name}: {time.monotonic() - began:.1f} s")
        self._write_episodes(played)
        self.store.write_json("curves.json", curves)
        self.store.write_json("comparisons.json", compare(self.plan.agents, self.budgets, played))
        self.store.write_json("summary.json", summary)
        return summary

    @property
    def _largest(self) -> int:
        return max(self.budgets.values())

    def _name(self) -> str:
        """Content hash of the test set."""
        digest = hashlib.sha256(repr(self.starts.shape).encode())
        digest.update(self.starts.tobytes())
        return digest.hexdigest()[:16]

    def _player(self, run: str) -> Player:
        if run not in self._players:
            from recommit.policy.policy import CommitPolicy

            policy = CommitPolicy.from_pretrained(run).eval()
            if self._validation is None:
                drawn = starts(self.recipe, "validation", self.plan.validation, self.plan.length)
                self._validation = np.ascontiguousarray(drawn.states)
            chosen_on = Player(policy, self.task, self._validation, self._largest)
            self._players[run] = Player(policy, self.task, self.starts, self._largest, chosen_on)
        return self._players[run]

    def _rows(self, name: str, k: int, seed: int) -> Rows:
        base, _, run = name.partition("@")
        stored = file_name(name, k if agents.by_budget(base) else self._largest, seed)
        rows = self.store.rows(stored)
        if rows is None:
            rows = self._player(run or self.plan.run).rows(base, k, seed)
            self.store.keep(stored, rows)
        return rows

    def _summarised(self, name: str, budget: str, k: int, rows: list[Rows], played: list[Episodes]) -> dict[str, Any]:
        each = [metrics.summarise(p, r, k) for p, r in zip(played, rows, strict=True)]
        merged = averaged(each)
        merged["solve_low"], merged["solve_high"] = stats.wilson(
            merged["solve_rate"] * len(self.length), len(self.length)
        )
        merged |= self._validated(name, k)
        head = {"agent": name, "task": self.recipe.task, "budget": budget, "seeds": len(each)}
        near = metrics.by_distance(rows[0], played[0], k)
        everywhere = metrics.by_distance(rows[0], played[0], k, solved_only=False)
        return {**head, **merged, "by_distance_solved": near, "by_distance": everywhere}

    def _validated(self, name: str, k: int) -> dict[str, float]:
        """Of fixed depths: how many validation instances they solve, so that the best is not chosen on the test set."""
        base, _, run = name.partition("@")
        if not base.startswith("fixed-"):
            return {}
        stored = f"{file_name(name, self._largest, 0)}-validation"
        rows = self.store.rows(stored)
        if rows is None:
            chosen_on = self._player(run or self.plan.run).validation
            assert chosen_on is not None
            rows = chosen_on.rows(base, self._largest)
            self.store.keep(stored, rows)
        return {"validation_solve_rate": float(metrics.within(rows, k).solved.sum() / self.plan.validation)}

    def _write_instances(self) -> None:
        ids = self.recipe.ids(self.drawn.variant.tolist(), self.drawn.number.tolist())
        self.store.write_table("instances.parquet", {"id": ids, "state": flat(self.starts), "length": self.length})

    def _write_episodes(self, played: dict[tuple[str, str], list[Episodes]]) -> None:
        columns: dict[str, list[Any]] = {n: [] for n in ("agent", "budget", "seed", "instance")}
        values: dict[str, list[NDArray[Any]]] = {f.name: [] for f in fields(Episodes)}
        for (name, budget), every in played.items():
            for seed, one in enumerate(every):
                count = len(one)
                columns["agent"] += [name] * count
                columns["budget"] += [budget] * count
                columns["seed"] += [seed] * count
                columns["instance"] += range(count)
                for f in fields(Episodes):
                    values[f.name].append(getattr(one, f.name))
        self.store.write_table("episodes.parquet", {**columns, **{k: np.concatenate(v) for k, v in values.items()}})

    def _say(self, text: str) -> None:
        if not self.quiet:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()


def file_name(agent: str, k: int, seed: int) -> str:
    """Of an agent's decisions."""
    base, _, run = agent.partition("@")
    other = f"-of-{Path(run).name}-{hashlib.sha256(run.encode()).hexdigest()[:8]}" if run else ""
    return f"{base}{other}@{k}" + (f"-s{seed}" if agents.seeds(base) > 1 else "")


def _base(name: str) -> str:
    return name.partition("@")[0]


def averaged(each: list[dict[str, Any]]) -> dict[str, Any]:
    """Figure by figure, over seeds; of shares, over the union of their keys; of figures that some lack, over the rest."""
    result: dict[str, Any] = {}
    for key in each[0]:
        values = [one[key] for one in each if one[key] is not None]
        if not values:
            result[key] = None
        elif isinstance(values[0], dict):
            names = sorted({n for v in values for n in v})
            result[key] = {n: sum(v.get(n, 0.0) for v in values) / len(values) for n in names}
        elif isinstance(values[0], int) and len(set(values)) == 1:
            result[key] = values[0]
        else:
            result[key] = sum(values) / len(values)
    return result


def compare(
    names: tuple[str, ...], budgets: dict[str, int], played: dict[tuple[str, str], list[Episodes]]
) -> list[dict[str, Any]]:
    """The first agent against each other one, on the same instances: differences with 95 % intervals."""
    found = []
    for budget in budgets:
        one = played[names[0], budget]
        for other_name in names[1:]:
            other = played[other_name, budget]
            solved = stats.bootstrap(per_instance(one, "solved") - per_instance(other, "solved"))
            actions = stats.bootstrap(per_instance(one, "actions") - per_instance(other, "actions"))
            single = len(one) == len(other) == 1
            found.append({
                "agent": names[0], "against": other_name, "budget": budget,
                "solve_difference": vars(solved), "actions_difference": vars(actions),
                "mcnemar_p": stats.mcnemar(one[0].solved, other[0].solved) if single else None,
                "dominates": bool(solved.mean >= 0 and actions.mean <= 0 and (solved.mean > 0 or actions.mean < 0)),
                "dominates_surely": bool(solved.low > 0 and actions.high < 0),
            })  # fmt: skip
    return found


def per_instance(played: list[Episodes], name: str) -> NDArray[np.float64]:
    """Means over seeds."""
    result: NDArray[np.float64] = np.mean([getattr(one, name).astype(np.float64) for one in played], axis=0)
    return result
