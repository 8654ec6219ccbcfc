"""``lerobot-eval`` and ``recommit sweep`` on PushT with small saved policies of random weights: at a fixed depth the
plugin plays the actions of ``n_action_steps``, and queries are in ``eval_info.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from lerobot import __version__
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from lerobot.scripts import lerobot_eval

from recommit.cli import main

SIZES = {"observation.state": (FeatureType.STATE, 2), "observation.environment_state": (FeatureType.ENV, 16)}
FEATURES = {
    "input_features": {name: PolicyFeature(kind, (size,)) for name, (kind, size) in SIZES.items()},
    "output_features": {"action": PolicyFeature(FeatureType.ACTION, (2,))},
    "device": "cpu",
}
ACT = ACTConfig(
    dim_model=16, n_heads=2, dim_feedforward=16, n_encoder_layers=1, n_decoder_layers=1, chunk_size=8, n_action_steps=8,
    use_vae=False, **FEATURES,
)  # fmt: skip
DIFFUSION = DiffusionConfig(
    down_dims=(16, 32), diffusion_step_embed_dim=16, n_groups=4, num_inference_steps=2, horizon=8, n_obs_steps=2,
    n_action_steps=4, **FEATURES,
)  # fmt: skip
ENV = ["--env.type=pusht", "--env.obs_type=environment_state_agent_pos", "--env.episode_length=24"]
OURS = ["--policy.type=recommit", "--policy.device=cpu"]


def save(config):
    """As LeRobot's trainer leaves a policy; ACT's actions are spread, so that depths differ in what they reach."""
    torch.manual_seed(0)
    policy = get_policy_class(config.type)(config)
    if config.type == "act":
        policy.model.action_head.weight.data *= 20
    policy.save_pretrained(config.type)
    every = {name: size for name, (_, size) in SIZES.items()} | {"action": 2}
    spread = {"mean": 256.0, "std": 100.0, "min": 0.0, "max": 512.0}
    stats = {name: {key: torch.full((size,), value) for key, value in spread.items()} for name, size in every.items()}
    for processor in make_pre_post_processors(config, dataset_stats=stats):
        processor.save_pretrained(config.type)


actions, rollout = [], lerobot_eval.rollout


def recorded(**words):
    """LeRobot's own rollout; its actions are kept."""
    data = rollout(**words)
    actions.append(data["action"])
    return data


lerobot_eval.rollout = recorded  # before the plugin comes


def evaluated(*words):
    """Actions [episodes, ticks, 2], and the figures of the episodes and over them."""
    actions.clear()
    usual = ["--eval.n_episodes=3", "--eval.batch_size=2", "--eval.use_async_envs=false", "--output_dir=eval"]
    sys.argv = ["lerobot-eval", *ENV, *usual, *words]
    lerobot_eval.main()
    info = json.loads(Path("eval", "eval_info.json").read_text())
    return torch.cat(actions), info["per_task"][0]["metrics"], info["overall"].get("recommit")


for config, depth in ((ACT, 5), (DIFFUSION, 4)):
    save(config)
    base = [*OURS, f"--policy.base={config.type}"]
    theirs, _, none = evaluated(f"--policy.path={config.type}", f"--policy.n_action_steps={depth}")
    ours, played, figures = evaluated(*base, f"--policy.rule=fixed-{depth}")
    other, *_ = evaluated(*base, "--policy.rule=fixed-2")
    assert none is None
    assert torch.equal(ours, theirs), (config.type, (ours - theirs).abs().max())
    assert (other - theirs).abs().max() > 1, config.type
    assert played["queries"] == [-(-24 // depth)] * 3
    assert figures["effective_depth"] == [24 / -(-24 // depth)] * 3
    assert figures["success"][0] == 0.0 < figures["success"][2]
*_, drawn = evaluated(*base, "--policy.rule=disagreement", "--policy.threshold=1.2", "--policy.samples=3")
assert 1 < drawn["effective_depth"][0] < 7, drawn

for name in ("act", "diffusion"):
    words = ["--lerobot", name, *ENV, "--episodes", "2", "--validation", "1", "--batch", "2", "--thresholds", "1"]
    assert main(["sweep", *words, "--depths", "3", "7", "--quiet", "--out", f"sweep-{name}"]) == 0
    assert main(["sweep", "verify", f"sweep-{name}/card.json", "--lerobot", name, *ENV, "--episodes", "1"]) == 0
_, by_card, _ = evaluated(*OURS, "--policy.base=act", "--policy.rule=sweep-act/card.json")
assert by_card["queries"] in ([8] * 3, [4] * 3)
print(f"lerobot {__version__}: the plugin plays n_action_steps, counts queries, and sweeps")
