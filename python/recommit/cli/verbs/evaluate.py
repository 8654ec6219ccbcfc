"""``recommit evaluate``: the signature is the command line. Light to import."""

from __future__ import annotations

import json as json_module
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

from recommit.cli.flags import WrongCall
from recommit.evaluate.agent_names import USUAL
from recommit.storage.terminal_text import tell


def evaluate(
    run: Path,
    out: Path,
    agents: tuple[str, ...] = USUAL,
    budgets: tuple[str, ...] = ("loose", "tight"),
    task: str = "",
    instances: int = 1024,
    validation: int = 256,
    length: tuple[int, ...] = (),
    population: Literal["none", "all", "data"] = "none",
    edges: Literal["fixed", "thirds", "terciles"] = "fixed",
    stop_on_deadlock: bool = False,
    whole_commitments: bool = False,
    price_action: float = 0.0,
    price_observation: float = 0.0,
    regret: bool = False,
    views: Literal[0, 1, 2, 4, 8] = 0,
    split: Literal["test", "validation"] = "test",
    fresh: int = 0,
    again: bool = False,
    seed: int = 0,
    threads: int = 1,
    device: str = "auto",
    anyway: bool = False,
    paper: bool = False,
    tables: tuple[str, ...] = (),
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Play agents on the same test instances and compare the first with the others.

    Args:
        run: A training run; its data say what to play.
        out: The folder for rows and figures; the same command goes on where it was interrupted, and other agents may be
            added.
        agents: adaptive, sampled, fixed-1 to fixed-8 (also fixed-4-sampled), random, shuffled, mixture, oracle-dp,
            oracle-delta, oracle-rate, adaptive-memory, solver, random-actions; rules without training:
            confidence-product, confidence-least, confidence-entropy, disagreement (each -shared too: one threshold for
            all budgets), entropy-jump, repetition, reversal, consecutive; RULE+memory has a memory. NAME@RUN is played
            by the policy of another run, zero-shot@FOLDER is what a model said in a run of recommit zero-shot --data on
            the same instances.
        budgets: loose, tight, or numbers of decisions.
        task: Which puzzle of a run that has several: sliding, or sliding-3x3 with its size.
        instances: Test instances.
        validation: Instances that choices are made on.
        length: Shortest and longest length of the instances, or one number for both; as in the data if not said.
        population: Instead of test instances: all starts there are, or all of the data's lengths. Exact values, no
            intervals; of agents whose plans are greedy and who have no memory; for sliding boards of up to ten cells.
        edges: What is near, mid and far: up to 8, up to 16 and more actions from the goal; thirds of the way from the
            start; or as many decisions of solved episodes in each.
        stop_on_deadlock: End episodes at the first look at a state that nobody can solve. For analysis: no policy knows
            it.
        whole_commitments: Execute every commitment to its end; the goal counts only there.
        price_action: What an executed action costs, as a share of a solved episode. With a price, every table has the
            value, solved less what actions and looks cost, and oracle-dp is the highest value. A head that reads the
            stakes plays for these prices.
        price_observation: What a look costs, however deep its commitment.
        regret: Also keep what every commitment cost against the best depth there, for the report. It looks at further
            states, and may be asked for later in the same folder.
        views: Look at so many views of every picture, turned and mirrored cell by cell; 0 for as many as the policy
            has. One agent alone: NAME+views8. Not for sliding, whose goal does not turn.
        split: Which instances are played: whatever is chosen by figures wants those of validation. Choices within the
            evaluation are then made on further ones.
        fresh: Play test instances of this seed that nobody has looked at, apart from the data's own test split. The
            folder that OUT lies in has one such split, and judges each run by it once; fresh.json there says so.
        again: Draw another fresh split, or judge by it again, and note it in fresh.json.
        seed: With paper: which seed of the family. The test set is fixed by the data.
        threads: Threads of torch; 0 for as many as it likes.
        device: cpu, cuda, or auto. Under torchrun all processes share the work.
        anyway: Let policies play puzzles and sizes that they were not trained on.
        paper: RUN is the folder of a family (see recommit train family); play everybody in it and write every table of
            the paper, beside the paper's numbers.
        tables: With paper, only these, and only whom they need: main, sweep, ablation, single, state, emergence,
            efficiency, depths, entropy, seeds, budgets, oracle, pareto, heads, ladder, zero-shot.
        json: Print the summary as JSON.
        quiet: Print nothing while playing.
    """

    from recommit.evaluate import text as printed
    from recommit.evaluate.agent_names import with_views
    from recommit.evaluate.evaluation import Evaluation
    from recommit.evaluate.family import FamilyResults, Members
    from recommit.evaluate.spec import EvaluationSpec
    from recommit.evaluate.store import EvaluationStore
    from recommit.evaluate.tables import experiments
    from recommit.runs import ranks
    from recommit.runs.directory import recipe_of
    from recommit.runs.peers import watched
    from recommit.runs.process import settle_to_look

    settle_to_look(threads)
    if len(length) > 2:
        raise WrongCall(f"length: expected one length, or shortest and longest, got {len(length)} numbers")
    try:
        chosen, members, length = run, None, length * 2 if len(length) == 1 else length
        if paper or tables:
            members = Members(run, seed)
            experiments.require_paper(members)
            chosen, agents = members.adaptive, experiments.agents_of(members, tables)
        agents = with_views(agents, views)
        other_reading = (
            edges != "fixed" or stop_on_deadlock or whole_commitments or price_action or price_observation or regret
        )
        other_reading = other_reading or (split, fresh) != ("test", 0)
        if population != "none" and (paper or tables or other_reading):
            raise WrongCall(
                "population: expected none of paper, tables, edges, stop_on_deadlock, whole_commitments, price_action, "
                "price_observation, regret, split, fresh beside"
            )
        if population != "none":
            recipe_of(chosen, task)  # a run that is none leaves no folder behind
            return _whole(str(chosen), agents, budgets, length, population, task, out, device, json=json, quiet=quiet)
        spec = EvaluationSpec(
            str(chosen),
            agents,
            budgets,
            instances,
            validation,
            length,
            seed,
            edges,
            stop_on_deadlock,
            whole_commitments,
            task,
            price_action,
            price_observation,
            regret,
            split,
            fresh,
        )
        recipe_of(chosen, task)
        team = ranks.meet(device)
        with watched(team), EvaluationStore(out) if team.is_main_process else nullcontext() as store:
            summary = Evaluation(spec, store, team=team, again=again, quiet=quiet, anyway=anyway).run()
            if store is None:
                return 0
            if members:
                text = experiments.write(store, FamilyResults(summary, members), tables)
            else:
                text = experiments.write_plain(store, printed.text(summary, out))
    except ValueError as error:
        raise WrongCall(str(error)) from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on, and plays no agent again") from None
    tell(json_module.dumps(summary, indent=2) + "\n" if json else text, end="")
    return 0


def _whole(
    run: str,
    agents: tuple[str, ...],
    budgets: tuple[str, ...],
    length: tuple[int, ...],
    kind: str,
    task: str,
    out: Path,
    device: str,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Exact figures over a population; of the usual agents those that have them."""
    from recommit.evaluate import population as population_run
    from recommit.evaluate.population import EXACT
    from recommit.evaluate.store import EvaluationStore
    from recommit.runs import ranks
    from recommit.runs.peers import watched

    if agents == USUAL:
        agents = tuple(agent for agent in USUAL if agent in EXACT or agent.startswith("fixed-"))
    spec = population_run.PopulationSpec(run, agents, budgets, kind, length, task)
    team = ranks.meet(device)
    with watched(team), EvaluationStore(out) if team.is_main_process else nullcontext() as store:
        rows = population_run.run(spec, store, team, quiet=quiet)
        if store is None:
            return 0
        text = population_run.text(rows)
        store.write_page("population.md", text)
    tell(json_module.dumps(rows, indent=2) + "\n" if json else text, end="")
    return 0
