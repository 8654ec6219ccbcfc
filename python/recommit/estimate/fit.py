"""The settings under which a stage fits: smaller passes, then less kept, then more split up, then the node's memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recommit.estimate.counting.passes import EvaluationStage
from recommit.estimate.estimating import peak

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.estimate.counting.passes import Stage
    from recommit.estimate.machine.cards import Machine
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import EngineConfig, ModelConfig, SftConfig
    from recommit.train.grpo.config import GrpoConfig


def settings(config: Stage, model: ModelConfig, task: Puzzle, machine: Machine) -> tuple[str, ...] | None:
    """The first that fit, as ``--set`` takes them; None where none do, as an evaluation has none."""
    if isinstance(config, EvaluationStage):
        return None

    def fits(changed: SftConfig | GrpoConfig) -> bool:
        return peak(changed, model, task, machine) <= machine.limit

    for engine in _engines(config.engine, machine):
        chosen = _smaller(replace(config, engine=engine), machine.gpus, fits)
        if chosen is not None:
            return tuple(_changes(config, chosen))
    return None


def _engines(engine: EngineConfig, machine: Machine) -> Iterator[EngineConfig]:
    """As it is, then with one thing more each time."""
    yield engine
    engine = replace(engine, checkpointing=True)
    yield engine
    if not machine.cuda:
        return
    split = replace(engine, kind="deepspeed", stage=max(engine.stage, 2), bf16=True)
    yield split
    if machine.gpus > 1:
        yield replace(split, stage=3)
    yield replace(split, offload=True)
    yield replace(split, stage=3, offload=True)


def _smaller(
    config: SftConfig | GrpoConfig, gpus: int, fits: Callable[[SftConfig | GrpoConfig], bool]
) -> SftConfig | GrpoConfig | None:
    """With the largest half, quarter, ... of its passes that fits."""
    share = config.optim.batch // gpus
    micro = config.optim.micro_batch or share
    if not fits(_with(config, 1)):
        return None
    while micro > 1 and not fits(_with(config, micro)):
        micro //= 2
    return _with(config, micro)


def _with(config: Any, micro: int) -> Any:
    return replace(config, optim=replace(config.optim, micro_batch=micro))


def _changes(config: Any, chosen: Any) -> Iterator[str]:
    """What differs."""
    share = config.optim.micro_batch or config.optim.batch
    if chosen.optim.micro_batch < share:
        yield f"optim.micro_batch={chosen.optim.micro_batch}"
    for name in ("kind", "stage", "bf16", "checkpointing", "offload"):
        value = getattr(chosen.engine, name)
        if value != getattr(config.engine, name):
            yield f"engine.{name}={str(value).lower()}"
