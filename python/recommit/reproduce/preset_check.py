"""What a preset may say: names, kinds of values, and what excludes each other. Every refusal names the entry and the
value."""

from __future__ import annotations

import math
import re
from typing import Any

from recommit.storage.recipe_text import brief

#: What an entry may say.
KEYS = (
    "data",
    "recipe",
    "sft",
    "grpo",
    "variants",
    "seeds",
    "warm_starts",
    "ablations",
    "singles",
    "training_budgets",
    "heads",
    "evaluate",
    "zero_shot",
    "seconds",
)
#: What ``joint``, ``training_budgets`` and ``evaluate`` may say.
JOINT_KEYS, BUDGET_KEYS = ("recipe", "sft"), ("budgets", "variants")
#: What ``heads`` may say: of whose plans, and what the commands that teach them take.
HEADS_KEYS, HEAD_PLANS = ("plans", "views", "foresight", "stakes"), ("warm-start", "adaptive")
FORESIGHT_KEYS = ("steps", "starts")
STAKES_KEYS = ("starts", "length", "z", "hidden", "updates", "budget", "price_action", "price_observation")
EVALUATE_KEYS = (
    "instances",
    "validation",
    "length",
    "budgets",
    "edges",
    "stop_on_deadlock",
    "whole_commitments",
    "task",
    "price_action",
    "price_observation",
    "fresh",
    "regret",
)
#: Lists of changes to the stages of the recipe, and mappings.
CHANGES, MAPPINGS = ("sft", "grpo"), ("data", "training_budgets", "heads", "evaluate", "seconds")
#: Lists, with what stands in them.
_TEXTS, _NUMBERS = (*CHANGES, "variants", "ablations"), ("seeds", "singles")
#: Puzzles name folders.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)


def check(whole: dict[str, Any]) -> None:
    """Refuse what a preset cannot say."""
    for name, values in whole["tasks"].items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"tasks: expected names of letters, digits, dots and dashes, got {brief(name)}")
        _check(f"tasks.{name}", values)
    if "joint" in whole:
        _check_joint(whole["joint"], whole["tasks"])


def _check(name: str, values: Any) -> None:
    _keys(name, values, KEYS)
    for key in ("data", "recipe", "variants", "seeds"):
        if key not in values:
            raise ValueError(f"{name}: expected {key}, got {', '.join(values)}")
    _text(f"{name}.recipe", values["recipe"])
    for key in MAPPINGS:
        if not isinstance(values.get(key, {}), dict):
            raise ValueError(f"{name}.{key}: expected a mapping, got {brief(values[key])}")  # noqa: TRY004
    for key in (*_TEXTS, *_NUMBERS, "zero_shot"):
        _list(f"{name}.{key}", values.get(key, []), str if key in _TEXTS else int if key in _NUMBERS else dict)
    if not values["seeds"]:
        raise ValueError(f"{name}.seeds: expected numbers, got none")
    for asking in values.get("zero_shot", []):
        if "model" not in asking:
            raise ValueError(f"{name}.zero_shot: expected mappings with a model, got {brief(asking)}")
        _text(f"{name}.zero_shot.model", asking["model"])
    _keys(f"{name}.evaluate", values.get("evaluate", {}), EVALUATE_KEYS)
    for stage, seconds in values.get("seconds", {}).items():
        if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or not 0 < seconds < math.inf:
            raise ValueError(f"{name}.seconds: expected seconds above 0 of each stage, got {brief({stage: seconds})}")
    if values.get("zero_shot") and values.get("evaluate", {}).get("fresh"):
        raise ValueError(f"{name}.zero_shot: expected none beside evaluate.fresh, whose instances no model was asked")
    _check_budgets(f"{name}.training_budgets", values.get("training_budgets", {}))
    _check_heads(f"{name}.heads", values.get("heads", {}))
    if values.get("warm_starts", "one") not in ("one", "each"):
        raise ValueError(f"{name}.warm_starts: expected one or each, got {str(values['warm_starts'])[:80]}")


def _check_budgets(name: str, values: dict[str, Any]) -> None:
    _keys(name, values, BUDGET_KEYS)
    if values and len(values) < len(BUDGET_KEYS):
        raise ValueError(f"{name}: expected {' and '.join(BUDGET_KEYS)}, got {', '.join(values)}")
    _list(f"{name}.budgets", values.get("budgets", []), int)
    _list(f"{name}.variants", values.get("variants", []), str)


def _check_heads(name: str, values: dict[str, Any]) -> None:
    _keys(name, values, HEADS_KEYS)
    if values and "foresight" not in values:
        raise ValueError(f"{name}: expected foresight, which stakes begin with, got {', '.join(values)}")
    if values.get("plans", HEAD_PLANS[1]) not in HEAD_PLANS:
        raise ValueError(f"{name}.plans: expected {' or '.join(HEAD_PLANS)}, got {brief(values['plans'])}")
    for key, names in (("foresight", FORESIGHT_KEYS), ("stakes", STAKES_KEYS)):
        _keys(f"{name}.{key}", values.get(key, {}), names)
        for each in set(values.get(key, {})) & {"length", "budget"}:
            _list(f"{name}.{key}.{each}", values[key][each], int)
    numbers = {"views": values.get("views", 0), **values.get("foresight", {}), **values.get("stakes", {})}
    for key, value in numbers.items():
        if key == "z" and not isinstance(value, bool):
            raise ValueError(f"{name}: expected true or false for z, got {brief(value)}")
        if key not in ("length", "budget", "z") and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValueError(f"{name}: expected a number for {key}, got {brief(value)}")


def _check_joint(joint: Any, tasks: dict[str, Any]) -> None:
    wrong = [key for key in joint if key not in JOINT_KEYS] if isinstance(joint, dict) else [type(joint).__name__]
    if wrong or "recipe" not in joint:
        raise ValueError(
            f"joint: expected recipe, and sft if need be, got {', '.join(wrong or joint)[:200] or 'nothing'}"
        )
    _text("joint.recipe", joint["recipe"])
    _list("joint.sft", joint.get("sft", []), str)
    for name, values in tasks.items():
        if own := [key for key in ("sft", "warm_starts") if key in values]:
            raise ValueError(f"tasks.{name}.{own[0]}: expected none beside joint, got {brief(values[own[0]])}")


def _keys(name: str, values: Any, names: tuple[str, ...]) -> None:
    wrong = [key for key in values if key not in names] if isinstance(values, dict) else [type(values).__name__]
    if wrong:
        raise ValueError(f"{name}: expected keys of {', '.join(names)}, got {', '.join(wrong)[:200]}")


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value or "\0" in value or len(value) > 1000:
        raise ValueError(f"{name}: expected a text, got {brief(value)}")


def _list(name: str, values: Any, kind: type) -> None:
    if not isinstance(values, list):
        raise ValueError(f"{name}: expected a list, got {brief(values)}")  # noqa: TRY004
    if not all(isinstance(each, kind) and not isinstance(each, bool) for each in values):
        words = {str: "texts", int: "numbers", dict: "mappings with a model"}
        raise ValueError(f"{name}: expected {words[kind]}, got {brief(values)}")
