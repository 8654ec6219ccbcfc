"""A fitted head in a real policy says what it said on the graph, whatever it reads."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.graph import build, files
from recommit.graph.score import GraphScorer
from recommit.policy import augmentations
from recommit.policy.backbones.random_init import make_backbone
from recommit.policy.config import DecoderConfig, PolicyConfig
from recommit.prices import Prices, Setting
from recommit.train import head as train_head
from recommit.train.head import METHODS
from recommit.train.heads import fitted, fitting, network
from recommit.train.heads.problem import ON_GRAPHS, HeadProblem
from recommit.train.options import HeadOptions

TASK = recommit.Sokoban(6, 1)


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    folder = make_backbone(tmp_path_factory.mktemp("backbone") / "tiny", "tiny")
    small = DecoderConfig(width=32, layers=1, heads=2, ffn=64)
    config = PolicyConfig(lora=None, prompts=("bare-v1", "bare-v1"), decoder=small, augmentations=2)
    return recommit.CommitPolicy.from_backbone(folder, config, seed=2).eval()


@pytest.fixture(scope="module")
def graph(policy):
    return build.build(policy, TASK, TASK.generate(30, seed=1).states, features=True)


def fit(graph, features, method="exact", depths=(1, 2, 4, 8), hidden=8):
    problem = HeadProblem.of(graph, depths, (3,), Prices(0.01, 0.01), features)
    head = fitting.fit(problem, problem, METHODS[method], 1, fitting.Extent(2), {"hidden": hidden, "lr": 0.05})
    noise = np.random.default_rng(0)
    weights = {name: value + noise.normal(0, 0.3, value.shape).astype("f") for name, value in head.weights.items()}
    level = replace(head, weights=weights).raw(problem.inputs[problem.rows]).mean(axis=0)
    return replace(head, weights={**weights, "offset": weights["offset"] - level})  # no depth is always the best


def copy_of(policy, tmp_path):
    return recommit.CommitPolicy.from_pretrained(policy.save_pretrained(tmp_path / "policy")).eval()


@pytest.mark.parametrize(("features", "hidden"), [*((each, 8) for each in ON_GRAPHS), ("z+confidence", 0)])
def test_the_policy_plays_what_the_head_says(policy, graph, tmp_path, features, hidden):
    head = fit(graph, features, depths=(1, 3, 8), hidden=hidden)
    own = copy_of(policy, tmp_path)
    network.replace_head(own, head)
    again = recommit.CommitPolicy.from_pretrained(own.save_pretrained(tmp_path / "with-head")).eval()
    assert again.config.depths == (1, 3, 8)
    nodes = np.flatnonzero(graph.planned)[:60]
    depths, plans = again.act(TASK, graph.states[nodes])
    judge = GraphScorer(graph, (Setting(3, Prices()),))
    expected = 1 + judge.rules.columns(fitted.rule(head, "it"))[nodes]
    scores = np.sort(head.raw(HeadProblem.of(graph, (1, 3, 8), (3,), Prices(), features).inputs[nodes]), axis=1)
    clear = scores[:, -1] - scores[:, -2] > 1e-3
    assert clear.mean() > 0.8
    assert len(np.unique(expected)) > 1
    assert (depths == expected)[clear].mean() > 0.95  # one view may turn by rounding
    assert np.array_equal(plans, graph.plans[nodes])
    wrong = replace(head, mean=head.mean + 3 * head.deviation)  # a planted defect
    network.replace_head(own, wrong)
    assert (own.act(TASK, graph.states[nodes])[0] == expected)[clear].mean() < 0.9


def test_what_does_not_fit_is_refused(policy, graph, tmp_path):
    own = copy_of(policy, tmp_path)
    with pytest.raises(ValueError, match="policy: expected a head that takes the largest of its numbers, got hazard"):
        network.replace_head(own, fit(graph, "z", "hazard"))
    wide = replace(graph, features=np.repeat(graph.features, 2, axis=1))
    with pytest.raises(ValueError, match="expected the one whose plans the graph has, of 64 numbers of z, got one of"):
        network.replace_head(own, fit(wide, "z"))


def test_a_policy_that_does_not_fit_is_refused_before_anything_is_fitted(policy, graph, tmp_path, monkeypatch):
    copy_of(policy, tmp_path)
    files.write(replace(graph, source={**graph.source, "policy": "another"}), tmp_path / "graph")
    monkeypatch.setattr(train_head, "best_of", lambda *_: pytest.fail("fitted"))
    given = {"graph": tmp_path / "graph", "out": tmp_path / "out", "policy": tmp_path / "policy", "updates": 1}
    with pytest.raises(ValueError, match=r"policy: expected the one whose plans the graph has \(another\), got"):
        train_head.train_head(HeadOptions(**given, method="exact"), print)
    for method in ("hazard", "verifier"):
        with pytest.raises(ValueError, match=f"policy: expected none with the method {method}, since"):
            HeadOptions(**given, method=method)


def test_a_graph_keeps_what_augmentations_say(policy, graph, tmp_path):
    nodes = np.flatnonzero(graph.planned)[:8]
    with torch.no_grad():
        z = policy.encode(TASK, graph.states[nodes])
        index = policy.task_index(TASK)
        apart = augmentations.plan_agreement(policy.decoder, z, index, policy.decoder.plans(z, index)[1])
    assert np.allclose(graph.disagreement[nodes], apart.numpy(), atol=1e-5)
    assert np.allclose(graph.features[nodes], z.mean(dim=1).numpy(), atol=1e-5)
    files.write(graph, tmp_path / "graph")
    again = files.read(tmp_path / "graph")
    assert np.array_equal(again.disagreement, graph.disagreement)
    assert files.content(replace(graph, disagreement=graph.disagreement + 1)) != files.content(graph)
    assert json.loads((tmp_path / "graph" / "manifest.json").read_text())["content"] == files.content(again)
    one = replace(graph, disagreement=None)
    with pytest.raises(ValueError, match="graph: expected one of several augmentations"):
        HeadProblem.of(one, (1, 2), (3,), Prices(), "z+agreement")
    with pytest.raises(ValueError, match="disagreement: expected the shape"):
        replace(graph, disagreement=graph.disagreement[:, 1:])
