"""From episodes to figures, the same fields as ``recommit evaluate`` writes, and the table that a person reads."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.results.intervals import share
from recommit.storage.recipe_text import brief
from recommit.zero_shot.game import spl
from recommit.zero_shot.parser import AnswerOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.zero_shot.game import Step
    from recommit.zero_shot.player import Episode
    from recommit.zero_shot.spec import ZeroShotSpec


def episode_rows(episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """One per episode, as far as it has been played."""
    return [
        {
            "instance": each.instance,
            "length": each.length,
            "finished": each.finished,
            "infra_error": each.infra,
            "solved": _solved(each.steps),
            "decisions": len(each.steps),
            "actions": _executed(each.steps),
            "outcomes": dict(Counter(step.outcome for step in each.steps)),
        }
        for each in episodes
    ]


def rows(
    spec: ZeroShotSpec, episodes: Sequence[Episode], rooms: NDArray[np.int64] | None = None
) -> list[dict[str, Any]]:
    """One row for the budget that was played, and one for every smaller one of the paper's, read off the same
    episodes."""
    named = {decisions: name for name, decisions in spec.game.puzzle.budgets(spec.game.size).items()}
    budgets = [spec.game.budget, *sorted((k for k in named if k < spec.game.budget), reverse=True)]
    counted = [each for each in episodes if each.finished]
    head = {"agent": spec.options.model, "task": spec.game.task}
    rest = {
        "instances": len(counted),
        "cell": spec.game.cell,
        "answered_by": sorted(set().union(*(each.models for each in episodes))),
        "infra_errors": sum(each.infra is not None for each in episodes),
        "unfinished": sum(not each.finished and each.infra is None for each in episodes),
    }
    theirs = None if rooms is None else rooms[[each.index for each in counted]]
    return [
        {**head, "budget": named.get(k, str(k)), "decisions": k, **rest, **_figures(counted, k, theirs)}
        for k in budgets
    ]


def _figures(episodes: list[Episode], budget: int, rooms: NDArray[np.int64] | None) -> dict[str, Any]:
    played = [each.steps[:budget] for each in episodes]
    solved = list(map(_solved, played))
    within = share(np.array(solved, bool), rooms)
    outcomes = Counter(step.outcome for steps in played for step in steps)
    chosen = [step.depth for steps in played for step in steps if step.depth]
    pairs = zip(episodes, played, strict=True)
    return {
        "solved": sum(solved),
        "solve_rate": within.mean if episodes else None,
        "solve_low": within.low,
        "solve_high": within.high,
        "actions_per_episode": _mean([_executed(steps) for steps in played]),
        "decisions_per_episode": _mean([len(steps) for steps in played]),
        "spl": _mean([spl(each.length, _executed(steps), _solved(steps)) for each, steps in pairs]),
        "mean_depth": _mean(chosen),
        "depths": {str(depth): count for depth, count in sorted(Counter(chosen).items())},
        "outcomes": {outcome.value: outcomes[outcome.value] for outcome in AnswerOutcome},
    }


def _solved(steps: Sequence[Step]) -> bool:
    return any(step.solved for step in steps)


def _executed(steps: Sequence[Step]) -> int:
    return sum(step.executed for step in steps)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def table(all_rows: list[dict[str, Any]]) -> str:
    """A line per budget, then what became of the answers and of what is not counted."""
    first = all_rows[0]
    lines = [f"{first['agent']}, {first['task']}, cells of {first['cell']} pixels"]
    for row in all_rows:
        rate = "-" if row["solve_rate"] is None else f"{100 * row['solve_rate']:.1f} %"
        interval = f"[{100 * row['solve_low']:.1f}, {100 * row['solve_high']:.1f}]"
        actions = f"{row['actions_per_episode']:.1f}" if row["solved"] else "-"
        lines.append(
            f"  {row['budget']:<6} K = {row['decisions']:<3} solved {row['solved']} of {row['instances']}: "
            f"{rate} {interval}, {actions} actions per episode"
        )
    counted = ", ".join(f"{name} {count}" for name, count in first["outcomes"].items() if count)
    lines.append(f"  answers: {counted or 'none'}")
    if first["answered_by"] not in ([], [first["agent"]]):
        lines.append(f"  the server says that they are by {', '.join(map(brief, first['answered_by']))}")
    if first["infra_errors"]:
        lines.append(f"  {first['infra_errors']} episodes got no answers from the server and are not counted")
    if first["unfinished"]:
        lines.append(f"  {first['unfinished']} episodes are not finished and not counted")
    return "\n".join(lines) + "\n"
