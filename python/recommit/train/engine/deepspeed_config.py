"""The configuration of DeepSpeed: that of a run, and what a file in DeepSpeed's own words changes in a recipe."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.train.config import EngineConfig, OptimConfig

#: What follows from the recipe; a file may only leave it out or say ``auto``.
DECIDED = (
    "train_batch_size",
    "train_micro_batch_size_per_gpu",
    "gradient_accumulation_steps",
    "gradient_clipping",
    "optimizer",
    "scheduler",
    "zero_force_ds_cpu_optimizer",
    "zero_allow_untested_optimizer",
    "zero_optimization.stage3_param_persistence_threshold",
)
#: What this package's engine has no use for.
REFUSED = ("fp16", "amp", "pipeline", "compression_training", "checkpoint")
#: What would write beside the run's folder or send something away; a recipe may be a stranger's.
ELSEWHERE = ("tensorboard", "wandb", "comet", "csv_monitor", "autotuning", "nebula")
_PLACES = ("path", "paths", "file", "dir")
_OFFLOADS = ("offload_optimizer", "offload_param")


def names() -> list[str]:
    """Names of the files in this package."""
    folder = files("recommit") / "recipes" / "deepspeed"
    return sorted(p.name.removesuffix(".json") for p in folder.iterdir() if p.name.endswith(".json"))


def settings(config: EngineConfig, optim: OptimConfig, parts: int, world: int) -> dict[str, Any]:
    """The configuration of a run, of which ``parts`` micro-batches make a step; combinations that are known to go wrong
    are refused."""
    check_places(config.settings)
    if config.stage == 0 and config.bf16:
        raise ValueError(
            "engine.stage: expected 1, 2 or 3 with engine.bf16, got 0 (its bf16 optimizer takes a wrong first step; "
            "stage 1 costs the same on one rank)"
        )
    if config.stage == 0 and config.offload:
        raise ValueError("engine.offload: expected stage 1, 2 or 3, got 0 (there is nothing to offload)")
    zero: dict[str, Any] = {"stage": config.stage}
    if config.stage == 3:
        # Small weights would stay whole between passes, until a checkpoint is read: DeepSpeed's trace of fetches then
        # fails.
        zero["stage3_param_persistence_threshold"] = 0
    if config.offload:
        zero["offload_optimizer"] = {"device": "cpu"}
        if config.stage == 3:
            zero["offload_param"] = {"device": "cpu"}
    share = optim.batch // world
    own = {
        "train_micro_batch_size_per_gpu": max(1, share // parts),
        "gradient_accumulation_steps": parts,
        "gradient_clipping": optim.clip,
        "bf16": {"enabled": config.bf16},
        "zero_optimization": zero,
        "zero_force_ds_cpu_optimizer": False,
        "zero_allow_untested_optimizer": True,
        "steps_per_print": 10**9,
        "wall_clock_breakdown": False,
    }
    return merged(own, config.settings)


def changes(name: str) -> dict[str, Any]:
    """What a file, by name or path, changes in a recipe: values by path."""
    settings = _without_auto(_read(name))
    zero = settings.setdefault("zero_optimization", {})
    for path in DECIDED:
        section, _, key = path.rpartition(".")
        if key in (settings[section] if section else settings):
            raise ValueError(f"deepspeed: expected no {path} in {name} (the recipe decides it), got one")
    if wrong := [key for key in REFUSED if key in settings and settings[key] not in ({}, {"enabled": False})]:
        raise ValueError(f"deepspeed: expected none of {', '.join(REFUSED)} in {name}, got {', '.join(wrong)}")
    stage = zero.pop("stage", 0)
    return {
        "engine.kind": "deepspeed",
        "engine.stage": stage,
        "engine.bf16": bool(settings.pop("bf16", {}).get("enabled", False)),
        "engine.offload": _offload(zero, stage, name),
        "engine.settings": {key: each for key, each in settings.items() if each != {} and key not in REFUSED},
    }


def check_places(settings: dict[str, Any], where: str = "engine.settings") -> None:
    """Refuse what names a place outside the run's folder, at any depth."""
    for key, value in settings.items():
        name = f"{where}.{key}"
        if (key in ELSEWHERE or str(key).rpartition("_")[2] in _PLACES) and value not in ({}, {"enabled": False}, None):
            raise ValueError(f"{name}: expected nothing that writes or sends beside the run's folder, got {value!r}")
        if isinstance(value, dict):
            check_places(value, name)


def _offload(zero: dict[str, Any], stage: int, name: str) -> bool:
    """Is the optimizer (with stage 3: and are the weights) kept in the host's memory? Devices are taken out."""
    where = {key: zero[key].pop("device", "none") for key in _OFFLOADS if key in zero}
    if wrong := [key for key, device in where.items() if device not in ("cpu", "none")]:
        raise ValueError(f"deepspeed: expected {wrong[0]}.device cpu or none in {name}, got {where[wrong[0]]}")
    offloaded = [key for key, device in where.items() if device == "cpu"]
    whole = list(_OFFLOADS if stage == 3 else _OFFLOADS[:1])
    if offloaded not in ([], whole):
        raise ValueError(f"deepspeed: expected all of {', '.join(whole)} or none in {name}, got {', '.join(offloaded)}")
    return bool(offloaded)


def merged(own: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """``own`` and what ``more`` says besides, mapping by mapping; details of an offload that does not happen are left
    out.
    """
    result = dict(own)
    for key, value in more.items():
        if isinstance(value, dict):
            if key not in _OFFLOADS or key in own:
                result[key] = merged(own.get(key, {}), value)
        else:
            result.setdefault(key, value)
    return result


def _without_auto(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_auto(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value != "auto"
    }


def _read(name: str) -> dict[str, Any]:
    named = files("recommit") / "recipes" / "deepspeed" / f"{name}.json"
    if not named.is_file() and not Path(name).is_file():
        raise ValueError(f"deepspeed: expected a file or one of {', '.join(names())}, got {name}")
    text = named.read_text(encoding="utf-8") if named.is_file() else Path(name).read_text(encoding="utf-8")
    try:
        values = json.loads(text)
    except ValueError as error:
        raise ValueError(f"deepspeed: expected JSON, got {name}, which is not ({error})") from None
    if not isinstance(values, dict) or not isinstance(values.get("zero_optimization", {}), dict):
        raise ValueError(f"deepspeed: expected DeepSpeed's configuration, got {name}, which is something else")  # noqa: TRY004
    return values
