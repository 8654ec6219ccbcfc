"""Digest of a policy's plans, and the floating-point operations of an observation."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.policy.checkpoint import local_folder, read_config, read_weights
from recommit.policy.flop_counter import Watch, cost
from recommit.storage.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.evaluate.agent_names import AgentName
    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle

#: Batch size of the pass that is measured.
STATES = 32
#: Of a gated head's, whose cost differs from state to state.
GATED = 1024
#: Fields of a policy's configuration that only its head reads.
_OF_HEADS = ("head", "world_model", "prices")


def plans_digest(policy: Path) -> str:
    """Digest of everything that decides a saved policy's plans and the depths it chooses from; heads do not count."""
    about = read_config(policy / "config.json")
    own = {name: value for name, value in about["policy"].items() if name not in _OF_HEADS}
    adapter = policy / "adapter" / "adapter_model.safetensors"
    backbone = [about["backbone"]["fingerprint"], *([file_sha256(adapter)] if adapter.is_file() else [])]
    result = hashlib.sha256(json.dumps([own, backbone], sort_keys=True).encode())
    for name, tensor in sorted(read_weights(policy / "heads.safetensors").items()):
        if name.startswith("decoder."):
            result.update(f"{name}{tuple(tensor.shape)}".encode() + tensor.float().numpy().tobytes())
    return result.hexdigest()


def plans_digests(agents: Iterable[AgentName], own: str) -> dict[str, str]:
    """Digests of the plans of all agents' runs, by run (empty if there is one); ``own`` is the evaluation's own."""
    runs = dict.fromkeys(agent.run for agent in agents if agent.asks_policy)
    return {run: plans_digest(local_folder(run or own)) for run in runs} if len(runs) > 1 else {}


def measure(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8]) -> dict[str, Any]:
    """Symmetry augmentations, pixels per cell and operations per observation, picture and plan included, with and
    without the depth head and its inputs. Counted with empty caches, so that the count does not depend on what was
    observed before, over up to ``STATES`` states, or ``GATED`` of a head that asks a world model in some alone."""
    states = states[:: -(-len(states) // GATED)] if policy.config.head.gated else states[:STATES]
    shape = states.shape[1], states.shape[2]
    flops, of_plan = (cost(lambda: _observe(policy, task, states, depth), Watch()).flops for depth in (None, 1))  # noqa: B023
    return {
        "augmentations": policy.vision.augmentations(task, shape),
        "cell": policy.config.cell or policy.backbone.token_pixels,
        "flops": flops // len(states),
        "plan_flops": of_plan // len(states),
        "states": len(states),
    }


def _observe(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8], depth: int | None) -> None:
    policy.vision.forget()
    remaining = np.ones(len(states), np.int64) if policy.config.budget_conditioned else None
    policy.act(task, states, depth=depth, remaining=remaining)  # ends when the host has the plan
