"""Fills the tables of the pages from what visits to GPUs left in ``bench/results``: a figure per machine, or that it is
not measured, and always the command that measures it.

python -m bench.gpu.page [--check]
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.pages import blocks

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
MARK = "pytest.mark.gpu"
NONE = "**not measured**"


@dataclass(frozen=True)
class Row:
    """One quantity: which part of a visit measures it, how it is read from its figures, and under which name
    ``planned.json`` has what ``recommit estimate`` says of it."""

    what: str
    part: str
    read: Callable[[dict[str, Any]], str]
    planned: str = ""


def _learned(found: dict[str, Any]) -> str:
    """The fastest size of a warm start."""
    every = [(n, how, row) for how in ("kept", "recomputed") for n, row in found[how].items()]
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


def _of_row(part: str, what: str, row: str, say: Callable[[dict[str, Any]], str], planned: str = "") -> Row:
    """A quantity that a part has in one of its rows."""
    return Row(what, part, lambda figures: say(figures["rows"][row]), planned)


def _played(row: dict[str, Any]) -> str:
    return f"{row['decisions_per_s']:,.1f} decisions/s, {row['looks_per_s']:,.1f} observations/s"


PROMPTS = ("shared text", "picture first")
#: Puzzle and prompts.
ASKED = [f"{puzzle}, {prompt}" for prompt in PROMPTS for puzzle in ("sliding", "sokoban")]
RATES = (
    *(_of_row("sft", f"{each}: warm start", each, _learned, f"sft, {each}") for each in ASKED),
    Row("warm start, times the naive loop", "sft", lambda f: f"{f['ratio']:.1f}"),
    *(_of_row("grpo", f"paper-{each}: a step", f"paper-{each}", _reinforced, f"grpo, paper-{each}") for each in ASKED),
    _of_row("grpo", "exact values, shared text: a step on 256 states", "exact values, shared text", _reinforced),
    Row("decisions, times the naive loop", "grpo", lambda f: f"{f['ratio']:.1f}"),
    _of_row(
        "grpo",
        "largest ratio from 1 at learning rate 0: old log probabilities of sampling, then of the passes that learn",
        "paper-sokoban, shared text",
        _noise,
    ),
    Row(
        "200 steps at the paper's rates: least share of weights that move, cosine with the optimiser's",
        "precision",
        lambda f: f"{100 * f['changed']:.1f} %, {f['cosine']:.4f}, by {f['engines']} engines",
    ),
    *(_of_row("play", f"evaluation, sokoban, {each}", each, _played, f"play, sokoban, {each}") for each in PROMPTS),
    Row(
        "preset h200, scaled to the time: share of it, solved by adaptive at a loose budget",
        "reproduce",
        lambda f: f"{100 * f['share']:.0f} %, {100 * f['solve_rates']['adaptive loose']:.1f} %",
    ),
)


def visits() -> list[dict[str, Any]]:
    """The last visit to each kind of GPU, the newest first."""
    read = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    real = sorted((r for r in read if "parts" in r and not r["dry"]), key=lambda r: r["date"])
    return list({visit["device"]: visit for visit in real}.values())[::-1]


def planned() -> dict[str, Any]:
    """What ``planned.py`` wrote of the same quantities."""
    path = ROOT / "bench" / "results" / "planned.json"
    figures: dict[str, Any] = json.loads(path.read_text())
    return figures


def cell(row: Row, visit: dict[str, Any]) -> str:
    """A figure, if that part of the visit has it."""
    try:
        return row.read(visit["parts"][row.part]["figures"])
    except (KeyError, ValueError):
        return NONE


def rates() -> str:
    """The table of rates."""
    machines, plans = visits(), planned()
    columns = [f"{visit['device']}, {visit['date']}" for visit in machines] or ["one GPU"]
    basis = f"by plan: {plans['card'].upper()}, {plans['share']:.0%} of its best rate (assumed)"
    lines = [
        ["Qwen2.5-VL-7B, random weights, 3x3 sliding, 7x7 Sokoban", basis, *columns, "command"],
        ["---"] * (3 + len(columns)),
    ]
    for row in RATES:
        figures = [cell(row, visit) for visit in machines] or [NONE]
        lines.append(
            [row.what, plans["rows"].get(row.planned, ""), *figures, f"`bash bench/gpu/all --only {row.part}`"]
        )
    return _table(lines)


def tests() -> str:
    """The table of tests that want a GPU."""
    machines = visits()
    lines = [["file", "tests", "last run", "command"], ["---"] * 4]
    for path in files():
        shown = ", ".join(f"`{name.removeprefix('test_')}`" for name in marked(path))
        run = f"`python -m pytest -m gpu {path.relative_to(ROOT).as_posix()}`"
        lines.append([f"`{path.name}`", shown, _last_run(machines), run])
    return _table(lines)


def files() -> list[Path]:
    """Those with tests that want a GPU: in ``tests/gpu``, whose fixture ``device`` has the mark, and wherever it is
    set.
    """
    own = (ROOT / "tests" / "gpu").glob("test_*.py")
    others = (p for p in (ROOT / "tests" / "unit").rglob("test_*.py") if f"@{MARK}" in p.read_text())
    return [path for path in sorted([*own, *others]) if marked(path)]


def marked(path: Path) -> list[str]:
    """Names of the tests of a file that run on a GPU: those that have the mark, or take ``device`` or something that
    does.
    """
    functions = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    wanted, names = {"device"}, {f.name: {a.arg for a in f.args.args} for f in functions}
    for _ in functions:
        wanted |= {f.name for f in functions if _decorated(f, "fixture") and names[f.name] & wanted}
    ours = path.parent.name == "gpu"
    tests = [f for f in functions if f.name.startswith("test_")]
    return [f.name for f in tests if _decorated(f, MARK) or (ours and names[f.name] & wanted)]


def _decorated(function: ast.FunctionDef, word: str) -> bool:
    return any(word in ast.unparse(decorator) for decorator in function.decorator_list)


def _last_run(machines: list[dict[str, Any]]) -> str:
    for visit in machines:
        part = visit["parts"].get("checks", {})
        if "figures" in part:
            return (
                f"{visit['device']}, {visit['date']}: {part['figures']['passed']} passed, "
                f"{part['figures']['failed']} failed"
            )
    return "never"


def _table(lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PAGES = [ROOT / "docs" / name for name in ("benchmarks-train.md", "hardware.md")]
#: Name of a table, and what makes it.
TABLES: dict[str, Callable[[], str]] = {"rates": rates, "tests": tests}


def main(words: list[str] | None = None) -> int:
    options = blocks.parser(__doc__).parse_args(words)
    make = lambda name: TABLES[name]()
    pages = {path: blocks.filled(path.read_text(encoding="utf-8"), "gpu", make) for path in PAGES}
    return blocks.write(pages, options.check)


if __name__ == "__main__":
    sys.exit(main())
