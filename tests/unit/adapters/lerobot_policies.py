"""Small policies of LeRobot, random weights: with a fixed depth our queue gives the actions of their own queues."""

from __future__ import annotations

import torch
from lerobot import __version__
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.diffusion.modeling_diffusion import DiffusionPolicy

from recommit import horizon
from recommit.adapters.lerobot import AdaptiveQueue

DEPTH, SIZE = 3, 4
NAMES = {"observation.state": FeatureType.STATE, "observation.environment_state": FeatureType.ENV}
FEATURES = {
    "input_features": {name: PolicyFeature(kind, (4,)) for name, kind in NAMES.items()},
    "output_features": {"action": PolicyFeature(FeatureType.ACTION, (2,))},
    "device": "cpu",
}
#: Diffusion's queue is as long as what it predicts beyond its observations.
DEPTHS = {"act": DEPTH, "diffusion": 8 - 2 + 1}


def policy(name):
    torch.manual_seed(0)
    if name == "act":
        shape = {"dim_model": 16, "n_heads": 2, "dim_feedforward": 16, "n_encoder_layers": 1, "n_decoder_layers": 1}
        return ACTPolicy(ACTConfig(**shape, chunk_size=8, n_action_steps=DEPTH, use_vae=False, **FEATURES))
    small = {"down_dims": (16, 32), "diffusion_step_embed_dim": 16, "n_groups": 4, "num_inference_steps": 2}
    return DiffusionPolicy(DiffusionConfig(**small, horizon=8, n_obs_steps=2, n_action_steps=7, **FEATURES))


def stream(player, steps=9):
    """Actions of two episodes."""
    generator, actions = torch.Generator().manual_seed(1), []
    torch.manual_seed(2)
    for _ in range(2):
        player.reset()
        for _ in range(steps):
            actions.append(player.select_action({n: torch.randn(SIZE, 4, generator=generator) for n in NAMES}))
    return torch.stack(actions)


for name, depth in DEPTHS.items():
    adaptive = AdaptiveQueue(policy(name), horizon.Fixed(depth))
    ours, theirs = stream(adaptive), stream(policy(name))
    assert torch.equal(ours, theirs), (name, (ours - theirs).abs().max())
    assert len(adaptive.decisions) == 2 * -(-9 // depth) * SIZE
    consecutive = AdaptiveQueue(policy(name), horizon.Consecutive(tolerance=0.5))
    stream(consecutive)
    assert len({look.h for look in consecutive.decisions}) > 1, name
print(f"lerobot {__version__}: equal to the queues of ACT and Diffusion")
