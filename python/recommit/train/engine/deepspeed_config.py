"""What DeepSpeed is told: the configuration of ZeRO, and what a recipe may not say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.train.config import EngineConfig, OptimConfig

#: Numbers of a gradient that are reduced together. DeepSpeed sets 500 million aside, ten times what an adapter has.
BUCKET = 50_000_000
#: Would cast what is trained: see ``recommit.train.optim``.
CASTS: tuple[str, ...] = ("bf16", "fp16", "amp", "torch_autocast")
#: What would write beside the run's folder or send something away; a recipe may be a stranger's.
ELSEWHERE = ("tensorboard", "wandb", "comet", "csv_monitor", "autotuning", "nebula")
_PLACES = ("path", "paths", "file", "dir")


def deepspeed_settings(config: EngineConfig, optim: OptimConfig, parts: int, world: int) -> dict[str, Any]:
    """The configuration of a run, of which ``parts`` micro-batches make a step; combinations that are known to go wrong
    are refused."""
    check_places(config.settings)
    for name in CASTS:
        if config.settings.get(name) not in ({}, {"enabled": False}, None):
            raise ValueError(
                f"engine.settings.{name}: expected nothing that casts what is trained, got {config.settings[name]!r}; "
                "model.dtype=bfloat16 computes in bfloat16 beside float32 adapters and heads"
            )
    if config.stage == 0 and config.offload:
        raise ValueError("engine.offload: expected stage 1, 2 or 3, got 0 (there is nothing to offload)")
    zero: dict[str, Any] = {"stage": config.stage}
    if "reduce_bucket_size" not in config.settings.get("zero_optimization", {}):
        zero["reduce_bucket_size"] = BUCKET
    if config.stage == 3:
        # Small weights would stay whole between passes, until a checkpoint is read: DeepSpeed's trace of fetches then
        # fails.
        zero["stage3_param_persistence_threshold"] = 0
    if config.offload:
        zero["offload_optimizer"] = {"device": "cpu"}
        if config.stage == 3:
            zero["offload_param"] = {"device": "cpu"}
    own = {
        "train_micro_batch_size_per_gpu": max(1, optim.batch // world // parts),
        "gradient_accumulation_steps": parts,
        "gradient_clipping": optim.clip,
        "zero_optimization": zero,
        "zero_force_ds_cpu_optimizer": False,
        "zero_allow_untested_optimizer": True,
        "steps_per_print": 10**9,
        "wall_clock_breakdown": False,
    }
    return _merged(own, config.settings)


def check_places(settings: dict[str, Any], where: str = "engine.settings") -> None:
    """Refuse what names a place outside the run's folder, at any depth."""
    for key, value in settings.items():
        name = f"{where}.{key}"
        if (key in ELSEWHERE or str(key).rpartition("_")[2] in _PLACES) and value not in ({}, {"enabled": False}, None):
            raise ValueError(f"{name}: expected nothing that writes or sends beside the run's folder, got {value!r}")
        inner = enumerate(value) if isinstance(value, list) else [("", value)]
        for place, each in inner:
            if isinstance(each, dict):
                check_places(each, f"{name}.{place}".rstrip("."))


def _merged(own: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """What a run decides, and what ``more`` says besides, mapping by mapping."""
    result = dict(own)
    for key, value in more.items():
        if isinstance(value, dict):
            result[key] = _merged(own.get(key, {}), value)
        else:
            result.setdefault(key, value)
    return result
