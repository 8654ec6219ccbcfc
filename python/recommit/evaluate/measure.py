"""One call for an evaluation: ``recommit.evaluate.evaluate(run, "eval")``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.evaluate.agent_names import USUAL
from recommit.evaluate.evaluation import Evaluation
from recommit.evaluate.spec import EvaluationSpec
from recommit.evaluate.store import EvaluationStore
from recommit.runs import ranks
from recommit.runs.directory import recipe_of
from recommit.runs.process import settle_to_look, unsettled

if TYPE_CHECKING:
    from collections.abc import Sequence


@unsettled()
def evaluate(
    run: str | Path,
    out: str | Path,
    agents: str | Sequence[str] = USUAL,
    budgets: str | int | Sequence[str | int] = ("loose", "tight"),
    *,
    task: str = "",
    instances: int = 1024,
    validation: int = 256,
    length: tuple[int, ...] = (),
    seed: int = 0,
    edges: Literal["fixed", "thirds", "terciles"] = "fixed",
    stop_on_deadlock: bool = False,
    whole_commitments: bool = False,
    price_action: float = 0.0,
    price_observation: float = 0.0,
    regret: bool = False,
    threads: int = 1,
    device: str = "auto",
    quiet: bool = True,
) -> list[dict[str, Any]]:
    """Play agents on the same test instances; one row per agent and budget, as in ``summary.json``.

    Args:
        run: A training run; its data say what to play.
        out: The folder for rows and figures. The same call goes on where it was interrupted, and agents may be added.
        agents: Who plays, one name or several; ``NAME@RUN`` is played by the policy of another run.
        budgets: loose, tight, or numbers of decisions.
        task: Which puzzle of a run that has several.
        instances: Test instances.
        validation: Instances that choices are made on.
        length: Shortest and longest length of the instances; as in the data if empty.
        seed: Other seeds draw other episodes of agents that draw.
        edges: What is near, mid and far.
        stop_on_deadlock: End episodes at the first look at a state that nobody can solve.
        whole_commitments: Execute every commitment to its end; the goal counts only there.
        price_action: What an executed action costs, as a share of a solved episode.
        price_observation: What a look costs, however deep its commitment.
        regret: Also keep what every commitment cost against the best depth there.
        threads: Threads of torch; 0 for as many as it likes.
        device: cpu, cuda, or auto.
        quiet: Print nothing while playing.
    """
    settle_to_look(threads)
    spec = EvaluationSpec(
        str(run),
        (agents,) if isinstance(agents, str) else tuple(agents),
        tuple(str(budget) for budget in ((budgets,) if isinstance(budgets, str | int) else budgets)),
        instances,
        validation,
        tuple(length),
        seed,
        edges,
        stop_on_deadlock,
        whole_commitments,
        task,
        price_action,
        price_observation,
        regret,
    )
    recipe_of(run, task)  # a run that is none leaves no folder behind
    team = ranks.meet(device)
    with EvaluationStore(out) as store:
        return Evaluation(spec, store, team=team, quiet=quiet).run()
