"""H up to 16 from a warm start to a report: plans are as long as the deepest depth, and all that is made of them."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.refusals import refused
from tests.unit.train.runs import TINY, lines, plan_of

import recommit
from recommit.data import DataSpec, Difficulty, build
from recommit.evaluate import score
from recommit.evaluate.evaluation import evaluate
from recommit.evaluate.options import EvaluateOptions
from recommit.graph.build import build as build_graph
from recommit.policy.config import HeadConfig
from recommit.policy.policy import CommitPolicy
from recommit.prices import Prices
from recommit.report.reading import Folder
from recommit.runs.directory import best_policy
from recommit.train.config import SftConfig, parse
from recommit.train.grpo import trainer as grpo
from recommit.train.sft import trainer as sft
from recommit.watch.live import PolicyMatch
from recommit.watch.match import About, Played, ends, of_state

DEPTHS, LENGTH = [1, 2, 4, 8, 16], 16
TASK = recommit.Sliding(3)
STARTS = TASK.generate(6, seed=3, length=(16, 20)).states


def config_of(h=DEPTHS, **targets):
    policy = {**TINY["model"]["policy"], "depths": h}
    values = {**TINY, "model": {**TINY["model"], "policy": policy}, "targets": targets}
    config = parse(SftConfig, values)
    config = replace(config, optim=replace(config.optim, steps=2), run=replace(config.run, save_every=1))
    return replace(config, validation=replace(config.validation, every=2))


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """3x3 boards from which sixteen actions are needed."""
    folder = tmp_path_factory.mktemp("boards") / "data"
    build(DataSpec("sliding", (3, 3), (Difficulty((16, 22)),), count=60, ties="random"), folder)
    return folder


@pytest.fixture(scope="module")
def warm(boards, tmp_path_factory):
    out = tmp_path_factory.mktemp("long") / "warm"
    assert sft.train(config_of(), boards, out, quiet=True) == 0
    return out


@pytest.fixture(scope="module")
def trained(warm, tmp_path_factory):
    out = tmp_path_factory.mktemp("long") / "rl"
    assert grpo.train(rl(), warm, out, quiet=True) == 0
    return out


def rl(estimator="exact", **changes):
    """Two steps; a price of observations tells depths apart that solve nothing yet."""
    own = {"advantage": {"estimator": estimator}, "optim": {"steps": 2}, "run": {"save_every": 1}}
    return plan_of(**{**own, "prices": {"action": 0.001, "observation": 0.05}, **changes})


def policy_of(run):
    return CommitPolicy.from_pretrained(best_policy(run)).eval()


def step_by_step(policy, state):
    """The greedy plan, an action at a time, each from all before it."""
    plan: list[int] = []
    for _ in range(LENGTH):
        given = torch.tensor([[*plan, 0]])
        with torch.no_grad():
            _, scores = policy(TASK, state[None], given)
        plan.append(int(scores[0, len(plan)].argmax()))
    return plan


def test_a_warm_start_learns_all_places(warm):
    first, last = (CommitPolicy.from_pretrained(warm / "checkpoints" / f"step-{n:08}" / "policy") for n in (1, 2))
    moved = (first.decoder.positions != last.decoder.positions).any(dim=1)
    assert moved.tolist() == [True] * (1 + LENGTH), "the gradient comes to every place"
    assert len(json.loads((warm / "best.json").read_text())["validation"]["accuracy"]) == LENGTH


def test_plans_are_those_of_one_action_after_the_other(warm):
    policy = policy_of(warm)
    depths, plans = policy.act(TASK, STARTS)
    assert plans.shape == (len(STARTS), LENGTH)
    assert set(depths.tolist()) <= set(DEPTHS)
    assert plans.tolist() == [step_by_step(policy, state) for state in STARTS]


@pytest.mark.parametrize(
    ("estimator", "name"),
    [("state", "fixed-16"), ("branch", "adaptive"), ("episode", "random"), ("exact", "depth-only")],
)
def test_every_estimator_and_variant_trains_longer_plans(warm, tmp_path, estimator, name):
    config = {"variant": name, "optim": {"steps": 1}}
    if name == "depth-only":
        config |= {"head": {"features": "z+confidence", "hidden": 6}, "phases": [{"steps": 1, "head_updates": 2}]}
    assert grpo.train(rl(estimator, **config), warm, tmp_path / "rl", quiet=True) == 0
    (line,) = lines(tmp_path / "rl")
    assert np.isfinite(line["loss"])
    assert set(line["depths"]) <= set(map(str, DEPTHS))
    if name == "fixed-16":
        assert line["depths"] == {"16": 1.0}
    if name == "depth-only":
        assert policy_of(tmp_path / "rl").depth_head.inputs == 32 + 3 * LENGTH, "the confidence of every action"


AGENTS = ("fixed-16", "adaptive", "fixed-12-sampled", "random", "mixture", "oracle-dp", "adaptive-memory")
RULES = ("confidence-product", "disagreement", "repetition", "consecutive+memory")


@pytest.fixture(scope="module")
def evaluation(trained, tmp_path_factory):
    out = tmp_path_factory.mktemp("long") / "eval"
    asked = {"agents": (*AGENTS, *RULES), "instances": 5, "validation": 3, "budgets": ("3", "2")}
    assert {row["agent"] for row in evaluate(EvaluateOptions(trained, out, **asked))} == {*AGENTS, *RULES}
    return Folder(out)


def test_rows_are_played_again_by_their_actions_and_by_the_policy(evaluation, trained):
    policy, deepest = policy_of(trained), 0
    starts = np.array([np.frombuffer(state, np.uint8).reshape(3, 3) for state in evaluation.instances["state"]])
    for agent in evaluation.agents:
        (rows, *_), here = evaluation.decisions(agent), starts.copy()
        for i in np.lexsort((rows.instance, rows.turn)):
            state, depth = here[rows.instance[i]][None], int(rows.depth[i])
            plan = np.array([[int(rows.actions[i]) >> 2 * place & 3 for place in range(LENGTH)]], np.uint8)
            done = TASK.execute(state, plan, np.array([depth], np.int32))
            assert (done.executed[0], TASK.distance(done.states)[0]) == (rows.executed[i], rows.after[i])
            if not agent.samples_actions:
                assert plan[0].tolist() == policy.act(TASK, state).plans[0].tolist()
            if agent.name == "adaptive":
                assert depth == policy.act(TASK, state).depths[0]
            here[rows.instance[i]], deepest = done.states[0], max(deepest, depth)
        seen = rows.head_probs().any(axis=0)
        assert [d for d in range(1, 17) if seen[d - 1]] == DEPTHS
        assert rows.plan_probs_9.all()
    assert deepest == LENGTH


def test_a_report_shows_deep_commitments(evaluation):
    pytest.importorskip("matplotlib")
    from recommit.report.by_distance import depth_counts
    from recommit.report.episodes import pack
    from recommit.report.figures import depth_histogram

    packed = pack(evaluation, 3)
    assert packed["depths"] == DEPTHS
    place = [agent.name for agent in evaluation.agents if evaluation.decisions(agent)].index("fixed-16")
    assert {letter for one in packed["played"][place] for letter in one["h"]} == {"g"}, "16 in base 36"
    counts = depth_counts(evaluation)
    assert depth_histogram(counts).head[-1] == "h=16"


def test_a_match_is_played_and_kept(trained):
    policy = policy_of(trained)
    about = About("long", "", "sliding", policy.config.depths, 3, "")
    match = PolicyMatch(policy, about, Prices(0.01), lambda number: of_state("sliding", STARTS[number], ""))
    assert about.fixed == tuple(range(1, 17))
    level = match.level(0)
    for depth in (0, 16):
        played = match.episode(level, depth)
        assert {len(each.plan) for each in played.commitments} == {LENGTH}
        assert TASK.distance(np.stack(ends(level, played))).tolist() == list(played.distances)
        again = Played.unpacked(json.loads(json.dumps(played.packed())), len(DEPTHS))
        assert [(e.depth, e.executed, e.plan) for e in again.commitments] == [
            (e.depth, e.executed, e.plan) for e in played.commitments
        ]
    assert {each.depth for each in played.commitments} == {16}


def test_deep_commitments_are_scored_letter_by_letter(warm, tmp_path):
    policy = policy_of(warm)
    with torch.no_grad():
        policy.depth_head.bias[-1] = 1.0
    policy.save_pretrained(tmp_path / "deep")
    split = SimpleNamespace(task=TASK, starts=STARTS, length=TASK.distance(STARTS), prices=Prices())
    words = score.read_agent(str(tmp_path / "deep")).commitments(split, 2)
    first = ["".join("udlr"[action] for action in plan) for plan in policy.act(TASK, STARTS).plans]
    assert [level[0] for level in words] == first
    rows = score.replayed(split, 2, words)
    assert set(rows.depth.tolist()) == {LENGTH}
    assert rows.before[: len(STARTS)].tolist() == split.length.tolist()


def test_a_head_of_shallower_depths_shortens_plans(warm, tmp_path):
    before = policy_of(warm).act(TASK, STARTS).plans
    assert grpo.train(rl(depths=[1, 2, 12], optim={"steps": 1}), warm, tmp_path / "rl", quiet=True) == 0
    assert policy_of(tmp_path / "rl").decoder.length == 12
    policy = policy_of(warm)
    policy.replace_head(HeadConfig(), depths=(1, 2, 4))
    assert policy.act(TASK, STARTS).plans.tolist() == before[:, :8].tolist(), "its beginnings"
    policy.save_pretrained(tmp_path / "short")
    again = CommitPolicy.from_pretrained(tmp_path / "short").eval()
    assert again.act(TASK, STARTS).plans.tolist() == before[:, :8].tolist()


def test_what_goes_beyond_plans_is_refused_before_anything_is_played(warm, boards, tmp_path):
    policy, short = policy_of(warm), tmp_path / "short"
    assert sft.train(config_of([1, 2, 4, 8]), boards, short, quiet=True) == 0
    beyond = EvaluateOptions(short, tmp_path / "eval", agents=("adaptive", "fixed-16"), instances=2, validation=2)
    learn = lambda init, **changes: lambda: grpo.train(rl(**changes), init, tmp_path / "rl", quiet=True)
    imitate = lambda **targets: lambda: sft.train(config_of(**targets), boards, tmp_path / "run", quiet=True)
    refused(
        [
            (lambda: policy.act(TASK, STARTS, depth=17), "depth: expected 1..16, got 17"),
            (lambda: build_graph(policy, TASK, STARTS), "policy: expected plans of 8 actions, "),
            (imitate(paths="dataset"), "targets.paths: expected resample for plans of 16 actions"),
            (imitate(depths=[1, 2, 4, 8]), "targets.depths: expected 16 among them"),
            (learn(short, depths=[1, 16]), "depths: expected numbers 1..8, since "),
            (
                learn(short, variant="fixed-9"),
                "variant: expected fixed-1 to fixed-8, as long as plans are, got fixed-9",
            ),
            (learn(warm, depths=[1, 2, 12], variant="fixed-16"), "variant: expected fixed-1 to fixed-12"),
            (lambda: evaluate(beyond), "agents: expected fixed-1 to fixed-8, as long as plans are, got fixed-16"),
        ]
    )
    assert not list((tmp_path / "eval" / "decisions").iterdir())
    assert sft.train(config_of(depths=[16]), boards, tmp_path / "run", quiet=True) == 0, "one depth alone"
