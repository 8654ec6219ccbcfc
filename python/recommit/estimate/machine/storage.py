"""Bytes of the node's memory and of the run's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.estimate.counting.names import RANDOM
from recommit.estimate.machine.memory import MASTER, MOMENTS, PROCESS, size
from recommit.train.config import SftConfig

if TYPE_CHECKING:
    from recommit.estimate.counting.work import Shadow
    from recommit.estimate.machine.memory import Split
    from recommit.train.config import ModelConfig
    from recommit.train.grpo.config import GrpoConfig

#: Tokenizer, configurations and logs of a checkpoint: the published tokenizer's files take 11 MB. An allowance.
SMALL_FILES = 16 << 20


def host(shadow: Shadow, split: Split, cuda: bool) -> dict[str, int]:
    """By kind, of all ranks as if they shared one node."""
    weights = size(shadow.policy.parameters())
    sizes = {
        "processes": split.world * PROCESS,
        "weights, mapped once": _whole(shadow) * cuda,
        "offloaded optimiser": split.world * _offloaded(shadow, split),
        "offloaded weights": weights * (split.offload and split.stage == 3),
    }
    return {name: count for name, count in sizes.items() if count}


def _offloaded(shadow: Shadow, split: Split) -> int:
    """Moments, masters and gradients in float32, of one rank."""
    if not split.offload:
        return 0
    return split.optimiser(shadow.trained) + -(-sum(p.numel() for p in shadow.trained) // split.world) * MASTER


def disk(shadow: Shadow, split: Split, config: SftConfig | GrpoConfig, model: ModelConfig) -> dict[str, int]:
    """By kind, of one run; a checkpoint has a policy in it, and the best one is kept besides the newest."""
    policy = _policy(shadow) + SMALL_FILES
    sizes = {
        "checkpoints": (config.run.keep + 1) * (policy + _engine(shadow, split)),
        "start": policy if not isinstance(config, SftConfig) else 0,
        "backbone": _whole(shadow) if model.backbone.startswith(RANDOM) else 0,
        "features on disk": int(config.run.vision_cache_size * 2**30) if config.run.vision_cache else 0,
    }
    return {name: count for name, count in sizes.items() if count}


def _policy(shadow: Shadow) -> int:
    """A saved policy: the adapter, or the whole backbone, and the heads."""
    parts = shadow.parts()
    adapter = parts["lora"] if shadow.policy.config.lora is not None else [*parts["language"], *parts["vision"]]
    return size([*adapter, *parts["decoder"], *parts["depth head"]])


def _engine(shadow: Shadow, split: Split) -> int:
    """Weights that learn, their moments and masters, of all ranks."""
    trained = shadow.trained
    if not split.stage:
        return 3 * size(trained)
    return size(trained) + sum(p.numel() for p in trained) * (MOMENTS + MASTER)


def _whole(shadow: Shadow) -> int:
    parts = shadow.parts()
    return size([*parts["language"], *parts["vision"]])
