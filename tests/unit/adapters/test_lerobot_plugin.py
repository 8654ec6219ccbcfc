"""LeRobot's plugin against stand-ins of what it imports; a nightly test has LeRobot's own evaluation."""

from __future__ import annotations

import importlib.util
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.refusals import refused
from tests.unit.adapters.chunk_policies import lerobot_policy

torch = pytest.importorskip("torch")

PLUGIN = Path(__file__).resolve().parents[3] / "python" / "lerobot-plugin" / "lerobot_policy_recommit.py"
#: Ticks of the episodes of two environments, batch by batch.
LENGTHS = [[2, 5], [6, 3]]


@dataclass
class PreTrainedConfig:
    device: str | None = None
    use_amp: bool = False
    use_peft: bool = False
    pretrained_path: Any = None
    pretrained_revision: str | None = None

    @classmethod
    def register_subclass(cls, name):
        return lambda kind: KNOWN.setdefault(name, kind)

    @classmethod
    def from_pretrained(cls, path, *, revision, cli_overrides):
        return Numbers(device="cpu", use_peft=path == "peft", threshold=(path, revision, cli_overrides))


@dataclass
class Numbers(PreTrainedConfig):
    threshold: Any = None
    chunk_size: int = 6
    type = "numbers"


class PreTrainedPolicy(torch.nn.Module, ABC):
    @abstractmethod
    def get_optim_params(self): ...
    @abstractmethod
    def select_action(self, batch): ...


def rollout(*, env, policy):
    policy.reset()
    for _ in range(max(env.lengths[0])):
        policy.select_action({"id": torch.arange(2), "task": ["push"] * 2})
    ticks = torch.arange(max(env.lengths[0]))
    return {"done": torch.stack([ticks >= length - 1 for length in env.lengths.pop(0)])}


def eval_policy_all(*, envs, policy, n_episodes):
    for env in envs:
        while env.lengths:
            EVAL.rollout(env=env, policy=policy)
    tasks = [{"metrics": {"successes": [True] * n_episodes}} for _ in envs]
    return {"per_task": tasks, "overall": {"pc_success": 100.0}}


KNOWN: dict[str, Any] = {}
EVAL = ModuleType("lerobot.scripts.lerobot_eval")
POLICIES = SimpleNamespace(from_pretrained=lambda path, config: lerobot_policy())  # noqa: ARG005


@pytest.fixture
def plugin(monkeypatch):
    """The module, as LeRobot's loader imports it."""
    vars(EVAL).update(rollout=rollout, eval_policy_all=eval_policy_all, eval_main=None)
    stand_ins = {
        "lerobot.configs": {"PreTrainedConfig": PreTrainedConfig},
        "lerobot.policies.pretrained": {"PreTrainedPolicy": PreTrainedPolicy},
        "lerobot.policies.factory": {"get_policy_class": lambda name: POLICIES if name == "numbers" else None},
    }
    for name in ("lerobot", "lerobot.policies", "lerobot.scripts"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for name, values in stand_ins.items():
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        vars(sys.modules[name]).update(values)
    monkeypatch.setitem(sys.modules, EVAL.__name__, EVAL)
    spec = importlib.util.spec_from_file_location(PLUGIN.stem, PLUGIN)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, PLUGIN.stem, module)
    spec.loader.exec_module(module)
    yield module
    KNOWN.clear()


def test_an_evaluation_counts_the_queries_of_each_episode_until_its_end(plugin):
    config = plugin.RecommitConfig(base="saved", rule="fixed-4")
    policy = plugin.RecommitPolicy.from_pretrained("saved", config=config)
    envs = [SimpleNamespace(lengths=[[*each] for each in LENGTHS]) for _ in range(2)]
    for _ in range(2):  # an evaluation counts its own episodes only
        for env in envs:
            env.lengths = [[*each] for each in LENGTHS]
        info = EVAL.eval_policy_all(envs=envs, policy=policy, n_episodes=3)
        assert [task["metrics"]["queries"] for task in info["per_task"]] == [[1, 2, 2]] * 2
        assert [task["metrics"]["ticks"] for task in info["per_task"]] == [[2, 5, 6]] * 2
        ours = info["overall"]["recommit"]
        assert ours["rule"] == "fixed-4"
        assert ours["success"] == pytest.approx([1.0, 0.61, 1.0], abs=0.01)
        assert ours["queries"][0] == pytest.approx(5 / 3)
        assert ours["effective_depth"][0] == pytest.approx(13 / 5)
        assert ours["effective_depth"][1] < 13 / 5 < ours["effective_depth"][2]
    assert "recommit" not in EVAL.eval_policy_all(envs=[], policy=lerobot_policy(), n_episodes=0)["overall"]


def test_its_configuration_is_of_the_policys_own_kind_too(plugin):
    config = KNOWN["recommit"](base="saved", rule="agreement", tolerance=0.5, device="cuda", pretrained_revision="v2")
    assert isinstance(config, Numbers)
    assert (config.type, config.saved.type, config.chunk_size, config.device) == ("recommit", "numbers", 6, "cpu")
    assert config.saved.threshold == ("saved", "v2", ["--device=cuda"])
    assert (str(config.pretrained_path), config.threshold) == ("saved", None)
    assert (config.made_rule().threshold, config.made_rule().tolerance) == (0.5, 0.5)
    assert plugin.RecommitConfig(base="saved", rule="agreement", threshold=0.8).made_rule().threshold == 0.8


def test_a_program_is_run_only_where_the_command_names_it(plugin, tmp_path, monkeypatch):
    (tmp_path / "depth_head.py").write_text("def rule(plans):\n    return 1 + (plans.actions[:, 0, 0] > 0)\n")
    config = plugin.RecommitConfig(base="saved", rule=str(tmp_path / "depth_head.py"))
    monkeypatch.setattr(plugin.horizon, "load", lambda _: config)
    card = plugin.RecommitConfig(base="saved", rule="card.json", threshold=0.5)
    refused(
        [
            (card.made_rule, "threshold: expected none with card.json, got 0.5"),
            (config.made_rule, "depth_head.py is a program"),
            (plugin.RecommitConfig, "base: expected --policy.base=PATH"),
            (lambda: plugin.RecommitConfig(base="peft"), "got a PEFT adapter"),
            (plugin.RecommitConfig(base="saved", rule="head").made_rule, "reads chunks alone, got head"),
            (plugin.RecommitConfig(base="saved", tolerance=0.5).made_rule, "tolerance: expected none with fixed-1,"),
            (config.get_optimizer_preset, "nothing to train"),
        ]
    )
    monkeypatch.setattr(sys, "argv", ["lerobot-eval", f"--policy.rule={config.rule}"])
    policy = plugin.RecommitPolicy.from_pretrained("saved", config=config)
    policy.select_action({"id": torch.arange(2), "task": ["push"] * 2})
    assert [look.h for look in policy.decisions] == [1, 2]
