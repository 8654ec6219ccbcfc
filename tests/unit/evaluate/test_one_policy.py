"""However many runs an evaluation compares, one policy is in memory at a time."""

from __future__ import annotations

import shutil
import weakref

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("pyarrow")

from recommit.evaluate.evaluation import Evaluation
from recommit.evaluate.options import EvaluateOptions
from recommit.evaluate.store import EvaluationStore
from recommit.policy import checkpoint
from recommit.policy.policy import CommitPolicy

BASES = ("adaptive", "shuffled", "fixed-2-sampled", "mixture", "oracle-dp")


@pytest.fixture(scope="module")
def runs(run, tmp_path_factory):
    """Three, each with a head of its own."""
    folder = tmp_path_factory.mktemp("three")
    for number in range(3):
        shutil.copytree(run, folder / str(number))
        policy = CommitPolicy.from_pretrained(folder / str(number))
        torch.manual_seed(number)
        torch.nn.init.normal_(policy.depth_head.weight)
        policy.save_pretrained(checkpoint.local_folder(folder / str(number)))
    return [str(folder / str(number)) for number in range(3)]


def play(runs, out):
    """Every agent of every run in turn, so that the order of the plan would need all of them at once."""
    agents = tuple(base if run == runs[0] else f"{base}@{run}" for base in BASES for run in runs)
    with EvaluationStore(out) as store:
        options = EvaluateOptions(runs[0], out, agents, instances=6, validation=4, budgets="3")
        Evaluation(options, store, quiet=True).run()
    return {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}


@pytest.fixture
def backbones(monkeypatch):
    """Of every policy that is loaded; and how many of the earlier ones lived when the next was asked for."""
    seen, others, load = [], [], checkpoint.load_policy

    def watched(*a, **k):
        others.append(sum(one() is not None for one in seen))
        policy = load(*a, **k)
        seen.append(weakref.ref(policy.backbone))
        return policy

    monkeypatch.setattr("recommit.policy.policy.load_policy", watched)
    return seen, others


def test_one_policy_at_a_time_and_the_rows_of_the_plans_own_order(runs, backbones, tmp_path, monkeypatch):
    grouped = play(runs, tmp_path / "grouped")
    seen, others = backbones
    assert others == [0] * 3
    assert not any(one() for one in seen)
    monkeypatch.setattr(Evaluation, "_let_go", lambda *_: None)
    monkeypatch.setattr(Evaluation, "_by_policy", lambda self: [[name] for name in self.options.names])
    others.clear()
    assert play(runs, tmp_path / "planned") == grouped
    assert others == list(range(3)), "without letting go all of them would be there"
