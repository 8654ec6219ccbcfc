"""Whole reinforcement runs: every kind of credit runs, what must not move does not, and runs end in the same bits."""

from __future__ import annotations

import json
import shutil
import signal
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import load_file

import recommit
from recommit.policy.checkpoint import local_folder
from recommit.policy.policy import CommitPolicy
from recommit.train import grpo, sft, trainer, validate
from recommit.train.config import parse
from recommit.train.engine import TorchEngine
from recommit.train.grpo_config import GrpoConfig, variant
from recommit.train.rollout import Actor, play
from recommit.train.rundir import RunDirectory, best_policy


@pytest.fixture(scope="module")
def init(plan, data, tmp_path_factory):
    """A warm start that plays a little."""
    out = tmp_path_factory.mktemp("init") / "run"
    longer = replace(plan, optim=replace(plan.optim, steps=40, batch=32, lr=3e-3, head_lr=3e-3))
    assert sft.train(replace(longer, run=replace(longer.run, save_every=40)), data, out, quiet=True) == 0
    return out


def plan_of(**changes):
    values = {
        "credit": {"group": "state", "size": 3, "reward": "total"},
        "objective": {"clip": 0.2, "kl": 0.05},
        "rollout": {"instances": 6, "budget": 3},
        "optim": {"steps": 4, "batch": 8, "lr": 1e-3, "vision_lr": 0.0, "head_lr": 1e-3, "depth_lr": 1e-2, "warmup": 0},
        "validation": {"instances": 6, "every": 2, "budget": 3},
        "run": {"save_every": 2, "log_every": 1, "threads": 1, "tensorboard": False},
    }
    for name, change in changes.items():
        values[name] = {**values.get(name, {}), **change} if isinstance(change, dict) else change
    return parse(GrpoConfig, values)


def lines(folder):
    read = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line for line in read if "loss" in line]


def weights(folder):
    found = {}
    for name in ("heads.safetensors", "backbone/model.safetensors"):
        found |= load_file(folder / name)
    return found


def moved(one, other):
    a, b = weights(one), weights(other)
    assert a.keys() == b.keys()
    return {name for name in a if not torch.equal(a[name], b[name])}


CREDITS = [
    {"group": "state", "reward": "mean"},
    {"group": "state", "reward": "total", "follow": "best", "scale": "none", "deadlock": "penalty"},
    {"group": "branch", "reward": "solved", "follow": "random", "deadlock": "terminate"},
    {"group": "episode", "reward": "spl", "scale": "batch"},
    {"group": "exact", "reward": "solved", "scale": "batch", "price_action": 0.002},
    {"group": "exact", "reward": "solved", "scale": "batch", "head_steps": 3},
]


@pytest.mark.parametrize("credit", CREDITS, ids=lambda c: f"{c['group']}-{c['reward']}-{c.get('head_steps', 0)}")
def test_every_credit_trains_both_heads_and_nothing_frozen(init, tmp_path, credit):
    out = tmp_path / "run"
    assert grpo.train(plan_of(credit=credit), init, out, quiet=True) == 0
    said = lines(out)
    assert [line["step"] for line in said] == [1, 2, 3, 4]
    assert all(np.isfinite(line["gradient_norm"]) for line in said)
    assert all(0 <= line["solve_rate"] <= 1 and 0 <= line["dead_groups"] <= 1 for line in said)
    assert sum(said[0]["depths"].values()) == pytest.approx(1, abs=1e-4)
    changed = moved(best_policy(init), out / "checkpoints" / "step-00000004" / "policy")
    assert {"depth_head.weight", "depth_head.bias", "decoder.prefix.weight", "decoder.outputs.0.weight"} <= changed
    assert not [name for name in changed if "visual" in name]
    assert "decoder.outputs.1.weight" not in changed, "the other task's"
    validated = json.loads((out / "best.json").read_text())["validation"]["solved"]
    assert set(validated) == {"adaptive", "sampled", "shuffled"}


@pytest.mark.parametrize("variant", ["adaptive", "fixed-2"])
def test_a_run_is_judged_by_all_of_its_budgets(init, tmp_path, variant):
    credit = {"group": "exact", "price_action": 0.01}
    finish = {"share": 0.25, "times": 1, "moves": 2, "budgets": [2, 4], "price": 0.03}
    given = plan_of(
        credit=credit, finish=finish if variant == "adaptive" else {**finish, "share": 0.0}, variant=variant
    )
    assert grpo.train(given, init, tmp_path / "run", quiet=True) == 0
    best = json.loads((tmp_path / "run" / "best.json").read_text())
    judged = best["validation"]["judged"]
    assert set(judged) == {"2", "4", str(given.validation.budget)}
    own, price = ("adaptive", 0.03) if variant == "adaptive" else ("2", 0.01)
    assert judged[str(given.validation.budget)] == best["validation"]["solved"][own]
    policy, recipe = CommitPolicy.from_pretrained(best_policy(tmp_path / "run")), grpo.recipe_of(init)
    starts = validate.instances(grpo._instances(recipe, given), given.validation).starts
    slow = [one_by_one(policy, recipe.puzzle(), starts, int(budget), given.variant) for budget in judged]
    assert [share for share, _ in slow] == pytest.approx(list(judged.values()), abs=1e-4)
    worth = np.mean([share - price * actions for share, actions in slow])
    assert best["score"][0] == pytest.approx(worth, abs=1e-5)


def one_by_one(policy, task, starts, budget, chosen):
    """Share solved and mean actions of greedy episodes, as slowly as can be."""
    solved, actions = 0, 0
    for start in starts:
        state, left = start[None], budget
        while left and not task.is_solved(state)[0]:
            depths, plan = policy.act(task, state, depth=variant(chosen).depth or None)
            done = task.execute(state, plan, depths)
            state, left, actions = done.states, left - 1, actions + int(done.executed[0])
        solved += bool(task.is_solved(state)[0])
    return solved / len(starts), actions / len(starts)


def test_the_reference_is_the_warm_start_bit_by_bit(init, tmp_path, monkeypatch):
    made = []
    whole = grpo.Grpo.__init__

    def noted(self, *arguments, **options):
        whole(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(grpo.Grpo, "__init__", noted)
    assert grpo.train(plan_of(), init, tmp_path / "run", quiet=True) == 0
    kept = made[0].reference._copy.state_dict()
    start = CommitPolicy.from_pretrained(best_policy(init)).state_dict()
    assert kept.keys() == start.keys()
    assert all(torch.equal(kept[name], start[name]) for name in kept)


@pytest.mark.parametrize("group", ["state", "exact"])
@pytest.mark.parametrize("name", ["fixed-2", "fixed-3", "random", "depth-only"])
def test_variants(init, tmp_path, name, group):
    out = tmp_path / "run"
    assert grpo.train(plan_of(variant=name, credit={"group": group}), init, out, quiet=True) == 0
    changed = moved(best_policy(init), out / "checkpoints" / "step-00000004" / "policy")
    depths = {depth for line in lines(out) for depth in line["depths"]}
    validated = set(json.loads((out / "best.json").read_text())["validation"]["solved"])
    if name == "depth-only":
        assert changed == {"depth_head.weight", "depth_head.bias"}
        assert validated == {"adaptive", "sampled", "shuffled"}
    elif name == "random":
        assert depths <= {"1", "2", "4", "8"}
        assert len(depths) == 4
        assert validated == {"uniform"}
    else:
        assert depths == {name[-1]} == validated
    if name != "depth-only":
        assert not {n for n in changed if n.startswith("depth_head")}
        assert "decoder.prefix.weight" in changed


@pytest.fixture(scope="module")
def straight(init, tmp_path_factory):
    out = tmp_path_factory.mktemp("grpo") / "straight"
    assert grpo.train(plan_of(), init, out, quiet=True) == 0
    return out


def same(one, other):
    for name in ("engine.safetensors", "policy/heads.safetensors", "policy/backbone/model.safetensors"):
        a, b = (load_file(folder / "checkpoints" / "step-00000004" / name) for folder in (one, other))
        assert a.keys() == b.keys()
        assert all(torch.equal(a[key], b[key]) for key in a), name
    for name in ("metrics.jsonl", "samples.jsonl"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_interrupted_runs_end_in_the_same_bits(init, straight, tmp_path, monkeypatch, stop):
    step = grpo.Grpo._step

    def interrupted(self):
        found = step(self)
        if self.at.step == stop:
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(grpo.Grpo, "_step", interrupted)
    assert grpo.train(plan_of(), init, tmp_path / "run", quiet=True) == 130
    monkeypatch.setattr(grpo.Grpo, "_step", step)
    torch.manual_seed(4321)
    assert grpo.train(plan_of(), init, tmp_path / "run", quiet=True) == 0
    same(straight, tmp_path / "run")


class Killed(BaseException):
    """Nothing in the trainer may catch it."""


@pytest.mark.parametrize(
    ("owner", "name"),
    [(grpo.Grpo, "_learn"), (TorchEngine, "step"), (trainer.Trainer, "_save")],
    ids=lambda v: str(v)[-12:],
)
def test_a_killed_run_goes_back_to_its_checkpoint(init, straight, tmp_path, monkeypatch, owner, name):
    whole, calls = getattr(owner, name), []

    def killed(*arguments, **options):
        calls.append(name)
        if len(calls) == 3 - (name == "_save"):
            raise Killed
        return whole(*arguments, **options)

    monkeypatch.setattr(owner, name, killed)
    with pytest.raises(Killed):
        grpo.train(plan_of(), init, tmp_path / "run", quiet=True)
    monkeypatch.setattr(owner, name, whole)
    assert grpo.train(plan_of(), init, tmp_path / "run", quiet=True) == 0
    same(straight, tmp_path / "run")


def test_micro_batches_make_the_same_step(init, tmp_path):
    plans = {n: plan_of(optim={"steps": 1, "batch": 8, "micro_batch": n}) for n in (0, 1, 3)}
    for size, plan in plans.items():
        assert grpo.train(plan, init, tmp_path / str(size), quiet=True) == 0
    start, first = weights(best_policy(init)), weights(tmp_path / "0/checkpoints/step-00000001/policy")
    names = [name for name in first if "k_proj.bias" not in name]  # has no gradient but rounding, which Adam blows up
    for size in (1, 3):
        other = weights(tmp_path / f"{size}/checkpoints/step-00000001/policy")
        far = sum(float((first[n] - start[n]).square().sum()) for n in names)
        apart = sum(float((first[n] - other[n]).square().sum()) for n in names)
        assert apart < 1e-4 * far
        one, two = (lines(tmp_path / str(n))[0]["gradient_norm"] for n in (0, size))
        assert one == pytest.approx(two, rel=1e-4)


def test_the_first_ratio_is_exactly_one(init, tmp_path):
    plan = plan_of(optim={"steps": 1, "batch": 4096})
    assert grpo.train(plan, init, tmp_path / "run", quiet=True) == 0
    assert lines(tmp_path / "run")[0]["furthest_ratio"] == 0.0
    several = plan_of(optim={"steps": 1, "batch": 2})
    assert grpo.train(several, init, tmp_path / "several", quiet=True) == 0
    assert lines(tmp_path / "several")[0]["furthest_ratio"] > 0.0


def test_gradients_that_are_not_finite_move_nothing_and_end_a_run(init, tmp_path, monkeypatch):
    from recommit.train import credit

    whole = credit.rewards
    monkeypatch.setattr(credit, "rewards", lambda *a, **k: whole(*a, **k) * np.nan)
    with pytest.raises(trainer.Diverged):
        grpo.train(plan_of(optim={"steps": 30}), init, tmp_path / "run", quiet=True)
    assert not list((tmp_path / "run" / "checkpoints").glob("step-*"))


def actor(init, name="adaptive", **options):
    policy = CommitPolicy.from_pretrained(best_policy(init)).eval()
    return Actor(policy, recommit.Sliding(2, 3), variant(name), seed=5, **options)


def test_samples_depend_on_their_counter_alone(init):
    task = recommit.Sliding(2, 3)
    states = task.generate(20, seed=1, length=(4, 14)).states
    number = np.arange(20, dtype=np.uint64)
    whole = actor(init).propose(states, 4, number)
    parts = [actor(init).propose(states[i : i + 1], 4, number[i : i + 1]) for i in range(20)]
    assert (np.concatenate([p.actions for p in parts]) == whole.actions).all()
    assert (np.concatenate([p.depth for p in parts]) == whole.depth).all()
    assert (actor(init).propose(states, 4, number + np.uint64(1)).actions != whole.actions).any()


def test_samples_follow_the_policy(init):
    """Frequencies of 4,096 samples against the probabilities that they are said to have."""
    given = actor(init)
    with torch.no_grad():
        given.policy.depth_head.bias.copy_(torch.tensor([0.0, 1.0, -1.0, 0.5]))
    state = recommit.Sliding(2, 3).generate(1, seed=2, length=9).states
    made = given.propose(np.repeat(state, 4, axis=0), 1024, np.arange(4, dtype=np.uint64))
    share = np.bincount(made.choice.ravel(), minlength=4) / made.choice.size
    for i in range(4):
        claimed = np.exp(made.depth_log[made.choice == i]).mean()
        assert share[i] == pytest.approx(claimed, abs=4 * float(np.sqrt(claimed / 4096)))
    first = np.bincount(made.actions[..., 0].ravel(), minlength=4) / 4096
    for i in np.flatnonzero(first):
        claimed = np.exp(made.action_log[..., 0][made.actions[..., 0] == i]).mean()
        assert first[i] == pytest.approx(claimed, abs=4 * float(np.sqrt(claimed / 4096)))


@pytest.mark.parametrize("name", ["adaptive", "fixed-5", "random"])
def test_episodes_replay_action_by_action(init, name):
    task = recommit.Sliding(2, 3)
    starts = task.generate(12, seed=4, length=(2, 10)).states
    trace = play(
        actor(init, name), starts, np.array([1, 2, 3] * 4), numbers=np.arange(7, 19, dtype=np.uint64), candidates=2
    )
    assert set(np.bincount(trace.episode)) <= {1, 2, 3}
    if name == "fixed-5":
        assert (trace.proposals.depth == 5).all()
    state = {i: starts[i] for i in range(12)}
    for row in range(len(trace)):
        who = trace.episode[row]
        assert (trace.states[row] == state[who]).all()
        for g in range(2):
            here, executed = trace.states[row], 0
            for action in trace.proposals.actions[row, g, : trace.proposals.depth[row, g]]:
                here = task.step(here[None], np.array([action], np.uint8))[0]
                executed += 1
                if task.is_solved(here[None])[0]:
                    break
            assert (trace.after[row, g] == here).all()
            assert trace.executed[row, g] == executed
            assert trace.progress[row, g] == task.distance(trace.states[row][None])[0] - task.distance(here[None])[0]
        state[who] = trace.after[row, 0]


def test_branches_go_on_from_where_their_candidates_end(init):
    """The reward of a branch is that of its whole play: never below its own success."""
    from recommit.train import credit
    from recommit.train.grpo_config import CreditConfig

    task = recommit.Sliding(2, 3)
    starts = task.generate(8, seed=4, length=(2, 10)).states
    config = CreditConfig(group="branch", reward="solved")
    trace = play(actor(init), starts, 3, numbers=np.arange(8, dtype=np.uint64), candidates=3)
    numbers = (1 << 20) + np.arange(3 * len(trace), dtype=np.uint64)
    after = play(actor(init), trace.after.reshape(-1, 2, 3), np.repeat(trace.left - 1, 3), numbers=numbers)
    reward = credit.by_branch(trace, after, config)
    assert (reward >= trace.solved).all()
    assert (reward.reshape(-1)[after.episode[after.solved[:, 0]]] == 1).all()
    solved = set(after.episode[after.solved[:, 0]]) | set(np.flatnonzero(trace.solved.reshape(-1)))
    assert reward.sum() == len(solved)


def test_the_head_alone_raises_the_return_and_moves_nothing_else(init):
    """Many moves on one graph: the program's own value grows, and state by state rather than by the mean."""
    from recommit.train import collect, exact
    from recommit.train.reach import Reach, softmax

    plan = plan_of(
        credit={"group": "exact", "reward": "solved", "scale": "batch", "head_steps": 60}, rollout={"budget": 4}
    )
    given = actor(init)
    task, before = given.task, {k: v.clone() for k, v in given.policy.state_dict().items()}
    starts = task.generate(24, seed=9, length=(4, 12)).states

    def graph(depths):
        return Reach(given.policy, task, depths, keep_inputs=True)

    reach = graph((1, 2, 4, 8))
    roots = reach.nodes(starts)
    exact.explore(reach, roots, 4, lambda r, n: softmax(r.logits[n]), 1000)
    first = exact.evaluate(reach, roots, softmax(reach.logits), 4, 0.0).value[4][roots].mean()
    collect.move_head(collect.Collector(given, plan, variant("adaptive"), graph, lambda: 0.02), reach, roots)
    last = exact.evaluate(reach, roots, softmax(reach.logits), 4, 0.0).value[4][roots].mean()
    assert last > first + 0.02
    after = given.policy.state_dict()
    assert {k for k in after if not torch.equal(after[k], before[k])} == {"depth_head.weight", "depth_head.bias"}
    z = torch.from_numpy(reach.inputs[reach.expanded])
    with torch.no_grad():
        assert torch.allclose(given.policy.depth_head(z), torch.from_numpy(reach.logits[reach.expanded]))


def test_head_steps_want_the_exact_program_in_one_process():
    with pytest.raises(ValueError, match=r"credit.head_steps: expected 0 unless"):
        plan_of(credit={"head_steps": 3})


FINISHED = {
    "head": {"reads": "plan", "hidden": 6},
    "finish": {"share": 0.5, "times": 3, "moves": 2, "lr": 0.01},
    "credit": {"group": "exact", "reward": "solved", "scale": "batch"},
}


def test_a_run_ends_with_the_head_alone_on_more_starts(init, tmp_path, monkeypatch):
    seen = []
    whole = grpo.Grpo._starts
    monkeypatch.setattr(grpo.Grpo, "_starts", lambda self: (seen.append(whole(self)), seen[-1])[1])
    plan = plan_of(**FINISHED, validation={"every": 1})
    out = tmp_path / "run"
    assert grpo.train(plan, init, out, quiet=True) == 0
    assert [len(starts) for starts in seen] == [6, 6, 18, 18]
    assert len({start.tobytes() for starts in seen for start in starts}) > 40
    middle, last = (out / "checkpoints" / f"step-0000000{n}" / "policy" for n in (2, 4))
    changed = moved(middle, last)
    assert changed == {f"depth_head.{name}" for name in ("weight", "bias", "hidden.weight", "hidden.bias")}
    assert CommitPolicy.from_pretrained(last).config.head == plan.head
    assert CommitPolicy.from_pretrained(best_policy(init)).config.head.hidden == 0
    assert not plan_of(**FINISHED, variant="fixed-2").finishing(3), "a fixed depth has no head to finish"


@pytest.mark.parametrize("stop", [1, 3])
def test_finished_runs_end_in_the_same_bits(init, tmp_path, monkeypatch, stop):
    assert grpo.train(plan_of(**FINISHED), init, tmp_path / "straight", quiet=True) == 0
    step = grpo.Grpo._step
    monkeypatch.setattr(
        grpo.Grpo,
        "_step",
        lambda self: (step(self), signal.raise_signal(signal.SIGINT) if self.at.step == stop else None)[0],
    )
    assert grpo.train(plan_of(**FINISHED), init, tmp_path / "run", quiet=True) == 130
    monkeypatch.setattr(grpo.Grpo, "_step", step)
    assert grpo.train(plan_of(**FINISHED), init, tmp_path / "run", quiet=True) == 0
    same(tmp_path / "straight", tmp_path / "run")


def test_finishing_wants_the_exact_program():
    with pytest.raises(ValueError, match=r"finish\.share: expected 0 unless"):
        plan_of(finish={"share": 0.1})
    with pytest.raises(ValueError, match=r"finish\.share: expected a share 0\.\.1 of the steps, got 5"):
        plan_of(**{**FINISHED, "finish": {"share": 5}})
    assert [plan_of(**FINISHED, optim={"steps": n}).joint_steps for n in (1, 2, 5)] == [0, 1, 2]


def test_budgets_of_the_exact_program():
    for budgets, group in (((0,), "exact"), ((2, -1), "exact"), ((2,), "state")):
        with pytest.raises(ValueError, match=r"credit\.budgets: expected numbers from 1 on with credit\.group exact"):
            plan_of(credit={"budgets": budgets, "group": group}, rollout={"budget": 3})
    assert plan_of(credit={"budgets": (1, 3), "group": "exact"}, rollout={"budget": 3}).credit.budgets == (1, 3)


@pytest.mark.parametrize(
    ("name", "value"),
    [("price_decision", 0.1), ("price_failed", True), ("deadlock", "penalty"), ("follow", "best")],
)
def test_the_exact_program_refuses_what_it_does_not_count(name, value):
    with pytest.raises(ValueError, match=rf"credit\.{name}: expected .* with credit\.group exact, .* got {value}"):
        plan_of(credit={"group": "exact", name: value})
    assert getattr(plan_of(credit={"group": "branch", name: value}).credit, name) == value


def test_the_finish_may_have_budgets_and_a_price_of_its_own():
    exact = {"group": "exact", "price_first": 0.001, "price_action": 0.005, "budgets": (2,)}
    given = {"credit": exact, "rollout": {"budget": 3}, "optim": {"steps": 5}}
    plan = plan_of(**given, finish={"share": 0.4, "budgets": (2, 3), "price": 0.002, "moves": 7})
    found = [plan.credit_at(step) for step in range(5)]
    assert [one.price_action for one in found] == pytest.approx([0.001, 0.002, 0.003, 0.002, 0.002])
    assert [one.budgets for one in found] == [(2,)] * 3 + [(2, 3)] * 2
    assert [one.head_steps for one in found] == [0, 0, 0, 7, 7]
    same = plan_of(**given, finish={"share": 0.4})
    assert [same.credit_at(step).price_action for step in (3, 4)] == pytest.approx([0.004, 0.005])
    assert same.credit_at(4).budgets == (2,)
    with pytest.raises(ValueError, match=r"finish\.budgets: expected numbers from 1 on"):
        plan_of(**given, finish={"share": 0.4, "budgets": (0,)})
    assert plan_of(finish={"budgets": (4,)}).finish.share == 0, "nothing finishes: a recipe's budgets do not matter"


def test_starts_are_mirrored_and_turned(tmp_path):
    from recommit.data import symmetry
    from recommit.data.recipe import Recipe, Variant
    from recommit.train.config import ModelConfig
    from recommit.train.ranks import Team
    from recommit.train.start import policy as new_policy

    recipe = Recipe(task="sokoban", size=(6, 6), variants=(Variant((3, 8), 1),), count=64)
    task = recipe.puzzle()
    made = new_policy(parse(ModelConfig, {"backbone": "random:tiny"}), tmp_path, 0, Team())

    def starts(augment, step=2):
        config = plan_of(
            rollout={"augment": augment, "instances": 32}, validation={"instances": 0}, objective={"kl": 0}
        )
        one = grpo.Grpo(config, made, recipe, RunDirectory(tmp_path / "run"), Team(), quiet=True)
        one.at.step = step
        return one._starts()

    plain, turned = starts(False), starts(True)
    assert np.array_equal(turned, starts(True))
    assert not np.array_equal(turned, plain)
    assert np.array_equal(symmetry.keys("sokoban", turned), symmetry.keys("sokoban", plain)), (
        "the same starts otherwise"
    )
    assert np.array_equal(task.distance(turned), task.distance(plain))
    assert 2 <= (turned == plain).all(axis=(1, 2)).sum() <= 16, "about one in eight as it was"


def test_a_family_trains_what_is_missing(init, tmp_path, monkeypatch):
    from recommit.train import family

    plans = {
        "adaptive": plan_of(optim={"steps": 1}),
        "fixed-2": plan_of(variant="fixed-2", optim={"steps": 1}, rollout={"instances": 8}),
    }
    began = []
    whole = grpo.train
    monkeypatch.setattr(grpo, "train", lambda c, *a, **k: (began.append((c.variant, c.run.seed)), whole(c, *a, **k))[1])
    assert family.train(plans, init, tmp_path, (0, 1), quiet=True) == 0
    assert began == [("adaptive", 0), ("fixed-2", 0), ("adaptive", 1), ("fixed-2", 1)]
    began.clear()
    fewer = {"fixed-2": plans["fixed-2"], "adaptive": plans["adaptive"]}
    assert family.train(fewer, init, tmp_path / "once", (3, 4), once=("fixed-2",), quiet=True) == 0
    assert began == [("adaptive", 3), ("adaptive", 4), ("fixed-2", 3)]
    newest = family.member(tmp_path, "fixed-2", 1) / "checkpoints" / "step-00000001"
    (newest / "engine.safetensors").write_bytes(b"torn")
    began.clear()
    assert family.train(plans, init, tmp_path, (0, 1), quiet=True) == 0
    assert began == [("fixed-2", 1)]
    other = {"adaptive": plan_of(optim={"steps": 1}, objective={"kl": 0.5})}
    with pytest.raises(ValueError, match=r"finished run, got another: objective\.kl was 0\.05, is 0\.5"):
        family.train(other, init, tmp_path, (0,), quiet=True)


def test_a_family_with_a_warm_start_per_seed(init, tmp_path):
    """Another one is refused, not mixed in; one that is gone by now is not asked for."""
    from recommit.train import family

    plans, other = {"adaptive": plan_of(optim={"steps": 1})}, tmp_path / "other"
    shutil.copytree(init, other)
    (local_folder(other) / "note.txt").write_text("another warm start")
    assert family.train(plans, {0: init, 1: other}, tmp_path / "runs", (0, 1), quiet=True) == 0
    begun = [
        json.loads((family.member(tmp_path / "runs", "adaptive", seed) / "config.json").read_text())["init"]
        for seed in (0, 1)
    ]
    assert begun == [grpo.weights_of(local_folder(folder)) for folder in (init, other)]
    assert begun[0] != begun[1]
    with pytest.raises(
        ValueError, match=r"adaptive-s0: expected a run from .*other, got one .* from another warm start"
    ):
        family.train(plans, other, tmp_path / "runs", (0, 1), quiet=True)
    shutil.rmtree(other)
    assert family.train(plans, {0: init, 1: other}, tmp_path / "runs", (0, 1), quiet=True) == 0


def test_a_run_goes_on_when_its_warm_start_is_gone(init, tmp_path, monkeypatch):
    step, plan = grpo.Grpo._step, plan_of(optim={"steps": 2})
    shutil.copytree(init, tmp_path / "warm")

    def interrupted(self):
        signal.raise_signal(signal.SIGINT)
        return step(self)

    with monkeypatch.context() as once:
        once.setattr(grpo.Grpo, "_step", interrupted)
        assert grpo.train(plan, tmp_path / "warm", tmp_path / "run", quiet=True) == 130
    shutil.rmtree(tmp_path / "warm")
    assert grpo.train(plan, tmp_path / "warm", tmp_path / "run", quiet=True) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective": {"ratio": "joint"}}, "objective.ratio: expected factor with variant fixed-4"),
        ({"rollout": {"actions": "greedy"}}, "rollout.actions: expected sampled with variant fixed-4"),
    ],
)
def test_a_variant_that_would_learn_nothing_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        plan_of(variant="fixed-4", **change)


def test_credit_changes_along_the_run():
    credit = plan_of(
        credit={"group": "exact", "head_steps": 5, "head_after": 0.5, "price_first": 0.001, "price_action": 0.005}
    ).credit
    prices = [credit.at(step, 5).price_action for step in range(5)]
    assert prices == pytest.approx([0.001, 0.002, 0.003, 0.004, 0.005])
    assert [credit.at(step, 5).head_steps for step in range(5)] == [0, 0, 5, 5, 5]
    assert plan_of().credit.at(3, 4) == plan_of().credit
    with pytest.raises(ValueError, match=r"credit.head_after: expected a share 0\.\.1 of the run, got 3"):
        plan_of(credit={"head_after": 3})
