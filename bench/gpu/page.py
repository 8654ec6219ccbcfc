"""Fills the table of rates from what visits to GPUs left in ``bench/results``: a figure per machine, or that it is
not measured, and always the command that measures it.

python -m bench.gpu.page [--check]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.pages import blocks

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "bench" / "results", ROOT / "docs" / "benchmarks-train.md"
NONE = "**not measured**"


@dataclass(frozen=True)
class Row:
    """One quantity: which part of a visit measures it, how its figures are said, of which row of that part if it has
    any, and under which name ``planned.json`` has what ``recommit estimate`` says of it."""

    what: str
    part: str
    say: Callable[[dict[str, Any]], str]
    row: str = ""
    planned: str = ""


def _learned(found: dict[str, Any]) -> str:
    """The fastest size of a warm start."""
    every = [(n, how, row) for how in ("kept", "compiled", "recomputed") for n, row in found[how].items()]
    states, how, row = max(every, key=lambda each: each[2]["states_per_s"])
    return (
        f"{row['states_per_s']:,.1f} states/s, {100 * row['share_of_peak']:.0f} % of 790 TFLOP/s, "
        f"{row['peak_gib']:.1f} GiB, {100 * row['outside_model']:.1f} % of the time outside the model; "
        f"{states} at a time, activations {how}"
    )


def _reinforced(row: dict[str, Any]) -> str:
    return (
        f"{row['decisions_per_s']:,.1f} decisions/s, {row['updates_per_s']:.2f} updates/s of 64 states, "
        f"{row['peak_gib']:.1f} GiB, {100 * row['outside_model']:.1f} % outside the model"
    )


def _noise(row: dict[str, Any]) -> str:
    sampled, learned, share = (row[name] for name in ("sampled_largest", "learned_largest", "sampled_clipped"))
    return f"{sampled:.2g} ({100 * share:.2f} % clipped), then {learned:.2g}"


def _played(row: dict[str, Any]) -> str:
    return f"{row['decisions_per_s']:,.1f} decisions/s, {row['looks_per_s']:,.1f} observations/s"


def _ran(row: dict[str, Any]) -> str:
    return f"{row['start_s']:.1f} s, {row['checkpoint_s']:.2f} s, {row['resume_s']:.1f} s"


PROMPTS = ("shared text", "picture first")
GPUS = ("one GPU", "two GPUs")
#: Puzzle and prompts.
ASKED = [f"{puzzle}, {prompt}" for prompt in PROMPTS for puzzle in ("sliding", "sokoban")]
RATES = (
    *(Row(f"{each}: warm start", "sft", _learned, each, f"sft, {each}") for each in ASKED),
    *(Row(f"paper-{each}: a step", "grpo", _reinforced, f"paper-{each}", f"grpo, paper-{each}") for each in ASKED),
    Row("exact values, shared text: a step on 256 states", "grpo", _reinforced, "exact values, shared text"),
    Row(
        "largest ratio from 1 at learning rate 0: old log probabilities of sampling, then of the passes that learn",
        "grpo",
        _noise,
        "paper-sokoban, shared text",
    ),
    Row(
        "200 steps at the paper's rates: least share of weights that move, cosine with the optimiser's",
        "precision",
        lambda f: f"{100 * f['changed']:.1f} %, {f['cosine']:.4f}, by {f['engines']} engines",
    ),
    *(Row(f"{gpus}: start, checkpoint, resumption of a run", "run", _ran, gpus) for gpus in GPUS),
    *(Row(f"evaluation, sokoban, {each}", "play", _played, each, f"play, sokoban, {each}") for each in PROMPTS),
)


def visits() -> list[dict[str, Any]]:
    """The last visit to each kind of GPU, the newest first."""
    read = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    real = sorted((r for r in read if "parts" in r and not r["dry"]), key=lambda r: r["date"])
    return list({visit["device"]: visit for visit in real}.values())[::-1]


def cell(row: Row, visit: dict[str, Any]) -> str:
    """A figure, if that part of the visit has it."""
    try:
        figures = visit["parts"][row.part]["figures"]
        return row.say(figures["rows"][row.row] if row.row else figures)
    except (KeyError, ValueError):
        return NONE


def rates() -> str:
    """The table of rates, beside what ``recommit estimate`` said of the same quantities at 9c467fb9."""
    machines, plans = visits(), json.loads((RESULTS / "planned.json").read_text())
    columns = [f"{visit['device']}, {visit['date']}" for visit in machines] or ["one GPU"]
    basis = f"by plan: {plans['card'].upper()}, {plans['share']:.0%} of its best rate (assumed)"
    lines = [
        ["Qwen2.5-VL-7B, random weights, 3x3 sliding, 7x7 Sokoban", basis, *columns, "command"],
        ["---"] * (3 + len(columns)),
    ]
    for row in RATES:
        figures = [cell(row, visit) for visit in machines] or [NONE]
        command = f"`bash bench/gpu/all --only {row.part}`"
        lines.append([row.what, plans["rows"].get(row.planned, ""), *figures, command])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(words: list[str] | None = None) -> int:
    options = blocks.parser(__doc__).parse_args(words)
    page = blocks.filled(PAGE.read_text(encoding="utf-8"), "gpu", lambda _name: rates())
    return blocks.write({PAGE: page}, options.check)


if __name__ == "__main__":
    sys.exit(main())
