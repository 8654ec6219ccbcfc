"""``lerobot-eval`` and ``recommit sweep`` on PushT with small saved policies of random weights, whose kinds are the
arguments: at a fixed depth the plugin plays the actions of ``n_action_steps``, and queries are in ``eval_info.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch
from lerobot import __version__
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from lerobot.policies.smolvla.configuration_smolvla import SmolVLAConfig
from lerobot.scripts import lerobot_eval
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    SmolVLMConfig,
    SmolVLMImageProcessor,
    SmolVLMProcessor,
    SmolVLMVideoProcessor,
)

from recommit.cli import main

SIZES = {"observation.state": (FeatureType.STATE, (2,)), "observation.environment_state": (FeatureType.ENV, (16,))}


def features(sizes):
    """What a policy reads, and two numbers for an action."""
    return {
        "input_features": {name: PolicyFeature(kind, shape) for name, (kind, shape) in sizes.items()},
        "output_features": {"action": PolicyFeature(FeatureType.ACTION, (2,))},
        "device": "cpu",
    }


ACT = ACTConfig(
    dim_model=16, n_heads=2, dim_feedforward=16, n_encoder_layers=1, n_decoder_layers=1, chunk_size=8, n_action_steps=8,
    use_vae=False, **features(SIZES),
)  # fmt: skip
DIFFUSION = DiffusionConfig(
    down_dims=(16, 32), diffusion_step_embed_dim=16, n_groups=4, num_inference_steps=2, horizon=8, n_obs_steps=2,
    n_action_steps=4, **features(SIZES),
)  # fmt: skip
PICTURES = {
    "observation.state": SIZES["observation.state"], "observation.image": (FeatureType.VISUAL, (3, 96, 96))
}  # fmt: skip
SMOLVLA = SmolVLAConfig(
    vlm_model_name="vlm", num_vlm_layers=2, chunk_size=8, n_action_steps=8, num_steps=2, max_state_dim=2,
    max_action_dim=2, resize_imgs_with_padding=(32, 32), tokenizer_max_length=8, **features(PICTURES),
)  # fmt: skip
ENV = ["--env.type=pusht", "--env.episode_length=24"]
POSITIONS = ["--env.obs_type=environment_state_agent_pos"]
#: Of each kind a configuration, a fixed depth, and the environment's words.
KINDS = {"act": (ACT, 5, POSITIONS), "diffusion": (DIFFUSION, 4, POSITIONS), "smolvla": (SMOLVLA, 5, [])}
#: A head with weights of its own: the depth of the highest score that it gives the first actions.
HEAD = """
import numpy as np

weights = np.load("learned.npy")


def rule(plans):
    return 1 + (plans.actions[:, :4].reshape(len(plans), -1) @ weights).argmax(axis=1)
"""
OURS = ["--policy.type=recommit", "--policy.device=cpu"]


def language():
    """A SmolVLM of random weights in the place of the hub's: SmolVLA reads its configuration and its processor."""
    special = ["<pad>", "<unk>", "<image>", "<fake>", "<global>", "<end>"]
    words = {word: i for i, word in enumerate([*special, *map(chr, range(10, 127))])}
    letters = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    letters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    names = ("image_token", "fake_image_token", "global_image_token", "end_of_utterance_token")
    more = dict(zip(names, special[2:], strict=True))
    tokens = PreTrainedTokenizerFast(
        tokenizer_object=letters, pad_token="<pad>", unk_token="<unk>", extra_special_tokens=more
    )
    SmolVLMProcessor(SmolVLMImageProcessor(), tokens, SmolVLMVideoProcessor()).save_pretrained("vlm")
    sizes = {"intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = {"model_type": "llama", "vocab_size": len(words), "hidden_size": 32, "head_dim": 16, **sizes}
    sight = {"hidden_size": 16, "image_size": 32, "patch_size": 8, **sizes}
    text |= {"num_key_value_heads": 1, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1}
    SmolVLMConfig(text_config=text, vision_config=sight, image_token_id=2, pad_token_id=0).save_pretrained("vlm")


def save(config):
    """As LeRobot's trainer leaves a policy; ACT's actions are spread, so that depths differ in what they reach."""
    torch.manual_seed(0)
    policy = get_policy_class(config.type)(config)
    if config.type == "act":
        policy.model.action_head.weight.data *= 20
    policy.save_pretrained(config.type)
    every = {name: size for name, (_, (size,)) in SIZES.items()} | {"action": 2}
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


kinds = sys.argv[1:]
Path("learned.py").write_text(HEAD)
np.save("learned.npy", np.random.default_rng(0).normal(size=(8, 7)))
language()
for kind in kinds:
    config, depth, words = KINDS[kind]
    ENV[2:] = words
    save(config)
    base = [*OURS, f"--policy.base={kind}"]
    theirs, _, none = evaluated(f"--policy.path={kind}", f"--policy.n_action_steps={depth}")
    ours, played, figures = evaluated(*base, f"--policy.rule=fixed-{depth}")
    other, *_ = evaluated(*base, "--policy.rule=fixed-2")
    assert none is None
    assert torch.equal(ours, theirs), (kind, (ours - theirs).abs().max())
    assert (other - theirs).abs().max() > 1, kind
    assert played["queries"] == [-(-24 // depth)] * 3
    assert figures["effective_depth"] == [24 / -(-24 // depth)] * 3
    assert figures["success"][0] == 0.0 < figures["success"][2]
    words = ["--lerobot", kind, *ENV, "--episodes", "2", "--validation", "1", "--batch", "2", "--thresholds", "1"]
    assert main(["sweep", *words, "--depths", "3", "7", "--quiet", "--out", f"sweep-{kind}"]) == 0
if kind != "act":  # its chunks are drawn
    *_, drawn = evaluated(*base, "--policy.rule=disagreement", "--policy.threshold=1.2", "--policy.samples=3")
    assert 1 < drawn["effective_depth"][0] < 7, drawn
*_, by_head = evaluated(*base, "--policy.rule=learned.py")
assert 1 < by_head["effective_depth"][0] < 7, by_head
_, by_card, _ = evaluated(*base, f"--policy.rule=sweep-{kind}/card.json")
assert by_card["queries"] in ([8] * 3, [4] * 3)
print(f"lerobot {__version__}: the plugin plays n_action_steps of {', '.join(kinds)}, counts queries, and sweeps")
