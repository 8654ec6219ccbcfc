"""The same weights see, plan, lose and learn the same on a GPU as on a CPU.

In float32 to within rounding; in bfloat16 to within three times what bfloat16 itself costs on the CPU.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import recommit
from recommit.data import labels
from recommit.graph import episodes
from recommit.graph.build import PolicyGraph
from recommit.policy.config import DecoderConfig, PolicyConfig
from recommit.policy.policy import CommitPolicy
from recommit.prices import Prices
from recommit.rollout.rollout import Actor, rollout
from recommit.rollout.variants import variant
from recommit.train.config import TargetConfig
from recommit.train.grpo import advantages, reward
from recommit.train.grpo import loss as objective
from recommit.train.grpo.config import AdvantageConfig, ObjectiveConfig
from recommit.train.sft import loss, targets

#: Relative to the length of the vector: sums in another order, at most some tens of roundings one after the other.
ROUNDING = 1e-4
#: Logits whose best two are so close may be ordered either way.
TIE = 1e-3
TASKS = {"sliding": recommit.Sliding(3), "sokoban": recommit.Sokoban(6)}
TARGETS = TargetConfig(depths=(1, 2, 4, 8))
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@pytest.fixture(params=["sliding", pytest.param("sokoban", marks=pytest.mark.gpu)])
def task(request):
    return TASKS[request.param]


def policy_of(folder, dtype=torch.float32):
    """Heads and adapters that say something, since new ones say nothing."""
    policy = CommitPolicy.from_backbone(folder, PolicyConfig(decoder=DecoderConfig(64, 2, 4, 128)), dtype=dtype).eval()
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        for name, parameter in policy.named_parameters():
            if "lora_B" in name or name.startswith(("depth_head", "decoder.outputs")):
                parameter.normal_(std=0.2)
    return policy


@dataclass
class Pair:
    """The CPU's policy, the same on the other device, and how far apart their numbers may be."""

    here: CommitPolicy
    there: CommitPolicy
    limit: Any

    def check(self, numbers):
        """``numbers(policy)`` are close."""
        ours, theirs = numbers(self.here), numbers(self.there)
        far, limit = apart(theirs, ours), self.limit(numbers)
        assert far <= limit, f"{far:.3g} apart, expected at most {limit:.3g}"


def apart(one, other):
    """Length of the difference over the length of ``other``, the largest of several vectors' (in parts each)."""
    return max(_apart(a, b) for a, b in zip(one, other, strict=True))


def _apart(one, other):
    a, b = (torch.cat([t.detach().to("cpu", torch.float64).flatten() for t in each]) for each in (one, other))
    assert torch.isfinite(a).all()
    return float((a - b).norm() / b.norm())


def arrived(policy, device):
    """The same weights there."""
    return copy.deepcopy(policy).to(device)


@pytest.fixture(params=["bfloat16", pytest.param("float32", marks=pytest.mark.gpu)])
def pair(request, tiny, device):
    plain = policy_of(tiny)
    if request.param == "float32":
        return Pair(plain, arrived(plain, device), lambda _numbers: ROUNDING)
    here = policy_of(tiny, torch.bfloat16)
    limit = lambda numbers: 3 * apart(numbers(here), numbers(plain))
    return Pair(here, arrived(here, device), limit)


def states_of(task, count=8):
    return task.generate(count, seed=1, length=(4, 16)).states


def sft_numbers(task):
    """Loss and every gradient."""
    rows = targets.make(task, labels.label(task, states_of(task)), TARGETS, seed=0, first=0)

    def numbers(policy):
        policy.train_only(task, depth_head=False)
        value, _ = loss.sft_loss(policy, task, rows, TARGETS, loss.total_weight(rows, TARGETS))
        return [[value], gradients(policy, value)]

    return numbers


def gradients(policy, loss):
    policy.zero_grad()
    loss.backward()
    trained = [p for p in policy.parameters() if p.requires_grad]
    missing = [p.shape for p in trained if p.grad is None]
    assert not missing, f"no gradient: {missing}"
    return [p.grad for p in trained]


def decisions_of(policy, task):
    """What a step of reinforcement on the CPU would learn from."""
    kind, config = variant("adaptive"), AdvantageConfig(group_size=3)
    actor, starts = Actor(policy, task, kind, seed=2), states_of(task, 6)
    trace = rollout(actor, starts, 2, numbers=np.arange(6, dtype=np.uint64), candidates=3)
    own = advantages.in_groups(reward.by_state(trace, config, Prices()), scaled=True)
    return advantages.sampled_batch(trace, own, config, kind)


def grpo_numbers(task, batch):
    def numbers(policy):
        policy.train_only(task, depth_head=True)
        config = ObjectiveConfig(kl=0.0, clip=0.2)
        loss, measured = objective.grpo_loss(policy, task, batch, config, objective.total_weight(batch))
        return [[loss], [measured], gradients(policy, loss)]

    return numbers


def clear(scores):
    """[N, 8]: actions up to the first whose best two scores are as good as equal."""
    best = scores.float().topk(2, dim=-1).values
    return ((best[..., 0] - best[..., 1]) > TIE).long().cumprod(-1).bool().cpu().numpy()


def test_looks_depths_and_scores_of_plans(pair, task):
    actions = torch.from_numpy(np.random.default_rng(0).integers(0, 4, (8, 8)))
    pair.check(lambda policy: [[policy.encode(task, states_of(task))]])
    pair.check(lambda policy: [[logits] for logits in policy(task, states_of(task), actions)])


def test_the_loss_of_a_warm_start_and_its_gradients(pair, task):
    pair.check(sft_numbers(task))


def test_the_loss_of_reinforcement_and_its_gradients(pair, task):
    pair.check(grpo_numbers(task, decisions_of(pair.here, task)))


def test_plans(tiny, device, task):
    """Where no two actions are as good as equal."""
    here = policy_of(tiny)
    there, states = arrived(here, device), states_of(task, 64)
    plans = [policy.plan(task, states, (8,))[2][:, 0] for policy in (here, there)]
    with torch.no_grad():
        sure = clear(here.decoder.plans(here.encode(task, states), here.task_index(task))[1])
    assert sure.mean() > 0.5
    assert (plans[0] == plans[1])[sure].all()


def test_episodes(tiny, device, task):
    """The rows of an evaluation: equal for equal weights, where no choice on the way was as good as equal."""
    here = policy_of(tiny)
    there, starts = arrived(here, device), states_of(task, 48)
    graphs = [PolicyGraph(policy, task, policy.config.depths) for policy in (here, there)]
    played = [episodes.play(graph, graph.nodes(starts, 4), 4, episodes.head(graph)) for graph in graphs]
    ends, sure = ended(graphs[0], starts, 4)
    assert sure.mean() > 0.5
    assert (ends == ended(graphs[1], starts, 4)[0])[sure].all()
    for name in ("solved", "actions", "decisions"):
        one, other = (getattr(each, name)[sure] for each in played)
        assert (one == other).all(), name


def ended(graph, starts, budget):
    """The states in which the depth head's walks end, and which walks met no tie."""
    policy = graph.policy
    with torch.no_grad():
        z = policy.encode(graph.puzzle, graph.states)
        plans = clear(policy.decoder.plans(z, policy.task_index(graph.puzzle))[1]).all(-1)
    best = np.sort(graph.logits, axis=1)
    no_tie = plans & (best[:, -1] - best[:, -2] > TIE)
    at, sure = graph.nodes(starts), np.ones(len(starts), bool)
    for _ in range(budget):
        live = graph.planned[at]
        sure &= no_tie[at] | ~live
        at = np.where(live, graph.landing[at, graph.logits[at].argmax(axis=1)], at)
    return graph.states[at], sure


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("part", ["lora_B", "depth_head.weight"])
def test_a_weight_that_arrived_wrong_is_noticed(tiny, dtype, part):
    task, plain = TASKS["sliding"], policy_of(tiny)
    here = policy_of(tiny, DTYPES[dtype])
    wrong = copy.deepcopy(here)
    weight = next(weight for name, weight in wrong.named_parameters() if part in name)
    with torch.no_grad():
        weight.mul_(2.0 if dtype == "bfloat16" else 1.01)
    limit = (lambda numbers: 3 * apart(numbers(here), numbers(plain))) if dtype == "bfloat16" else (lambda _: ROUNDING)
    with pytest.raises(AssertionError, match="apart, expected at most"):
        Pair(here, wrong, limit).check(grpo_numbers(task, decisions_of(here, task)))


def test_another_plan_is_noticed(tiny, task, monkeypatch):
    def spoilt(policy, _device):
        other, plan = copy.deepcopy(policy), policy.plan
        other.plan = lambda *asked: (said := plan(*asked))._replace(plans=(said.plans + 1) % 4)
        return other

    monkeypatch.setitem(globals(), "arrived", spoilt)
    for check in (test_plans, test_episodes):
        with pytest.raises(AssertionError):
            check(tiny, torch.device("cpu"), task)
