"""Plans of the paper's recipes on three machines, as the tables of docs/a100.md.

python bench/pages/plans.py [--count | --runs | --check]

``--count`` plans every stage anew (minutes), keeps the figures in the package, where ``recommit doctor`` reads them,
and writes the page. ``--runs`` does so for the runs of the preset alone. Without them the page is written from what is
kept; ``--check`` writes nothing and exits with 1 if the page is not that.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from recommit.estimate.paper import COUNTED_FILE, MACHINES, STAGES, Figures, Runs, counted_before
from recommit.estimate.report import gib, operations, seconds

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "a100.md"
#: In the table of runs: of both puzzles.
BOTH = "both"
TITLES = {("a100", 8): "8 x A100", ("h200", 1): "one H200", ("rtx4090", 1): "one card of 24 GB"}


@cache
def planned(recipe: str, stage: str, gpus: int) -> Any:
    """What a stage takes on any card."""
    from recommit.estimate import estimate, machine, recipes

    request, board = recipes.ChangedRecipe(recipe), recipes.puzzle(recipe)
    return estimate(request.stage(stage, board), request.model, board, machine("a100", gpus), fit=False)


def count(recipe: str, stage: str, card: str, gpus: int) -> Figures:
    """The figures of one stage on one machine."""
    from recommit.estimate import machine, recipes
    from recommit.estimate.estimating import peak
    from recommit.estimate.fit import settings

    request, board, on = recipes.ChangedRecipe(recipe), recipes.puzzle(recipe), machine(card, gpus)
    config: Any = request.stage(stage, board)
    estimated = replace(planned(recipe, stage, gpus), limit=on.limit, rate=on.rate("bfloat16"))
    if not estimated.fits:
        estimated = replace(estimated, fits_with=settings(config, request.model, board, on))
    least = estimated.memory.peak
    if stage != "evaluate" and gpus == 1:
        least = peak(replace(config, optim=replace(config.optim, micro_batch=1)), request.model, board, on)
    first = estimated.phases[0]
    return Figures(
        recipe,
        stage,
        card,
        gpus,
        tokens=estimated.model.visual_tokens + estimated.model.text_tokens,
        trained=sum(estimated.model.trained.values()),
        steps=first.times,
        states=gpus * max(c.states for c in first.counts if c.kind in ("learn", "plans")),
        bounded=any(c.bound for c in first.counts if c.kind in ("learn", "plans")),
        step_flops=gpus * first.flops,
        peak=estimated.memory.peak,
        least=least,
        activations_kept=estimated.memory.activations_kept,
        activations_recomputed=estimated.memory.activations_recomputed,
        fits=estimated.fits,
        fits_with=estimated.fits_with,
        seconds=estimated.seconds or 0.0,
        host=sum(estimated.host.values()),
        disk=sum(estimated.disk.values()),
    )


def everything() -> list[Figures]:
    """Every stage on every machine."""
    figures = []
    for card, gpus in MACHINES:
        for recipe, stage in STAGES:
            figures.append(count(recipe, stage, card, gpus))
            print(figures[-1], file=sys.stderr, flush=True)
    return figures


def runs() -> list[Runs]:
    """The runs of the preset on eight ranks, those that cost the same together."""
    from recommit.reproduce import preset
    from recommit.reproduce import table as reproduce_table

    alike: dict[tuple[str, str], list[Any]] = {}
    planner = reproduce_table.Planner("a100", 8)
    for task, run in preset.every_run(preset.entries(preset.load("paper"), Path("OUT"))):
        recipe = BOTH if run.verb == "sft" else task.values["recipe"]
        alike.setdefault((recipe, _kind(run)), []).append(planner(task, run))
    return [
        Runs(recipe, kind, len(needs), needs[0].gib_per_rank, sum(need.hours for need in needs))
        for (recipe, kind), needs in alike.items()
    ]


def _kind(run: Any) -> str:
    if run.verb == "sft":
        return "warm start"
    variant = "a fixed depth" if run.config.variant.startswith("fixed-") else run.config.variant
    return f"{variant}, {run.config.rollout.budget} decisions"


def stages(figures: list[Figures], card: str, gpus: int) -> str:
    """The table of a machine."""
    head = ["recipe, stage", "tokens", "a step: states, operations", "steps", "GiB of a rank", "fits", "time of a run"]
    rows = [head, ["---"] * len(head)]
    for row in figures:
        if (row.card, row.gpus) == (card, gpus):
            most = "at most " * row.bounded
            rows.append(
                [
                    f"`{row.recipe}` {row.stage}",
                    str(row.tokens),
                    f"{most}{row.states:,}, {operations(row.step_flops)}",
                    f"{row.steps:,}",
                    gib(row.peak),
                    _fits(row),
                    seconds(row.seconds),
                ]
            )
    return _table(rows)


def _fits(row: Figures) -> str:
    if row.fits:
        return "yes"
    return "no" if row.fits_with is None else f"with `--set {' '.join(row.fits_with)}`"


def memory(figures: list[Figures]) -> str:
    """What recomputation saves, and what a node and a run take."""
    head = ["recipe, stage", "machine", "activations kept", "computed again", "node", "disk of a run"]
    rows = [head, ["---"] * len(head)]
    for row in figures:
        if row.stage != "evaluate":
            sizes = (row.activations_kept, row.activations_recomputed, row.host, row.disk)
            machine = TITLES[row.card, row.gpus]
            rows.append([f"`{row.recipe}` {row.stage}", machine, *(f"{gib(size)} GiB" for size in sizes)])
    return _table(rows)


def whole(listed: list[Runs]) -> str:
    """All runs of the preset."""
    head = ["recipe", "runs of", "how many", "GiB of a rank", "hours of all"]
    rows = [head, ["---"] * len(head)]
    rows += [
        [r.recipe if r.recipe == BOTH else f"`{r.recipe}`", r.kind, str(r.count), f"{r.gib:.1f}", f"{r.hours:.2f}"]
        for r in listed
    ]
    rows.append([BOTH, "all", str(sum(r.count for r in listed)), "", f"{sum(r.hours for r in listed):.1f}"])
    return _table(rows)


def _table(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def written(text: str) -> str:
    """The page with every table anew."""
    figures, listed = counted_before()
    tables = {f"{card} {gpus}": stages(figures, card, gpus) for card, gpus in MACHINES}
    tables |= {"memory": memory(figures), "runs": whole(listed)}
    for name, table in tables.items():
        begin, end = f"<!-- plan {name}: written by bench/pages/plans.py -->", f"<!-- plan {name}: end -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", action="store_true")
    options = parser.parse_args()
    if options.count or options.runs:
        figures = counted_before()[0] if options.runs else everything()
        lines = {"figures": [vars(f) for f in figures], "runs": [vars(r) for r in runs()]}
        (ROOT / "python" / "recommit" / "estimate" / COUNTED_FILE).write_text(json.dumps(lines, indent=1) + "\n")
    text = PAGE.read_text(encoding="utf-8")
    if options.check:
        sys.exit(written(text) != text)
    PAGE.write_text(written(text), encoding="utf-8")


if __name__ == "__main__":
    main()
