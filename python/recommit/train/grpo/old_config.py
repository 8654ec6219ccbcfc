"""Configurations of reinforcement runs from before phases and kinds of credit, in today's fields.

Then one class of credit had the fields of all kinds, ``finish`` was a share of the steps, and a price had four names. A
run of that time is read, goes on, and is found finished; what no option of today does is refused with a sentence.
"""

from __future__ import annotations

from typing import Any

from recommit.rollout.variants import variant
from recommit.train.grpo.settings.credit import BranchCredit, EpisodeCredit, ExactCredit, StateCredit
from recommit.train.grpo.settings.phases import GrpoPhase, simplest, without_head
from recommit.train.parsing import field_names, parse_list, plain

KINDS = {"state": StateCredit, "episode": EpisodeCredit, "branch": BranchCredit, "exact": ExactCredit}
#: What a configuration meant that did not say it.
CREDIT = {"group": "state", "price_action": 0.0, "price_first": -1.0, "head_steps": 0, "head_after": 0.0, "budgets": []}
FINISH = {"share": 0.0, "times": 16, "moves": 60, "lr": 3e-3, "budgets": [], "price": -1.0}
#: Options that went, and their only value today.
GONE = {"credit.price_failed": False, "rollout.actions": "sampled"}
GONE_REWARDS = ("rate", "spl")


def updated(values: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a run in today's fields, whichever version wrote it."""
    if values.get("kind") != "grpo":
        return values
    if "finish" not in values and "price_first" not in values.get("credit", {}):
        return _whole_phases(values)
    _refuse(values)
    credit, finish = {**CREDIT, **values.get("credit", {})}, {**FINISH, **values.get("finish", {})}
    rest = {name: value for name, value in values.items() if name not in ("credit", "finish")}
    rollout = {name: value for name, value in values.get("rollout", {}).items() if name != "actions"}
    validation = {**values.get("validation", {}), "budgets": finish["budgets"]}
    phases = [plain(phase) for phase in _phases(values, credit, finish)]
    return {**rest, "credit": _credit(credit), "rollout": rollout, "validation": validation, "phases": phases}


def _whole_phases(values: dict[str, Any]) -> dict[str, Any]:
    """With every field of its phases, which a version that had fewer did not write."""
    fields = set(field_names(GrpoPhase))
    phases = values.get("phases") or []
    if all(fields <= phase.keys() for phase in phases):
        return values
    return {**values, "phases": [plain(phase) for phase in parse_list(GrpoPhase, phases, "phases")]}


def _refuse(values: dict[str, Any]) -> None:
    reward = values.get("credit", {}).get("reward", "mean")
    wrong = [f"credit.reward {reward}"] if reward in GONE_REWARDS else []
    for path, only in GONE.items():
        section, name = path.split(".")
        if (value := values.get(section, {}).get(name, only)) != only:
            wrong.append(f"{path} {value}")
    if wrong:
        raise ValueError(
            f"{wrong[0]}: expected the options of today, got one that went before recommit 0.1.0 was released: "
            "read or go "
            "on with this run with the version that versions.json names"
        )


def _credit(old: dict[str, Any]) -> dict[str, Any]:
    """The fields that its kind reads."""
    fields = field_names(KINDS[old["group"]])
    result = {name: value for name, value in old.items() if name in fields}
    if "price_observation" in fields:
        result["price_observation"] = (
            old.get("price_decision", 0.0) if old["group"] != "exact" else 0.0
        )  # which paid none
    if old["group"] == "exact" and result.get("scale") == "group":
        result["scale"] = "none"
    if 0 <= old["price_first"] != old["price_action"]:
        result["price_action"] = [old["price_first"], old["price_action"]]
    return result


def _phases(values: dict[str, Any], credit: dict[str, Any], finish: dict[str, Any]) -> tuple[GrpoPhase, ...]:
    """Shares of the steps as phases of whole steps."""
    steps = values["optim"]["steps"]
    alone = int(finish["share"] * steps + 0.5)
    waiting = next((step for step in range(steps) if step / max(steps - 1, 1) >= credit["head_after"]), steps)
    begin = min(waiting, steps - alone) if credit["head_steps"] else steps - alone
    joint = steps - alone - begin
    phases = [GrpoPhase(begin)] if begin else []
    phases += [GrpoPhase(joint, head_updates=credit["head_steps"])] if joint else []
    phases += [_finish(alone, values, finish)] if alone else []
    return simplest(phases if variant(values.get("variant", "adaptive")).head else without_head(phases))


def _finish(steps: int, values: dict[str, Any], finish: dict[str, Any]) -> GrpoPhase:
    return GrpoPhase(
        steps,
        head_updates=finish["moves"],
        head_only=True,
        head_lr=finish["lr"],
        starts=finish["times"] * values["rollout"]["instances"],
        budgets=tuple(finish["budgets"]),
        price_action=finish["price"] if finish["price"] >= 0 else None,
    )
