"""Which policies make the same plans: heads that were taught on a run's plans share its ceiling and its constants."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from recommit.policy.checkpoint import local_folder, read_config, read_weights
from recommit.storage.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from recommit.evaluate.agent_names import AgentName

#: What of a policy's configuration is its head's alone.
_OF_HEADS = ("head", "foresight", "prices")


def digest(policy: Path) -> str:
    """The same for two saved policies whose plans are the same in every state, and that choose among the same
    depths."""
    about = read_config(policy / "config.json")
    own = {name: value for name, value in about["policy"].items() if name not in _OF_HEADS}
    adapter = policy / "adapter" / "adapter_model.safetensors"
    backbone = [about["backbone"]["fingerprint"], *([file_sha256(adapter)] if adapter.is_file() else [])]
    result = hashlib.sha256(json.dumps([own, backbone], sort_keys=True).encode())
    for name, tensor in sorted(read_weights(policy / "heads.safetensors").items()):
        if name.startswith("decoder."):
            result.update(f"{name}{tuple(tensor.shape)}".encode() + tensor.float().numpy().tobytes())
    return result.hexdigest()


def digests(agents: Iterable[AgentName], own: str) -> dict[str, str]:
    """Digest the plans of every run that agents ask, by its name; ``own`` is the run of those that name none."""
    runs = dict.fromkeys(agent.run for agent in agents if agent.asks_policy)
    return {run: digest(local_folder(run or own)) for run in runs} if len(runs) > 1 else {}
