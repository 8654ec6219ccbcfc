"""Snapshots: an environment that is not ours goes back bit for bit, a state that no snapshot holds is noticed, and
branches of a puzzle are worth what its commitment graph says."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.refusals import refused

from recommit import horizon, rng
from recommit.envs import NotRestored, SnapshotEnv, memory
from recommit.graph import files, values
from recommit.prices import Prices


class Arm:
    """What the environment holds besides itself."""

    def __init__(self) -> None:
        self.speed = 0.0


class Walk:
    """A point that keeps state in every way that Python has."""

    def __init__(self, hidden: Any = None) -> None:
        self.at, self.drift, self.ticks = np.zeros(2), 0.1, 0
        self.first = self.at[:1]  # the same memory
        self.arm, self.trail, self.recent = Arm(), [], deque(maxlen=3)
        self.places, self.counts = {0.0}, {"turns": [0]}
        self.np_random = np.random.default_rng(0)
        self.hidden = hidden

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self.np_random = np.random.default_rng(seed)
        self.at[:] = 0.0
        return self.at.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.arm.speed = 0.9 * self.arm.speed + float(action[0])
        self.drift *= 1.01
        self.ticks += 1
        self.counts["turns"][0] += 1
        self.at += [self.arm.speed, self.drift + 0.01 * self.np_random.random()]
        self.first += 0.001 * self.counts["turns"][0]
        self.trail.append(float(self.at[0]))
        self.recent.append(self.trail[-1])
        self.places.add(round(self.trail[-1]))
        turned = 0.0 if self.hidden is None else self.hidden.turn()
        reward = sum(self.trail) + sum(self.recent) + len(self.places) + turned
        return self.at.copy(), reward, False, self.ticks >= 40, {"success": self.at[0] > 60.0}


class Slots:
    """Cannot be looked into."""

    __slots__ = ("turns",)

    def __init__(self) -> None:
        self.turns = 0

    def turn(self) -> int:
        self.turns += 1
        return self.turns


class Counts(list[int]):
    """A container with an attribute besides its content."""

    turns = 0

    def turn(self) -> int:
        self.turns += 1
        return self.turns


class Part:
    """Has a slot besides its attributes."""

    __slots__ = ("__dict__", "turns")

    def __init__(self) -> None:
        self.turns, self.more = 0, 0

    def turn(self) -> int:
        self.turns, self.more = self.turns + 1, self.more + 1
        return self.turns


class Boxed:
    """Keeps its state in an array of objects."""

    def __init__(self) -> None:
        self.box = np.array([Counts(), None], object)

    def turn(self) -> int:
        return int(self.box[0].turn())


class Bound:
    """Keeps nothing but a method, whose object has the state."""

    def __init__(self) -> None:
        self.turn = Counts().turn


def actions(seed: int, count: int = 8) -> Any:
    return np.random.default_rng(seed).normal(size=(count, 1))


def planner(observation: Any) -> horizon.Plans:
    """Six actions that depend on what is observed."""
    return horizon.Plans(np.sin(np.arange(6.0)[None, :, None] + observation[0]) + 0.3)


def test_a_moment_comes_back_bit_for_bit_and_however_often() -> None:
    env = SnapshotEnv(Walk())
    env.reset(1)
    env.commit(actions(0))
    here = env.save()
    ends = []
    for _ in range(3):
        out = env.commit(actions(1))
        ends.append((*env.observation.tobytes(), out.reward, env.t, env.k, *env.env.recent))
        env.commit(actions(2))
        env.load(here)
    assert ends[0] == ends[1] == ends[2]
    env.check(actions(3))
    assert (env.t, env.k, env.left_out) == (8, 1, ())


class Partial:
    """Keeps nothing but a call with an object that has the state."""

    def __init__(self) -> None:
        self.turn = partial(Counts.turn, Counts())


@pytest.mark.parametrize("hidden", [Counts, Boxed, Bound, Partial])
def test_what_is_in_containers_and_behind_methods_comes_back_too(hidden: Any) -> None:
    env = SnapshotEnv(Walk(hidden()))
    env.reset(1)
    env.check(actions(0))
    assert env.left_out == ()


def test_tensors_and_their_generators_come_back_too() -> None:
    torch = pytest.importorskip("torch")

    class Tensors:
        def __init__(self) -> None:
            self.sum, self.generator = torch.zeros(1), torch.Generator()

        def turn(self) -> float:
            self.sum += torch.rand(1, generator=self.generator)
            return float(self.sum)

    env = SnapshotEnv(Walk(Tensors()))
    env.reset(1)
    env.check(actions(0))
    assert env.left_out == ()


def test_names_of_one_array_stay_names_of_one_array() -> None:
    env = SnapshotEnv(Walk())
    env.reset(1)
    here, at = env.save(), env.env.at
    env.commit(actions(0))
    env.env.at = np.ones(2)
    env.load(here)
    assert env.env.at is at
    assert np.shares_memory(env.env.first, at)
    assert at.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("hidden", [Slots, Part])
def test_what_no_snapshot_holds_is_noticed_and_named(hidden: Any) -> None:
    """The planted defect: a counter where nothing looks."""
    env = SnapshotEnv(Walk(hidden()))
    env.reset(1)
    message = rf"got reward .* and then .* 1 actions on; .*left out: .*\.{hidden.__name__}\)"
    with pytest.raises(NotRestored, match=message):
        env.check(actions(0))


@pytest.mark.parametrize("name", ["speed", "drift", "ticks"])
def test_a_scalar_left_out_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(target: Any, content: Any, fill: Any) -> Any:
        kept = content if not isinstance(content, dict) else {key: v for key, v in content.items() if key != name}
        if kept is content or len(kept) == len(content):
            return lambda: fill(target, content)
        return lambda: fill(target, {**kept, name: target[name]})

    monkeypatch.setattr(memory, "_filled", without)
    env = SnapshotEnv(Walk())
    env.reset(1)
    env.commit(actions(0, 32))
    with pytest.raises(NotRestored):
        env.check(actions(1))


def test_branches_leave_the_episode_as_it_is_and_are_what_it_would_come_to() -> None:
    base = horizon.Consecutive(0.8, first=2)
    env = SnapshotEnv(Walk(), budget=9)
    env.reset(4)
    env.commit(actions(5, 3))
    found = env.branch(planner, (1, 3, 6), base)
    here, plans = env.save(), planner(env.observation)
    for column, depth in enumerate(found.depths):
        env.load(here)
        queue = horizon.Queue(horizon.Fixed(depth))
        reward, k, t = 0.0, env.k, env.t
        while not env.over:
            queue.fill(planner(env.observation))
            depths = queue.decisions[-1].h
            reward += env.commit([queue.pop()[0] for _ in range(depths)]).reward
            queue.rule = base
        assert found.reward[0, column] == reward
        assert (found.queries[0, column], found.ticks[0, column]) == (env.k - k, env.t - t)
        assert found.success[0, column] == env.success
    env.load(here)
    assert np.array_equal(plans.actions, planner(env.observation).actions)
    assert found.values(0.1).tolist() == (found.success[0] - 0.1 * found.queries[0]).tolist()


def bumped(env: Any, action: Any, stream: Any) -> Any:
    env.felt.append(float(rng.uniform(stream, 0)[0]))
    return action + env.felt[-1]


def test_an_error_in_a_branch_leaves_the_episode_as_it_is() -> None:
    env, asked = SnapshotEnv(Walk()), iter(range(5))
    env.reset(1)
    env.commit(actions(0, 3))

    def failing(observation: Any) -> horizon.Plans:
        if next(asked) == 3:
            raise ConnectionError
        return planner(observation)

    with pytest.raises(ConnectionError):
        env.branch(failing, (1, 2), horizon.Fixed(3))
    assert (env.t, env.k, env.env.ticks) == (3, 1, 3)


def test_the_best_depth_is_the_deepest_of_equals_in_any_order_and_needs_to_know_of_success() -> None:
    env = SnapshotEnv(Walk(), max_steps=12)
    env.reset(1)
    for depths in ((2, 4, 6), (6, 4, 2), (4, 6, 2)):
        assert env.branch(planner, depths, horizon.Fixed(6)).best() == 6

    class Silent(Walk):
        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            return *super().step(action)[:4], {}

    env = SnapshotEnv(Silent(), max_steps=12)
    env.reset(1)
    found = env.branch(planner, (2, 4, 6), horizon.Fixed(6))
    assert found.reward.any()
    refused([(lambda: found.best(0.01), "whose info has success or is_success, got one that has neither")])


def test_episodes_without_a_seed_meet_other_disturbances_and_the_same_after_a_seed() -> None:
    met: list[float] = []

    def note(_: Any, action: Any, stream: Any) -> Any:
        met.append(float(rng.uniforms(stream, 1)[0, 0]))
        return action

    env = SnapshotEnv(Walk(), disturb=note)
    for seed in (None, None, 0, None, 0, None, 1, None):
        env.reset(seed)
        env.commit(actions(0, 1))
    assert met[2:4] == met[4:6]
    assert len({*met[:4], *met[6:]}) == 6


def test_all_depths_meet_the_same_future_and_the_episode_the_one_of_number_0() -> None:
    env = SnapshotEnv(Walk(), disturb=bumped, max_steps=20)
    env.env.felt = []
    env.reset(7)
    env.commit(actions(0, 4))
    here, felt = env.save(), {}
    for future in (0, 1, 2):
        for depth in (1, 5):
            env.load(here, future)
            env.commit(actions(1, depth))
            env.follow(planner, horizon.Fixed(3))
            felt[future, depth] = (env.env.felt[4:], env.env.np_random.random())
    shortest = min(len(each) for each, _ in felt.values())
    for future in (0, 1, 2):
        assert felt[future, 1][0][:shortest] == felt[future, 5][0][:shortest]
    assert len({tuple(felt[future, 1][0][:shortest]) for future in (0, 1, 2)}) == 3
    env.load(here)
    env.commit(actions(2, 3))
    assert env.env.felt[4:7] == felt[0, 1][0][:3]


def test_another_future_draws_the_generators_of_the_environment_again() -> None:
    env = SnapshotEnv(Walk())
    env.reset(7)
    here, drawn = env.save(), []
    for future in (0, 1, 1, 2, 0):
        env.load(here, future)
        drawn.append(env.env.np_random.random())
    assert drawn[0] == drawn[4]
    assert drawn[1] == drawn[2]
    assert len(set(drawn)) == 3


def test_a_query_takes_its_ticks_with_the_last_action_held() -> None:
    env = SnapshotEnv(Walk(), latency=3, hold=lambda last: [0.0] if last is None else [last[0] / 2], max_steps=10)
    env.reset(0)
    out = env.commit([[1.0], [1.0]])
    assert (out.executed, env.t, env.k) == (2, 5, 1)
    assert env.env.arm.speed == pytest.approx(1.9)
    out = env.commit([[1.0]] * 6)
    assert (out.executed, env.t, out.truncated, env.over) == (2, 10, True, True)


class Board:
    """A puzzle in the state of a graph's node."""

    def __init__(self, graph: Any) -> None:
        self.task, self.starts, self.state = graph.puzzle, graph.states, graph.states[0]

    def reset(self, seed: Any) -> tuple[Any, dict[str, Any]]:
        self.state = self.starts[seed]
        return self.state, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.state = self.task.step(self.state, int(action))
        won = bool(self.task.is_solved(self.state))
        return self.state, float(won), won, False, {"success": won}


def test_branches_of_a_puzzle_are_worth_what_the_graph_says() -> None:
    """Two ways to the same numbers: episodes played to their end, and the backup over the graph of every board."""
    graph, prices, budget = files.read("sliding-2x3"), Prices(0.0, 0.05), 4
    numbers, depths = graph.numbers(), (1, 2, 5, 8)

    def plan(state: Any) -> horizon.Plans:
        return horizon.Plans(graph.plans[[numbers[state.tobytes()]]])

    every = values.policy_values(graph, budget, np.full(len(graph), graph.column(3)), prices)
    env = SnapshotEnv(Board(graph), budget=budget)
    solved = []
    for node in graph.rows[:: len(graph.rows) // 40]:
        env.reset(node)
        found = env.branch(plan, depths, horizon.Fixed(3))
        columns = [graph.column(depth) for depth in depths]
        onward = every[budget - 1][graph.landing[node, columns]] - 0.05
        assert found.values(0.05) == pytest.approx(onward)
        assert found.best(0.05) == depths[max(i for i, each in enumerate(onward) if each > onward.max() - 1e-9)]
        solved += found.success.ravel().tolist()
    assert 0 < sum(solved) < len(solved)


def test_an_environment_holds_no_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_OBJECTS", 10)
    walk = Walk()
    walk.trail = [[] for _ in range(20)]
    refused([(SnapshotEnv(walk).save, "at most 10 objects")])
