"""One evaluation: any set of agents on the same instances, under every budget.

    who plays            names, ``agent_names``; what each does, ``agents``; a model that was asked, ``transcripts``
    what is played       the test set that the data of the run fix, the same for everybody
    what is written      one row per decision, ``store``; then figures that are computed from rows and nothing else:
                         episodes (``metrics``), means and paired differences (``summaries``), words (``text``)

An agent is played once, under the largest budget: who does not know how many decisions are left does the same under a
smaller one, whose rows are the first of these. Agents of one policy whose plans are greedy share one graph of states,
so that each state is looked at once for all of them. What is in the folder is not played again.
"""

from __future__ import annotations

import re
import time
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import held_out
from recommit.evaluate import compute, gain, metrics, regrets, summaries, thresholds, transcripts
from recommit.evaluate.agent_names import ZERO_SHOT, AgentName, file_name, validation_name
from recommit.evaluate.agents import PolicyPlayer
from recommit.evaluate.spec import split_words
from recommit.evaluate.split import fresh, instances
from recommit.evaluate.store import LATER, flat
from recommit.graph.prices import Prices
from recommit.puzzles import registry
from recommit.runs.directory import recipe_of
from recommit.runs.ranks import Team
from recommit.storage.terminal_text import StatusLine, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from recommit.evaluate.metrics import EpisodeRows
    from recommit.evaluate.spec import EvaluationSpec
    from recommit.evaluate.store import EvaluationStore
    from recommit.rollout.episodes import DecisionRows


def decisions_of(budget: str, task: str) -> int:
    """K of ``loose``, ``tight`` or a number."""
    named = registry.puzzle(task).usual.budgets
    if budget in named:
        return named[budget]
    if budget.isdigit() and 1 <= int(budget) <= 64:
        return int(budget)
    raise ValueError(f"budgets: expected loose, tight or 1..64, got {budget}")


class Evaluation:
    """One call of ``recommit evaluate``, on every rank of a team. Only the lead has a folder to write."""

    def __init__(
        self,
        spec: EvaluationSpec,
        store: EvaluationStore | None,
        *,
        team: Team | None = None,
        again: bool = False,
        quiet: bool = False,
        anyway: bool = False,
    ) -> None:
        self.spec, self.team, self.quiet, self.anyway = spec, team or Team(), quiet, anyway
        self._store, self._again = store, again
        self.data = recipe_of(spec.run, spec.task)
        puzzle = self.data.puzzle()
        self.task = puzzle.to_the_end() if spec.whole_commitments else puzzle
        self.budgets = {name: decisions_of(name, self.data.task) for name in spec.budgets}
        self.drawn = instances.played(spec, self.data)
        self.starts = np.ascontiguousarray(self.drawn.states)
        self.length = self.task.distance(self.starts)
        self.rooms = held_out.rooms(self.data, self.starts)
        self.ids = self.data.ids(self.drawn.difficulty.tolist(), self.drawn.number.tolist())
        self._line = StatusLine(terminal_only=True, quiet=quiet or not self.team.is_main_process)
        self._players: dict[AgentName, PolicyPlayer] = {}
        self._budget_seen: dict[str, bool] = {}
        self._validation: NDArray[np.uint8] | None = None

    def run(self) -> list[dict[str, Any]]:
        """Play whoever has not been played; then the lead writes every figure. The summary, empty but for the lead."""
        if self.team.is_main_process:
            policies = self._policies()
            test_set = held_out.name(self.starts)
            fresh.judge(self.spec, self.store.folder, test_set, policies, again=self._again)
            self.store.begin({**self.spec.to_dict(), "test_set": test_set})
            self.store.same_policies(policies)
            self._write_instances()
        number = 0
        for policy, agents in by_policy(self.spec.agents, self.spec.run).items():
            for agent in agents:
                began, number = time.monotonic(), number + 1
                self._line.show(f"{number}/{len(self.spec.agents)} {agent} plays {len(self.starts):,} instances ...")
                self._play(agent)
                self._line.clear()
                short = re.sub(r"@.*[/\\]", "@", str(agent))
                self._say(f"{number}/{len(self.spec.agents)} {short}: {time.monotonic() - began:.1f} s")
            if self.team.is_main_process:
                self._keep_look(policy, agents)
            if self.spec.regret:
                self._keep_regrets(policy, agents)
            self._let_go(policy)
        return self._figures() if self.team.is_main_process else []

    def _keep_look(self, policy: AgentName, agents: list[AgentName]) -> None:
        """What a policy's look costs, if nobody was played now and the file of an earlier call is lost."""
        if any(agent.base != ZERO_SHOT for agent in agents) and str(policy) not in self.store.compute():
            self._player(policy)

    def _keep_regrets(self, policy: AgentName, agents: list[AgentName]) -> None:
        """What the commitments of a policy's agents cost, of those that have none yet."""
        asking = [agent for agent in agents if agent.asks_policy]
        own = [agent for agent in asking if regrets.has_regret(agent, self._head_depths(policy.run or self.spec.run))]
        began = time.monotonic()
        if own and regrets.keep(self._store, self.team, own, self._largest, partial(self._player, policy)):
            self._say(f"regret of {len(own)} agents: {time.monotonic() - began:.1f} s")

    def _head_depths(self, run: str) -> tuple[int, ...]:
        """What the depth head of a run's policy chooses from."""
        from recommit.policy.checkpoint import local_folder, read_config
        from recommit.policy.config import PolicyConfig

        return tuple(read_config(local_folder(run) / "config.json")["policy"].get("depths", PolicyConfig.depths))

    def _let_go(self, policy: AgentName) -> None:
        """Give a policy's memory back before the next one is loaded."""
        if policy in self._players:
            weights = compute.weights_held(self._players[policy].policy)
            del self._players[policy]
            compute.let_go(weights)

    def _policies(self) -> dict[str, str]:
        """What plays, by run: the files of its best policy, which further training may change."""
        from recommit.policy.checkpoint import local_folder, weights_of

        runs = {agent.run or self.spec.run for agent in self.spec.names if agent.base != ZERO_SHOT}
        return {run: weights_of(local_folder(run)) for run in sorted(runs)}

    @property
    def store(self) -> EvaluationStore:
        """The lead's folder."""
        assert self._store is not None
        return self._store

    @property
    def _largest(self) -> int:
        return max(self.budgets.values())

    @property
    def _every_budget(self) -> tuple[int, ...]:
        """K of each budget, once."""
        return tuple(sorted(set(self.budgets.values())))

    def _play(self, agent: AgentName) -> None:
        """Decisions under every budget, and those of fixed depths on validation instances too, unless they are
        stored."""
        for seed, k in product(range(agent.seeds), self._distinct(agent)):
            self._keep(file_name(agent, k, seed), partial(self._rows_of, agent, k, seed))
            if agent.depth:
                self._keep(validation_name(agent, k, seed), partial(self._rows_of, agent, k, seed, validation=True))
        if agent.swept:
            thresholds.keep(self._store, self.team, agent, self._every_budget, self._sweep)

    def _sweep(self, agent: AgentName, k: int) -> dict[str, Any]:
        return self._player(agent).sweep(agent, k)

    def _distinct(self, agent: AgentName) -> list[int]:
        """Budgets under which it plays differently."""
        return sorted({self._played(agent, k) for k in self._every_budget})

    def _played(self, agent: AgentName, k: int) -> int:
        """The budget whose decisions hold those under ``k``: the largest, of an agent to which budgets are all the
        same."""
        differs = agent.by_budget or (agent.asks_policy and self._sees_budget(agent.run or self.spec.run))
        return k if differs else self._largest

    def _sees_budget(self, run: str) -> bool:
        """Does its policy see how many decisions are left?"""
        from recommit.policy.checkpoint import local_folder, parse_config, read_config

        if run not in self._budget_seen:
            about = read_config(local_folder(run) / "config.json")
            self._budget_seen[run] = parse_config(about["policy"]).budget_conditioned
        return self._budget_seen[run]

    def _keep(self, name: str, play: Callable[[], DecisionRows]) -> None:
        """All ranks play what the lead does not have."""
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
        name = policy_of(agent, self.spec.run)
        if name not in self._players:
            if self._validation is None:
                self._validation = instances.chosen_on(self.spec, self.data)
            policy = compute.loaded(name, self.team.device, anyway=self.anyway, prices=self.spec.prices)
            if self.team.is_main_process:
                look = (policy, self.task, self.starts)
                self.store.keep_compute(str(name), partial(compute.measure, *look), partial(compute.timed, *look))
            player = partial(
                PolicyPlayer, policy, self.task, budget=self._largest, team=self.team, prices=self.spec.prices
            )
            chosen_on = player(starts=self._validation)
            self._players[name] = player(starts=self.starts, validation=chosen_on, budgets=self._every_budget)
        return self._players[name]

    def _figures(self) -> list[dict[str, Any]]:
        """Everything that is computed from decisions."""
        played: dict[tuple[str, str], list[EpisodeRows]] = {}
        summary, curves = [], {}
        for agent in self.spec.names:
            name = str(agent)
            for budget, k in self.budgets.items():
                every = [self._stored(agent, k, seed) for seed in range(agent.seeds)]
                played[name, budget] = [metrics.episodes(rows, self.length, k) for rows in every]
                head = {"agent": name, "task": self.data.task, "budget": budget, "seeds": len(every), **_model(agent)}
                head["uses"] = agent.uses
                if self.spec.played != split_words():
                    head["split"] = self.spec.played
                figures = summaries.row(every, played[name, budget], k, self.rooms, self.spec.edges, self.spec.prices)
                more = {**self._validated(agent, k), **thresholds.of_agent(self.store, agent, k)}
                summary.append({**head, **figures, **more})
            first = self._stored(agent, self._largest, 0)
            curves[name] = metrics.over_budgets(first, self.length, self._largest)
        same_plans = gain.plans_digests(self.spec.names, self.spec.run)
        gain.add(summary, played, self.rooms, self.spec.prices, same_plans)
        self.store.write_table("episodes.parquet", summaries.episode_columns(played))
        self.store.write_json("curves.json", curves)
        compared = summaries.compare(self.spec.agents, self.budgets, played, self.rooms, self.spec.prices)
        self.store.write_json("comparisons.json", compared)
        self.store.write_json("summary.json", summary)
        self.store.list_compute()
        self._say_what_is_missing()
        return summary

    def _say_what_is_missing(self) -> None:
        if older := sorted(self.store.older):
            warnings.warn(
                f"out: {len(older)} files of an older version, such as {older[0]}, hold no {' or '.join(LATER)}; "
                f"remove them, and the same command plays them again",
                stacklevel=2,
            )

    def _stored(self, agent: AgentName, k: int, seed: int) -> DecisionRows:
        rows = self.store.rows(file_name(agent, self._played(agent, k), seed))
        assert rows is not None
        return metrics.until_lost(rows) if self.spec.stop_on_deadlock else rows

    def _validated(self, agent: AgentName, k: int) -> dict[str, float]:
        """Count the validation instances that fixed depths solve, so that the best is not chosen on the test set."""
        if not agent.depth:
            return {}
        prices, solved, paid = self.spec.prices or Prices(), [], []
        for seed in range(agent.seeds):
            rows = self.store.rows(validation_name(agent, self._played(agent, k), seed))
            assert rows is not None
            now = rows.turn < k
            solved.append(float((rows.solved & now).sum()))
            paid.append(float(prices.cost(rows.executed[now]).sum()))
        count = len(solved) * self.spec.validation
        rate = {"validation_solve_rate": sum(solved) / len(solved) / self.spec.validation}
        return rate if self.spec.prices is None else {**rate, "validation_value": (sum(solved) - sum(paid)) / count}

    def _write_instances(self) -> None:
        columns: dict[str, Any] = {"id": self.ids, "state": flat(self.starts), "length": self.length}
        if self.rooms is not None:
            columns["room"] = self.rooms
        self.store.write_table("instances.parquet", columns)

    def _say(self, text: str) -> None:
        if self.team.is_main_process and not self.quiet:
            say(text)


def by_policy(agents: Iterable[str], own: str) -> dict[AgentName, list[AgentName]]:
    """Group agents by whose policy they ask, and how many views of a picture it has; those that name no run ask that of
    ``own``."""
    grouped: dict[AgentName, list[AgentName]] = {}
    for agent in map(AgentName.parse, agents):
        grouped.setdefault(policy_of(agent, own), []).append(agent)
    return grouped


def policy_of(agent: AgentName, own: str) -> AgentName:
    """A name without what the agent does: the same for all that can share what a policy has looked at."""
    return AgentName("", agent.run or own, agent.views)


def _model(agent: AgentName) -> dict[str, str]:
    """Who answered in a zero-shot run."""
    return {"model": transcripts.model(Path(agent.run))} if agent.base == ZERO_SHOT else {}
