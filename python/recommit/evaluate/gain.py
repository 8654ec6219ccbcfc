"""Gain share of agents: how much of the way from the best fixed depth to the oracle depth one goes, with the same
plans. Heads that were trained on a run's plans share its oracle and its fixed depths."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.summaries import per_instance, value
from recommit.graph.gain import gain_interval
from recommit.policy.checkpoint import local_folder, read_config, read_weights
from recommit.storage.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.evaluate.metrics import EpisodeRows
    from recommit.graph.prices import Prices

ORACLE = "oracle-dp"
#: What of a policy's configuration is its head's alone.
_OF_HEADS = ("head", "foresight", "prices")


def add(
    summary: list[dict[str, Any]],
    played: dict[tuple[str, str], list[EpisodeRows]],
    rooms: NDArray[Any] | None = None,
    prices: Prices | None = None,
    plans: Mapping[str, str] | None = None,
) -> None:
    """Give every row its gain share in instances solved, where the oracle of its plans and fixed depths were played.

    The best fixed depth solves most validation instances, of equals the shallower. ``gain`` is None where the oracle
    solves no more. At ``prices`` all of it is in values instead. Runs make the same plans where ``plans`` has the same
    digest for them.
    """
    chosen_by = "validation_solve_rate" if prices is None else "validation_value"
    for alike in _by_plans(summary, plans or {}):
        oracle = next((row for row in alike if AgentName.parse(row["agent"]).base == ORACLE), None)
        every = [row for row in alike if chosen_by in row]
        if oracle is None or not every:
            continue
        fixed = max(every, key=lambda row: (row[chosen_by], *_preferred(AgentName.parse(row["agent"]))))
        for row in alike:
            three = (played[one["agent"], one["budget"]] for one in (row, fixed, oracle))
            rule, at_least, at_most = (
                per_instance(each, "solved") if prices is None else value(each, prices) for each in three
            )
            share = gain_interval(rule, at_least, at_most, rooms)
            row["gain"], row["gain_low"], row["gain_high"] = (
                (share.mean, share.low, share.high) if share else (None, None, None)
            )
            row["gain_constant"], row["gain_ceiling"] = fixed["agent"], oracle["agent"]


def _preferred(agent: AgentName) -> tuple[int, bool]:
    """Prefer of equal depths the shallower; of the same one that of the evaluation's own run."""
    return -agent.depth, not agent.run


def _by_plans(summary: list[dict[str, Any]], plans: Mapping[str, str]) -> list[list[dict[str, Any]]]:
    """Rows of one budget whose agents play the same greedy plans."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in summary:
        agent = AgentName.parse(row["agent"])
        if agent.asks_policy and not agent.draws_actions:
            groups.setdefault((row["budget"], plans.get(agent.run, agent.run), agent.views), []).append(row)
    return list(groups.values())


def plans_digest(policy: Path) -> str:
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


def plans_digests(agents: Iterable[AgentName], own: str) -> dict[str, str]:
    """Digest the plans of every run that agents ask, by its name; ``own`` is the run of those that name none."""
    runs = dict.fromkeys(agent.run for agent in agents if agent.asks_policy)
    return {run: plans_digest(local_folder(run or own)) for run in runs} if len(runs) > 1 else {}
