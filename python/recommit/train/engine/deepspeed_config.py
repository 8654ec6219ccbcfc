"""The configuration of DeepSpeed: what follows from a run's own, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.train.config import EngineConfig, OptimConfig


def deepspeed_settings(config: EngineConfig, optim: OptimConfig, parts: int, world: int) -> dict[str, Any]:
    """The configuration of a run, of which ``parts`` micro-batches make a step. Nothing in it casts what is trained:
    AdamW's steps are smaller than what bfloat16 can tell apart."""
    if config.stage == 0 and config.offload:
        raise ValueError("engine.offload: expected stage 1, 2 or 3, got 0 (there is nothing to offload)")
    zero: dict[str, Any] = {"stage": config.stage, "reduce_bucket_size": config.bucket}
    if config.stage == 3:
        # Small weights would stay whole between passes, until a checkpoint is read: DeepSpeed's trace of fetches then
        # fails.
        zero["stage3_param_persistence_threshold"] = 0
    if config.offload:
        zero["offload_optimizer"] = {"device": "cpu"}
        if config.stage == 3:
            zero["offload_param"] = {"device": "cpu"}
    return {
        "train_micro_batch_size_per_gpu": max(1, optim.batch // world // parts),
        "gradient_accumulation_steps": parts,
        "gradient_clipping": optim.clip,
        "zero_optimization": zero,
        "zero_force_ds_cpu_optimizer": False,
        "zero_allow_untested_optimizer": True,
        "steps_per_print": 10**9,
        "wall_clock_breakdown": False,
    }
