"""LeRobot's ``--policy.type=recommit``: any saved policy, queried again when a rule says so.

    lerobot-eval --policy.type=recommit --policy.base=PATH --policy.rule=fixed-8 --env.type=pusht

LeRobot imports this module because of its distribution's name. An evaluation writes queries and effective depths into
``eval_info.json``: of each episode below ``per_task``, means with 95 % intervals below ``overall``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from lerobot.configs import PreTrainedConfig
from lerobot.policies.pretrained import PreTrainedPolicy

from recommit import horizon
from recommit.adapters.lerobot import AdaptiveQueue, load
from recommit.horizon import rule_registry
from recommit.results import intervals
from recommit.results.table import bounds


@PreTrainedConfig.register_subclass("recommit")
@dataclass
class RecommitConfig(PreTrainedConfig):
    """A saved policy, and the rule that says how much of its chunks to execute.

    Args:
        base: The saved policy, a folder or a name on the hub; its processors are used too.
        rule: fixed-8 or another name of ``recommit.horizon.rule_registry``; the card.json of a sweep, for what it
            recommends; or a file.py that defines ``rule``, such as a learned head.
        threshold: The rule's threshold, where it has one.
        tolerance: How far apart actions may be that a rule takes for the same.
        samples: Further chunks to draw at each query, for rules that compare them.
    """

    base: str = ""
    rule: str = "fixed-1"
    threshold: float | None = None
    tolerance: float | None = None
    samples: int = 0

    observation_delta_indices = action_delta_indices = reward_delta_indices = None

    def __post_init__(self) -> None:
        """Become a configuration of the policy's own kind too: LeRobot asks for that of some, such as GR00T."""
        if not self.base:
            raise ValueError("base: expected --policy.base=PATH, a saved policy, got none")
        words = [f"--{name}={getattr(self, name)}" for name in ("device", "use_amp") if getattr(self, name)]
        saved = PreTrainedConfig.from_pretrained(self.base, revision=self.pretrained_revision, cli_overrides=words)
        if saved.use_peft:
            raise ValueError("base: expected a policy with its adapter merged (merge_and_unload), got a PEFT adapter")
        own = {name: getattr(self, name) for name in (*RecommitConfig.__annotations__, "pretrained_revision")}
        self.__dict__.update({**vars(saved), **own, "saved": saved, "pretrained_path": Path(self.base)})
        self.__class__ = type("RecommitConfig", (type(self), type(saved)), {"__module__": __name__})

    @property
    def type(self) -> str:
        return "recommit"

    def get_optimizer_preset(self) -> Any:
        raise TypeError("recommit has nothing to train: train the policy of --policy.base")

    get_scheduler_preset = validate_features = get_optimizer_preset

    def made_rule(self) -> horizon.Rule:
        """The rule with its numbers. A file of Python is run only where the command line itself names it."""
        path = Path(self.rule)
        numbers = {name: value for name in ("threshold", "tolerance") if (value := getattr(self, name)) is not None}
        if path.suffix == ".json":
            named = rule_registry.NamedRule(self.rule, horizon.load(path))
        elif path.suffix == ".py":
            told = {self.rule, f"--policy.rule={self.rule}"}.intersection(sys.argv)
            named = rule_registry.from_code(path, trusted=bool(told))
        else:
            named = rule_registry.named(self.rule)
        if named.rule is None or named.memory:
            raise ValueError(f"rule: expected one that reads chunks alone, got {self.rule}")
        if wrong := [name for name in numbers if path.suffix == ".json" or name not in vars(named.rule)]:
            raise ValueError(f"{wrong[0]}: expected none with {self.rule}, got {numbers[wrong[0]]}")
        return replace(named.rule, **numbers)


class RecommitPolicy(AdaptiveQueue, PreTrainedPolicy):
    """The saved policy with a queue for each environment."""

    config_class, name = RecommitConfig, "recommit"

    def __init__(self, config: Any, policy: Any) -> None:
        super().__init__(policy, config.made_rule(), samples=config.samples)
        self.config = config

    @classmethod
    def from_pretrained(cls, pretrained_name_or_path: Any, *, config: Any, **kwargs: Any) -> RecommitPolicy:
        """Load the policy of ``config.base``."""
        return cls(config, load(pretrained_name_or_path, config.saved, **kwargs))

    def get_optim_params(self) -> Any:
        return self.policy.get_optim_params()


def _measured(module: Any) -> None:
    """Let LeRobot's evaluation count queries and report them: it asks no policy for figures of its own."""
    rollout, evaluate = module.rollout, module.eval_policy_all
    played: dict[int, list[tuple[int, int]]] = {}  # of each environment, queries and ticks of its episodes

    def counted(*, env: Any, policy: Any, **others: Any) -> Any:
        data = rollout(env=env, policy=policy, **others)
        if isinstance(policy, RecommitPolicy):
            ticks = (data["done"].int().argmax(dim=1) + 1).tolist()  # it goes on until the last episode is over
            queries = [0] * len(ticks)
            for look in policy.decisions:
                queries[look.environment] += look.t < ticks[look.environment]
            policy.decisions.clear()
            played.setdefault(id(env), []).extend(zip(queries, ticks, strict=True))
        return data

    def measured(*, policy: Any, n_episodes: int, **others: Any) -> Any:
        played.clear()
        info = evaluate(policy=policy, n_episodes=n_episodes, **others)
        if isinstance(policy, RecommitPolicy):
            tasks = [task["metrics"] for task in info["per_task"]]
            for metrics, own in zip(tasks, played.values(), strict=True):
                metrics["queries"], metrics["ticks"] = map(list, zip(*own[:n_episodes], strict=True))
            names = ("successes", "queries", "ticks")
            won, queries, ticks = (np.concatenate([metrics[name] for metrics in tasks]) for name in names)
            figures = info["overall"]["recommit"] = {"rule": policy.config.rule}
            figures["success"] = [*bounds(intervals.share(won))]
            figures["queries"] = [*bounds(intervals.mean(queries))]
            figures["effective_depth"] = [*bounds(intervals.ratio(ticks, queries))]
        return info

    module.rollout, module.eval_policy_all = counted, measured


for _module in (sys.modules.get("__main__"), sys.modules.get("lerobot.scripts.lerobot_eval")):
    if _module and hasattr(_module, "eval_policy_all") and hasattr(_module, "eval_main"):
        _measured(_module)
