"""Rules that a sweep tries, and their candidate thresholds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recommit import horizon
from recommit.horizon import rule_registry
from recommit.horizon.actions import Consecutive, Fixed, Repetition
from recommit.horizon.confidence import Agreement
from recommit.horizon.plans import Plans
from recommit.horizon.rule import Rule, ThresholdRule, quantiles

#: Reason for leaving out a rule without finite scores, such as disagreement where first actions never differ.
NOTHING = "the plans give it no finite score, so that there is no threshold to try"
#: Most fixed depths: every depth of chunks up to this length, a selection of longer ones.
EVERY = 16


def fixed_depths(chosen: tuple[int, ...], allowed: range) -> list[int]:
    """Fixed depths to try: those in ``chosen``, else all, or at most ``EVERY`` that are evenly spaced in logarithm."""
    if wrong := [each for each in chosen if each not in allowed]:
        raise ValueError(f"depths: expected {allowed[0]}..{allowed[-1]}, which the chunks allow, got {wrong[0]}")
    if chosen or len(allowed) <= EVERY:
        return [*chosen] or [*allowed]
    spread: list[int] = []
    for many in range(EVERY, 8 * EVERY):  # many small ones are rounded to the same depth
        depths = sorted({*np.geomspace(allowed[0], allowed[-1], many).round().astype(int).tolist()})
        if len(depths) > EVERY:
            break
        spread = depths
    return spread


def candidates(
    plans: Plans, depths: tuple[int, ...], count: int
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, str]]:
    """Rules to try by name, each with up to ``count`` candidate parameters, quantiles of its scores on these plans; and
    the reasons for leaving out the others."""
    found, left_out = {}, {}
    for name in rule_registry.ON_CHUNKS:
        try:
            rules = _variants(rule_registry.named(name, depths).rule, plans, count)
            rules[0].choose(rules[0].revise(plans))
        except ValueError as error:
            left_out[name] = NOTHING if str(error).startswith("plans:") else str(error)
        else:
            found[name] = [described(rule) for rule in rules]
    return found, left_out


def _variants(rule: Any, plans: Plans, count: int) -> list[Rule]:
    """The rule with each candidate parameter. Vectors are hardly ever equal: rules that compare them have a tolerance
    to choose."""
    tolerances = TOLERANCES.get(type(rule)) if plans.continuous else None
    if tolerances:
        return [replace(rule, tolerance=each) for each in np.unique(tolerances(plans, count)).tolist()]
    if isinstance(rule, Fixed):
        allowed = rule.allowed(plans.horizon)
        depths = rule.rounded(np.geomspace(allowed[0], allowed[-1], count).round().astype(int), plans.horizon)
        return [replace(rule, depth=each) for each in np.unique(depths).tolist()]
    if isinstance(rule, ThresholdRule):
        return [replace(rule, threshold=each) for each in np.unique(rule.thresholds(plans, count)).tolist()]
    return [rule]


def described(rule: Rule) -> dict[str, Any]:
    """A rule as plain values: its class and its fields."""
    values = {each.name: getattr(rule, each.name) for each in fields(rule)}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {"rule": type(rule).__name__, **{name: value for name, value in plain.items() if value is not None}}


def rule_of(values: dict[str, Any]) -> Rule:
    """Inverse of ``described``."""
    arguments = {
        name: tuple(each) if isinstance(each, list) else each for name, each in values.items() if name != "rule"
    }
    kind = getattr(horizon, values["rule"]) if values["rule"] in horizon.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, horizon.Rule)):
        raise ValueError(f"rule: expected one of recommit.horizon, got {values['rule']}")  # noqa: TRY004
    return kind(**arguments)


def chosen(values: dict[str, Any]) -> str:
    """Name and value of a described rule's chosen parameter: a tolerance, or else a threshold or a depth."""
    names = ("tolerance", "threshold", *(["depth"] if values["rule"] != "Fixed" else []))
    numbers = [(name, values[name]) for name in names if name in values]
    named = next((each for each in numbers if each[1]), numbers[-1] if numbers else None)
    return "" if named is None else f"{named[0]} {named[1]:.3g}"


def _of_samples(plans: Plans, count: int) -> NDArray[np.float64]:
    """Candidate tolerances: quantiles of the running maximum of the samples' median distance from the plan."""
    if plans.samples is None:
        raise ValueError("Agreement needs Plans.samples [N, S, H, D]: plans from the same observation that begin alike")
    apart = np.abs(plans.samples - plans.actions[:, None]).max(axis=-1)
    return _quantiles(np.maximum.accumulate(np.median(apart, axis=1), axis=1), count)


def _of_tails(plans: Plans, count: int) -> NDArray[np.float64]:
    """Candidate tolerances: quantiles of the running maximum of a plan's distance from the rest of the last one."""
    if plans.previous is None:
        return np.zeros(1)
    places = min(plans.horizon, plans.previous.actions.shape[1])
    apart = np.abs(plans.actions[:, :places] - plans.previous.actions[:, :places]).max(axis=-1)
    there = np.arange(places) < plans.previous.remaining[:, None]
    return _quantiles(np.maximum.accumulate(apart, axis=1)[there], count)


def _of_first(plans: Plans, count: int) -> NDArray[np.float64]:
    """Candidate tolerances: quantiles of the running maximum of the distance from a plan's first action."""
    apart = np.abs(plans.actions[:, 1:] - plans.actions[:, :1]).max(axis=-1)
    return _quantiles(np.maximum.accumulate(apart, axis=1), count)


def _quantiles(values: NDArray[Any], count: int) -> NDArray[np.float64]:
    return quantiles(values.astype(np.float64).ravel(), count) if values.size else np.zeros(1)


#: Candidate tolerances of the rules that compare vectors.
TOLERANCES: dict[type[Rule], Callable[[Plans, int], NDArray[np.float64]]] = {
    Agreement: _of_samples,
    Consecutive: _of_tails,
    Repetition: _of_first,
}
