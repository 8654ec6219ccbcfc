"""A small ACT of LeRobot, random weights: with a fixed depth our queue gives its own queue's actions."""

from __future__ import annotations

import lerobot_act_alone  # noqa: F401  (before LeRobot)
import torch
from lerobot import __version__
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy

from recommit import horizon
from recommit.adapters.lerobot import AdaptiveQueue

DEPTH, SIZE = 3, 4


def policy():
    torch.manual_seed(0)
    state, env = (PolicyFeature(kind, (4,)) for kind in (FeatureType.STATE, FeatureType.ENV))
    inputs = {"observation.state": state, "observation.environment_state": env}
    outputs = {"action": PolicyFeature(FeatureType.ACTION, (2,))}
    shape = {"dim_model": 16, "n_heads": 2, "dim_feedforward": 16, "n_encoder_layers": 1, "n_decoder_layers": 1}
    config = ACTConfig(
        **shape,
        chunk_size=8,
        n_action_steps=DEPTH,
        use_vae=False,
        input_features=inputs,
        output_features=outputs,
        device="cpu",
    )
    return ACTPolicy(config)


def stream(player):
    """Actions of two episodes of seven steps."""
    generator, actions = torch.Generator().manual_seed(1), []
    for _ in range(2):
        player.reset()
        for _ in range(7):
            names = ("observation.state", "observation.environment_state")
            actions.append(player.select_action({n: torch.randn(SIZE, 4, generator=generator) for n in names}))
    return torch.stack(actions)


adaptive = AdaptiveQueue(policy(), horizon.Fixed(DEPTH))
ours, theirs = stream(adaptive), stream(policy())
assert torch.equal(ours, theirs), (ours - theirs).abs().max()
assert len(adaptive.decisions) == 2 * 3 * SIZE
consecutive = AdaptiveQueue(policy(), horizon.Consecutive(tolerance=0.5))
stream(consecutive)
assert len({look.h for look in consecutive.decisions}) > 1
print(f"lerobot {__version__}: equal to ACT's own queue")
