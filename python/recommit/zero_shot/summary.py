"""From episodes to figures, the same fields as ``recommit evaluate`` writes, and the table that a person reads."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.results.intervals import share
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
    return [_row(spec, episodes, rooms, k, named.get(k, str(k))) for k in budgets]


def _row(
    spec: ZeroShotSpec, episodes: Sequence[Episode], rooms: NDArray[np.int64] | None, budget: int, name: str
) -> dict[str, Any]:
    counted = [each for each in episodes if each.finished]
    played = [each.steps[:budget] for each in counted]
    count, solved = len(counted), sum(map(_solved, played))
    theirs = None if rooms is None else rooms[[each.index for each in counted]]
    within = share(np.array(list(map(_solved, played)), bool), theirs)
    outcomes = Counter(step.outcome for steps in played for step in steps)
    depths = Counter(step.depth for steps in played for step in steps if step.depth)
    return {
        "agent": spec.options.model,
        "task": spec.game.task,
        "budget": name,
        "decisions": budget,
        "instances": count,
        "cell": spec.game.cell,
        "solved": solved,
        "solve_rate": solved / count if count else None,
        "solve_low": within.low,
        "solve_high": within.high,
        "actions_per_episode": _mean([_executed(steps) for steps in played]),
        "decisions_per_episode": _mean([len(steps) for steps in played]),
        "spl": _mean(
            [spl(each.length, _executed(steps), _solved(steps)) for each, steps in zip(counted, played, strict=True)]
        ),
        "mean_depth": _mean([step.depth for steps in played for step in steps if step.depth]),
        "depths": {str(depth): depths[depth] for depth in sorted(depths)},
        "outcomes": {outcome.value: outcomes[outcome.value] for outcome in AnswerOutcome},
        "infra_errors": sum(each.infra is not None for each in episodes),
        "unfinished": sum(not each.finished and each.infra is None for each in episodes),
    }


def _solved(steps: Sequence[Step]) -> bool:
    return any(step.solved for step in steps)


def _executed(steps: Sequence[Step]) -> int:
    return sum(step.executed for step in steps)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def table(all_rows: list[dict[str, Any]]) -> str:
    """A line per budget, then what became of the answers and of what is not counted."""
    lines = [f"{all_rows[0]['agent']}, {all_rows[0]['task']}, cells of {all_rows[0]['cell']} pixels"]
    for row in all_rows:
        rate = "-" if row["solve_rate"] is None else f"{100 * row['solve_rate']:.1f} %"
        interval = f"[{100 * row['solve_low']:.1f}, {100 * row['solve_high']:.1f}]"
        actions = f"{row['actions_per_episode']:.1f}" if row["solved"] else "-"
        lines.append(
            f"  {row['budget']:<6} K = {row['decisions']:<3} solved {row['solved']} of {row['instances']}: "
            f"{rate} {interval}, {actions} actions per episode"
        )
    counted = ", ".join(f"{name} {count}" for name, count in all_rows[0]["outcomes"].items() if count)
    lines.append(f"  answers: {counted or 'none'}")
    if all_rows[0]["infra_errors"]:
        lines.append(f"  {all_rows[0]['infra_errors']} episodes got no answers from the server and are not counted")
    if all_rows[0]["unfinished"]:
        lines.append(f"  {all_rows[0]['unfinished']} episodes are not finished and not counted")
    return "\n".join(lines) + "\n"
