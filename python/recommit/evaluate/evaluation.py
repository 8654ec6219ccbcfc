"""One evaluation: any set of agents on the same instances, under every budget.

    agents               names, ``agent_names``; behaviour, ``agents``; zero-shot models, ``transcripts``
    instances            the test set of the run's data, the same for all agents; ``played``
    results              one row per decision, ``store``; figures follow from these alone: episodes (``metrics``), means
                         and paired differences (``summaries``), tables (``text``)

Budget-unaware agents run once at the largest K; results for smaller K are prefixes. Agents of one policy with greedy
plans share one graph of states, so that each state passes the policy once. Stored decisions are not played again.
"""

from __future__ import annotations

import gc
import re
import time
import weakref
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from recommit.data import held_out
from recommit.evaluate import metrics, policy_plans, reported, summaries, text, transcripts
from recommit.evaluate.agent_names import ZERO_SHOT, AgentName, file_name, validation_name
from recommit.evaluate.agents import PolicyPlayer
from recommit.evaluate.family import FamilyResults, Members
from recommit.evaluate.options import split_words
from recommit.evaluate.store import COMPUTE, THRESHOLDS, EvaluationStore
from recommit.evaluate.tables import paper_tables
from recommit.policy.checkpoint import local_folder, parse_config, read_config, weights_of
from recommit.prices import Prices
from recommit.runs import distributed
from recommit.runs.directory import recipe_of
from recommit.runs.distributed import Team
from recommit.runs.process import torch_settings
from recommit.storage import verified
from recommit.storage.terminal_text import StatusLine, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from recommit.data.sampling import Starts
    from recommit.data.spec import DataSpec
    from recommit.evaluate.metrics import EpisodeRows
    from recommit.evaluate.options import EvaluateOptions
    from recommit.policy.config import PolicyConfig
    from recommit.policy.policy import CommitPolicy
    from recommit.rollout.decision_rows import DecisionRows


#: End of the error messages about a fresh split: the remedy.
_REMEDY = "; another folder of results has a fresh split of its own"


class Evaluated(NamedTuple):
    """Result of an evaluation: one summary row per agent and budget, and the tables as text."""

    rows: list[dict[str, Any]]
    text: str


def evaluate(options: EvaluateOptions, *, quiet: bool = True) -> list[dict[str, Any]]:
    """Run ``recommit evaluate`` from Python; returns one row per agent and budget, as in ``summary.json``. Restores
    the process's torch threads and global random streams afterwards."""
    result = evaluated(options, quiet=quiet)
    return [] if result is None else result.rows


def evaluated(options: EvaluateOptions, *, quiet: bool = False) -> Evaluated | None:
    """Play the agents and write rows, figures and tables into the folder; returns None on ranks other than 0."""
    members = None
    if options.paper:
        family = Members(options.run, options.seed, options.task)
        agents = paper_tables.agents_of(family, options.tables)
        options = replace(options, run=family.adaptive, agents=agents)
        members = family if family.task in reported.ABLATION else None  # the paper has no other puzzles
    recipe_of(str(options.run), options.task)  # an invalid run fails before the output folder is made
    team = distributed.meet(options.device)
    opened = EvaluationStore(options.out) if team.is_main_process else nullcontext()
    with torch_settings(options.threads, inference=True), opened as store:
        summary = Evaluation(options, store, team=team, quiet=quiet).run()
        if store is None:
            return None
        if members is None:
            return Evaluated(summary, paper_tables.write_plain(store, text.summary_text(summary, options.out)))
        return Evaluated(summary, paper_tables.write(store, FamilyResults(summary, members), options.tables))


class Evaluation:
    """Evaluation of agents on sampled instances, on every rank of a team. Only the main process writes a folder."""

    def __init__(
        self, options: EvaluateOptions, store: EvaluationStore | None, *, team: Team | None = None, quiet: bool = False
    ) -> None:
        self.options, self.team, self._store = options, team or Team(), store
        self.quiet = quiet or not self.team.is_main_process
        self.run_folder = str(options.run)
        self.data = recipe_of(self.run_folder, options.task)
        puzzle = self.data.puzzle()
        self.task = puzzle.to_the_end() if options.whole_commitments else puzzle
        self.budgets = {name: _decisions(name, puzzle.budgets(puzzle.shape)) for name in options.budgets}
        self.sampled = played(options, self.data)
        self.starts = np.ascontiguousarray(self.sampled.states)
        self.length = self.task.distance(self.starts)
        self.rooms = held_out.rooms(self.data, self.starts)
        self.ids = self.data.ids(self.sampled.difficulty.tolist(), self.sampled.number.tolist())
        self._players: dict[AgentName, PolicyPlayer] = {}
        self._configs: dict[str, PolicyConfig] = {}
        self._validation: NDArray[np.uint8] | None = None

    @property
    def store(self) -> EvaluationStore:
        """The results folder; main process only."""
        assert self._store is not None
        return self._store

    @property
    def _largest(self) -> int:
        return max(self.budgets.values())

    def run(self) -> list[dict[str, Any]]:
        """Play all agents without stored decisions; the main process then writes all figures. Returns the summary,
        empty on other ranks."""
        for agent in self.options.names:
            if agent.depth and agent.depth > (most := self._config(agent.run or self.run_folder).plan_length):
                raise ValueError(f"agents: expected fixed-1 to fixed-{most}, as long as plans are, got {agent}")
        if self.team.is_main_process:
            self._begin()
        number = 0
        for agents in self._by_policy():
            policy = self._policy_of(agents[0])
            for agent in agents:
                number += 1
                short = re.sub(r"@.*[/\\]", "@", str(agent))
                with self._timed(f"{number}/{len(self.options.agents)} {short}"):
                    self._play(agent)
            self._keep_cost(policy, agents)
            self._let_go(policy)
        return self._figures() if self.team.is_main_process else []

    def _by_policy(self) -> list[list[AgentName]]:
        grouped: dict[AgentName, list[AgentName]] = {}
        for agent in self.options.names:
            grouped.setdefault(self._policy_of(agent), []).append(agent)
        return list(grouped.values())

    def _begin(self) -> None:
        """Store the plan, the instances and digests of the policies, since further training may replace these."""
        runs = {agent.run or self.run_folder for agent in self.options.names if agent.base != ZERO_SHOT}
        policies = {run: weights_of(local_folder(run)) for run in sorted(runs)}
        test_set = held_out.name(self.starts)
        judge(self.options, self.store.folder, test_set, policies)
        self.store.begin({**self.options.plan(), "test_set": test_set})
        self.store.same_policies(policies)
        instances: dict[str, Any] = {"id": self.ids, "state": [state.tobytes() for state in self.starts]}
        instances["length"] = self.length
        instances |= {} if self.rooms is None else {"room": self.rooms}
        self.store.write_table("instances.parquet", instances)

    @contextmanager
    def _timed(self, words: str) -> Iterator[None]:
        line, began = StatusLine(terminal_only=True, quiet=self.quiet), time.monotonic()
        line.show(f"{words} plays {len(self.starts):,} instances ...")
        yield
        line.clear()
        if not self.quiet:
            say(f"{words}: {time.monotonic() - began:.1f} s")

    def _keep_cost(self, policy: AgentName, agents: list[AgentName]) -> None:
        """Measure and store the policy's compute per observation, also if only this entry is missing."""
        asked = any(agent.base != ZERO_SHOT for agent in agents)
        kept = self._store is not None and str(policy) in self._store.entries(COMPUTE)
        if not asked or self.team.from_main_process(kept):
            return
        gated = self._config(policy.run).head.gated
        player, states = self._player(policy) if gated else self._players.get(policy), self.starts
        if player and gated:  # its states differ in cost
            states = player.graph.states[player.observe()]
        if self.team.is_main_process:
            loaded = player.policy if player else self._loaded(policy)
            self.store.keep_entry(COMPUTE, str(policy), policy_plans.measure(loaded, self.task, states))

    def _loaded(self, name: AgentName) -> CommitPolicy:
        """Load a run's policy with the thinking rounds and symmetry augmentations of the name, its head conditioned on
        the evaluation's prices."""
        from recommit.policy.policy import CommitPolicy

        policy: CommitPolicy = CommitPolicy.from_pretrained(local_folder(name.run), device=self.team.device).eval()
        if name.augmentations:
            policy.replace_augmentations(name.augmentations, name.distance)
        if name.rounds:
            policy.replace_rounds(name.rounds)
        if self.options.prices is not None:
            policy.replace_prices(self.options.prices)
        return policy

    def _let_go(self, policy: AgentName) -> None:
        """Free a policy's memory before the next one is loaded; garbage is collected only if reference cycles keep its
        modules alive, since that searches all objects."""
        if policy in self._players:
            weights = weakref.ref(self._players[policy].policy.backbone.model)
            del self._players[policy]
            if weights() is not None:
                gc.collect()
            torch.cuda.empty_cache()

    def _policy_of(self, agent: AgentName) -> AgentName:
        """The agent's name without its base: the same for all agents that share the outputs of one policy."""
        return replace(agent, base="", run=agent.run or self.run_folder)

    def _play(self, agent: AgentName) -> None:
        """Play an agent, unless its decisions are stored, once per budget that changes them; fixed depths also on
        validation instances. Sweep its threshold, if it has one."""
        every = sorted(set(self.budgets.values()))
        for seed, k in product(range(agent.seeds), sorted({self._played(agent, k) for k in every})):
            self._keep(file_name(agent, k, seed), partial(self._rows_of, agent, k, seed))
            if agent.depth:
                self._keep(validation_name(agent, k, seed), partial(self._rows_of, agent, k, seed, validation=True))
        for k in every if agent.swept else ():
            name = file_name(agent, k, 0)
            if not self.team.from_main_process(self._store is not None and name in self._store.entries(THRESHOLDS)):
                entry = self._player(agent).sweep(agent, k)
                if self._store is not None:
                    self._store.keep_entry(THRESHOLDS, name, entry)

    def _played(self, agent: AgentName, k: int) -> int:
        """Budget whose decisions include those under ``k``: the largest for budget-unaware agents, else ``k``."""
        run = agent.run or self.run_folder
        differs = agent.by_budget or (agent.asks_policy and self._config(run).budget_conditioned)
        return k if differs else self._largest

    def _config(self, run: str) -> PolicyConfig:
        """Configuration of a run's best policy, read without its weights."""
        if run not in self._configs:
            self._configs[run] = parse_config(read_config(local_folder(run) / "config.json")["policy"])
        return self._configs[run]

    def _keep(self, name: str, play: Callable[[], DecisionRows]) -> None:
        """Play on all ranks, unless the main process has the rows stored."""
        if self.team.from_main_process(self.team.is_main_process and self.store.rows(name) is not None):
            return
        rows = play()
        if self.team.is_main_process:
            self.store.keep(name, rows)

    def _rows_of(self, agent: AgentName, k: int, seed: int, *, validation: bool = False) -> DecisionRows:
        if agent.base == ZERO_SHOT:
            return transcripts.rows(Path(agent.run), self.task, self.ids, self.starts, k)
        player = self._player(agent)
        chosen = player.validation if validation else player
        assert chosen is not None
        return chosen.rows(agent.base, k, seed)

    def _player(self, agent: AgentName) -> PolicyPlayer:
        name, options = self._policy_of(agent), self.options
        if name not in self._players:
            if self._validation is None:
                self._validation = chosen_on(options, self.data)
            player = partial(
                PolicyPlayer, self._loaded(name), self.task, budget=self._largest, team=self.team, prices=options.prices
            )
            validation = player(starts=self._validation)
            if any(each.swept and self._policy_of(each) == name for each in options.names):
                validation.observe()  # before all others, so that thresholds do not depend on earlier agents
            self._players[name] = player(starts=self.starts, validation=validation)
        return self._players[name]

    def _figures(self) -> list[dict[str, Any]]:
        """Compute all figures from stored decisions and write them; returns the summary."""
        prices, summary = self.options.prices, []
        difficulties = self.data.of_length(self.options.length).difficulty_names
        played: dict[tuple[str, str], list[EpisodeRows]] = {}
        for agent, (budget, k) in product(self.options.names, self.budgets.items()):
            every = [self._stored(file_name(agent, self._played(agent, k), seed)) for seed in range(agent.seeds)]
            one = played[str(agent), budget] = [metrics.episodes(rows, self.length, k) for rows in every]
            figures = summaries.row(every, one, k, self.rooms, self.options.edges, prices)
            figures["by_difficulty"] = summaries.by_difficulty(one, self.sampled.difficulty, difficulties)
            if agent.swept:
                figures["threshold"] = self.store.entries(THRESHOLDS)[file_name(agent, k, 0)]["threshold"]
            summary.append({**self._about(agent, budget), **figures, **self._validated(agent, k)})
        episodes, priced = summaries.episode_columns(played), prices is not None
        rows = summaries.table(episodes, self.rooms, prices)
        plans = policy_plans.plans_digests(self.options.names, self.run_folder)
        summaries.add_gain_shares(summary, rows, priced=priced, plans=plans)
        compared = summaries.compare(self.options.agents, self.budgets, rows, priced=priced)
        self.store.write_table("episodes.parquet", episodes)
        self.store.write_json("comparisons.json", compared)
        self.store.write_json("summary.json", summary)
        if costs := self.store.entries(COMPUTE):  # also those of an earlier call, so that the digest is listed
            self.store.write_json(COMPUTE, costs)
        return summary

    def _about(self, agent: AgentName, budget: str) -> dict[str, Any]:
        """Leading fields of a summary row: agent, task, budget, seeds, compute, inputs and split."""
        picture = {}
        cost = self.store.entries(COMPUTE).get(str(self._policy_of(agent)), {})
        if agent.base == ZERO_SHOT:
            picture = transcripts.about(Path(agent.run))
        elif agent.asks_policy and "cell" in cost:
            picture = {"cell": cost["cell"], "mflops": cost["flops" if agent.asks_head else "plan_flops"] / 1e6}
        head = {"agent": str(agent), "task": self.data.task, "budget": budget, "seeds": agent.seeds, **picture}
        words = split_words(self.options.split, self.options.fresh)
        return {**head, "uses": agent.uses, **({} if words == split_words() else {"split": words})}

    def _stored(self, name: str) -> DecisionRows:
        rows = self.store.rows(name)
        assert rows is not None
        return metrics.until_lost(rows) if self.options.stop_on_deadlock else rows

    def _validated(self, agent: AgentName, k: int) -> dict[str, float]:
        """Validation solve rate (and value) of a fixed depth, so that the best is not chosen on the test set."""
        if not agent.depth:
            return {}
        prices, solved, paid = self.options.prices or Prices(), [], []
        for seed in range(agent.seeds):
            rows = metrics.within(self._stored(validation_name(agent, self._played(agent, k), seed)), k)
            solved.append(float(rows.solved.sum()))
            paid.append(float(prices.cost(rows.executed).sum()))
        count = len(solved) * self.options.validation
        rate = {"validation_solve_rate": sum(solved) / len(solved) / self.options.validation}
        if self.options.prices is None:
            return rate
        return {**rate, "validation_value": (sum(solved) - sum(paid)) / count}


def _decisions(budget: str, named: Mapping[str, int]) -> int:
    """Decisions K of a budget: ``loose``, ``tight`` or a number."""
    if budget in named:
        return named[budget]
    if budget.isdigit() and 1 <= int(budget) <= 64:
        return int(budget)
    raise ValueError(f"budgets: expected loose, tight or 1..64, got {budget}")


def played(options: EvaluateOptions, data: DataSpec) -> Starts:
    """Instances that the agents play and figures are computed on."""
    if options.fresh:
        return held_out.fresh(data, options.fresh, options.instances, options.length)
    if options.split == "validation":
        return _validation(options, data).where(slice(None, options.instances))
    return held_out.starts(data, options.split, options.instances, options.length)


def chosen_on(options: EvaluateOptions, data: DataSpec) -> NDArray[np.uint8]:
    """Validation instances for choosing thresholds and depths; disjoint from ``played``."""
    if options.split != "validation":
        return np.ascontiguousarray(held_out.starts(data, "validation", options.validation, options.length).states)
    return np.ascontiguousarray(_validation(options, data).states[options.instances :])


def _validation(options: EvaluateOptions, data: DataSpec) -> Starts:
    return held_out.starts(data, "validation", options.instances + options.validation, options.length)


def judge(options: EvaluateOptions, evaluation: Path, test_set: str, policies: dict[str, str]) -> None:
    """Refuse a fresh split other than that of the evaluations beside this one, or a policy that one of them has
    evaluated on it: each policy is evaluated once on a fresh split."""
    if not options.fresh:
        return
    split = {"fresh": options.fresh, "instances": options.instances, "length": list(options.length)}
    split["test_set"] = test_set
    for other in sorted(path.parent for path in evaluation.parent.glob("*/policies.json")):
        plan = verified.values(other, "plan.json", {"run": str})
        if other == evaluation or not plan.get("fresh"):
            continue
        if differing := [name for name in split if plan.get(name) != split[name]]:
            expected = ", ".join(f"{name} {plan.get(name)}" for name in differing)
            got = ", ".join(str(split[name]) for name in differing)
            raise ValueError(f"fresh: expected the split of {other}, {expected}, got {got}{_REMEDY}")
        if verified.values(other, "policies.json").get(plan["run"]) == policies.get(str(options.run), ""):
            raise ValueError(
                f"fresh: expected a policy that was not judged yet, got {options.run.name}, which {other} has "
                f"judged{_REMEDY}"
            )
