"""What is executed at every tick, with every latency and mode: against a slow loop."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from tests.refusals import refused
from tests.unit.horizon.sweep import toy, twin

from recommit import horizon
from recommit.horizon.sweep.options import SweepOptions
from recommit.horizon.sweep.player import Player, read_plans
from recommit.horizon.sweep.slots import Copies, slots

SEEDS = [0, 3, 6, 7, 9]
CASES = [
    (latency, mode, hold) for latency in (0, 1, 2, 3) for mode in ("hold", "continue") for hold in ("zero", "last")
]


def depth_at(t: int) -> int:
    """In 3..4, which is allowed up to a latency of two; a rule reads t off the stamps."""
    return 3 + t % 2


@dataclass(frozen=True)
class ByTime(horizon.Rule):
    least: int = 1

    def propose(self, plans: horizon.Plans) -> Any:
        return np.maximum([depth_at(int(stamp) // 100) for stamp in plans.actions[:, 0, 1]], self.least)


def options(**given: Any) -> SweepOptions:
    return SweepOptions(out=Path("unused"), **given)


def seat(given: SweepOptions, policy: Any = None) -> tuple[Player, Copies]:
    places = slots(toy.make, given.batch)
    assert isinstance(places, Copies)
    return Player(given, places, policy or toy.Policy()), places


def traces(places: Copies) -> list[twin.Trace]:
    return [env.trace for env in places._envs]


def of_twin(given: SweepOptions, depth: Any) -> list[twin.Trace]:
    return [twin.episode(seed, depth, given.latency, given.mode, given.hold)[0] for seed in SEEDS]


@pytest.mark.parametrize(("latency", "mode", "hold"), CASES)
def test_every_tick_is_that_of_the_slow_loop(latency: int, mode: Any, hold: Any) -> None:
    given = options(latency=latency, mode=mode, hold=hold, batch=len(SEEDS))
    one, places = seat(given)
    for rule, depth in [(ByTime(), depth_at), (horizon.Fixed(3), lambda _: 3)]:
        if latency == 3 and mode == "continue" and depth is depth_at:
            continue  # three actions are left of a chunk
        played = one.play(rule, SEEDS)
        assert traces(places) == of_twin(given, depth)
        expected = [twin.outcome(seed, depth, given) for seed in SEEDS]
        assert [vars(each) for each in played.outcomes] == expected


@pytest.mark.parametrize("planted", ["nothing is stale", "the first chunk is stale", "asks when nothing is left"])
def test_the_slow_loop_notices(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = options(latency=2, mode="continue", batch=len(SEEDS))
    one, places = seat(given)
    part, wrong = horizon.Plans.part, slice(0, 4) if planted == "nothing is stale" else slice(-4, None)
    if "stale" in planted:
        monkeypatch.setattr(horizon.Plans, "part", lambda plans, rows, _=None: part(plans, rows, wrong))
    if planted == "asks when nothing is left":
        lead = SweepOptions.lead.fget
        monkeypatch.setattr(SweepOptions, "lead", property(lambda self: min(lead(self), 1)))
    one.play(ByTime(), SEEDS)
    assert traces(places) != of_twin(given, depth_at)


def test_a_batch_asks_only_for_those_that_need_it_and_plays_the_same_episodes() -> None:
    alone, together = (seat(options(batch=batch)) for batch in (1, len(SEEDS)))
    apart = [alone[0].play(ByTime(), [seed]).outcomes[0] for seed in SEEDS]
    assert together[0].play(ByTime(), SEEDS).outcomes == apart
    batches = together[0].policy.batches
    assert batches[0] == len(SEEDS)
    assert sum(batches) == sum(each.queries for each in apart)


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_a_vector_plays_the_same_episodes(mode: AutoresetMode) -> None:
    vector = slots(lambda: SyncVectorEnv([toy.make] * 6, autoreset_mode=mode), 1)
    one = Player(options(), vector, toy.Policy())
    assert vector.count == 6
    assert one.play(ByTime(), SEEDS).outcomes == seat(options(batch=5))[0].play(ByTime(), SEEDS).outcomes


def test_what_a_rule_reads_is_cut_like_the_actions() -> None:
    seen = []

    class Watch(horizon.Fixed):
        def propose(self, plans: horizon.Plans) -> Any:
            seen.append(plans)
            return super().propose(plans)

    class Rich(toy.Policy):
        def predict(self, observations: Any) -> Any:
            chunk = super().predict(observations)
            places = np.broadcast_to(np.arange(6.0), chunk.shape[:2])
            return {"actions": chunk, "samples": chunk[:, None] + 1, "entropies": places, "features": observations}

    one, _ = seat(options(latency=2, mode="continue"), Rich())
    one.play(Watch(3), [0])
    first, second = seen[:2]
    assert first.entropies.tolist() == [[0, 1, 2, 3]]
    assert second.entropies.tolist() == [[2, 3, 4, 5]]
    assert (second.samples[:, 0] == second.actions + 1).all()
    assert second.actions[0, 0, 1] == 302  # asked at tick 3, of which two places are stale
    assert second.previous.remaining.tolist() == [1]
    assert second.previous.actions[0, 0, 1] == 3  # the first chunk had four usable places; three ran


def test_a_rule_sees_the_policys_own_actions_and_the_environment_gets_finished_ones() -> None:
    class Finishes(toy.Policy):
        width = 2

        def finish(self, actions: Any) -> Any:
            return actions[:, : self.width] + 100  # of another tick by its stamp: there the rule says otherwise

    policy, given = Finishes(), options(batch=len(SEEDS))
    one, places = seat(given, policy)
    one.play(ByTime(), SEEDS)
    assert [[tuple(np.subtract(each, 100)) for each in trace] for trace in traces(places)] == of_twin(given, depth_at)
    policy.width = 1
    refused([(lambda: one.play(ByTime(), SEEDS), "actions: expected floats [N, H, 2]")])


def test_success_ends_an_episode_or_its_last_tick_decides() -> None:
    class Early(toy.Signal):
        def step(self, action: Any) -> Any:
            *rest, _ = super().step(action)
            return (*rest, {"success": np.float64(self.t == 4), "other": self.t > 5})

    def play(**given: Any) -> dict[str, Any]:
        return vars(Player(options(**given), slots(Early, 1), toy.Policy()).play(horizon.Fixed(2), [0]).outcomes[0])

    assert play() | {"total": 0} == {"success": True, "total": 0, "ticks": 4, "queries": 2, "stale": 0}
    assert play(stop="end") | {"total": 0} == {"success": False, "total": 0, "ticks": 12, "queries": 6, "stale": 0}
    assert play(success="other", stop="end")["success"]
    assert play(success="none")["success"] is None
    assert play(max_steps=3)["ticks"] == 3


def test_whoever_waits_does_what_the_policy_says() -> None:
    class Stays(toy.Policy):
        def idle(self, observations: Any) -> Any:
            return observations[:, 1:]

    one, places = seat(options(latency=2), Stays())
    one.play(horizon.Fixed(3), [0])
    assert places._envs[0].trace[:2] == [(0, 1), (1, 1)]


def test_policies_that_draw_are_played_again_and_streams_of_the_process_go_on() -> None:
    torch = pytest.importorskip("torch")

    class Draws(toy.Policy):
        def predict(self, observations: Any) -> Any:
            noise = random.random() + np.random.rand() + torch.rand(1).item()  # noqa: NPY002, TID251
            return super().predict(observations) + noise

    one, places = seat(options(), Draws())
    begun = []
    for seed in (1, 1, 2):
        before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002
        one.play(horizon.Fixed(2), [seed])
        assert before == (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())  # noqa: NPY002
        begun.append(places._envs[0].trace)
    assert begun[0] == begun[1] != begun[2]


def test_a_stream_that_begins_within_the_first_batch_begins_at_its_seed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy may import torch when it is asked first, in each process at another batch."""
    stream = np.random.RandomState(0)
    torch = SimpleNamespace(
        manual_seed=stream.seed,
        get_rng_state=stream.get_state,
        set_rng_state=stream.set_state,
        rand=stream.rand,
        cuda=SimpleNamespace(is_initialized=lambda: False),
    )
    monkeypatch.delitem(sys.modules, "torch", raising=False)

    class Late(toy.Policy):
        def predict(self, observations: Any) -> Any:
            monkeypatch.setitem(sys.modules, "torch", torch)
            return super().predict(observations) + torch.rand()

    one, places = seat(options(), Late())
    begun = []
    for _ in range(2):
        outcomes = one.play(horizon.Fixed(2), [1]).outcomes
        begun.append((places._envs[0].trace, outcomes))
    assert begun[0] == begun[1]


def test_what_policies_may_return() -> None:
    torch = pytest.importorskip("torch")
    chunk = np.arange(12.0).reshape(1, 6, 2)

    @dataclass
    class Said:
        actions: Any
        samples: Any
        unknown: str = "is left alone"

    samples = np.stack([chunk, chunk + 2], axis=1)
    for said in (chunk, torch.tensor(chunk), horizon.Plans(chunk), Said(chunk, samples), {"samples": samples - 1}):
        plans = read_plans(said)
        assert np.array_equal(plans.actions, chunk)
        assert (plans.samples is None) == (not isinstance(said, Said | dict))
    assert read_plans(torch.tensor(chunk, dtype=torch.bfloat16)).actions.dtype == np.float32
    assert read_plans(np.array([[0, 1]])).actions.tolist() == [[0, 1]]


def test_what_cannot_be_played_is_refused() -> None:
    late = lambda latency: seat(options(latency=latency, mode="continue"))[0].play(horizon.Fixed(1), [0])
    disabled = lambda: SyncVectorEnv([toy.make] * 2, autoreset_mode=AutoresetMode.DISABLED)
    only = toy.make()
    pole = Player(options(latency=1), slots(lambda: gymnasium.make("CartPole-v1"), 1), toy.Policy())
    pole.predict = lambda seen: horizon.Plans(np.zeros((len(seen), 4), int))  # type: ignore[method-assign]
    refused(
        [
            (lambda: late(4), "latency: expected at most 3 with mode continue, half of the 6 actions"),
            (lambda: seat(options(), 3), "policy: expected an object with predict(observations), got int"),
            (lambda: slots(disabled, 1), "got one with autoreset_mode DISABLED"),
            (lambda: slots(lambda: only, 2).reset([0, 1]), "batch is 2, got one environment twice"),
            (lambda: pole.play(horizon.Fixed(2), [0]), "hold: expected last, or a policy with idle"),
            (lambda: read_plans({"plan": np.zeros((1, 6, 2))}), "policy: expected chunks, or a mapping with `actions`"),
        ]
    )


def test_actions_that_the_environment_does_not_have_are_refused() -> None:
    """The pendulum reads the first of three torques, and a vector of one stretches what it gets."""
    box, discrete = gymnasium.spaces.Box(-2.0, 2.0, (1,), np.float32), gymnasium.spaces.Discrete(2)
    pair, whole = gymnasium.spaces.MultiDiscrete([3, 3]), np.zeros((2, 8), int)
    shown = "since the environment has Box(-2.0, 2.0, (1,), float32), got"
    rows = [
        (box, np.zeros((2, 8, 3)), f"actions: expected floats [N, H, 1], {shown} float64 [2, 8, 3]"),
        (box, horizon.Plans(np.zeros((2, 8, 3))), f"{shown} float64 [2, 8, 3]"),
        (box, whole, f"{shown} int64 [2, 8]"),
        (discrete, np.zeros((2, 8, 1)), "expected integers [N, H], since the environment has Discrete(2), got float64"),
        (pair, np.zeros((2, 8, 1)), "expected floats [N, H, 2]"),
        (pair, np.full((2, 8, 2), 0.5), "expected whole numbers, since the environment has MultiDiscrete"),
    ]
    refused([(lambda said=said, space=space: read_plans(said, space), words) for space, said, words in rows])
    vector = Player(options(), slots(lambda: gymnasium.make_vec("Pendulum-v1", 2), 1), toy.Policy())
    refused([(lambda: vector.predict([np.zeros(3)]), "actions: expected floats [N, H, 1]")])
    for space, said in [
        (box, np.zeros((2, 8, 1), np.float32)),
        (discrete, whole),
        (pair, np.ones((2, 8, 2))),
        (gymnasium.spaces.Box(-1.0, 1.0, ()), np.zeros((2, 8, 1))),
    ]:
        assert read_plans(said, space).horizon == 8


@pytest.mark.parametrize(
    ("space", "good", "bad"),
    [
        (gymnasium.spaces.Discrete(3), 2, 3),
        (gymnasium.spaces.Discrete(3, start=1), 3, 0),
        (gymnasium.spaces.MultiDiscrete([3, 9]), [2.0, 8.0], [3.0, 0.0]),
        (gymnasium.spaces.Box(0, 255, (1,), np.uint8), [255.5], [-1.0]),
        (gymnasium.spaces.Box(-1.0, 1.0, (1,)), [9.0], None),
    ],
)
def test_whole_numbers_that_the_environment_does_not_have_are_refused(space: Any, good: Any, bad: Any) -> None:
    """A table that is read at -1 gives its last row, and -1 as a byte is 255."""

    class Own(toy.Signal):
        action_space = space

        def step(self, action: Any) -> Any:
            return super().step(np.zeros(2) + np.ravel(action)[0])

    class Says(toy.Policy):
        def predict(self, observations: Any) -> Any:
            return np.array([[good, good, good if bad is None else bad]] * len(observations))

    one = Player(options(), slots(Own, 1), Says())
    assert one.play(horizon.Fixed(2), [0]).outcomes[0].ticks == 12, "what is not executed may be anything"
    if bad is not None:
        refused([(lambda: one.play(horizon.Fixed(3), [0]), "actions: expected those of the environment, which has")])
