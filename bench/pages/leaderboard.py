"""The table of docs/leaderboard.md, from the records in docs/assets/leaderboard, every one of which is checked.

python -m bench.pages.leaderboard          # writes the table
python -m bench.pages.leaderboard --own    # first scores the agents that we send ourselves
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench.pages import blocks

from recommit.data import leaderboard_splits
from recommit.evaluate.score import ScoreOptions, score, verify
from recommit.policy import pretrained
from recommit.results.table import figure, number
from recommit.storage import files
from recommit.storage.terminal_text import cell

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, RECORDS = DOCS / "leaderboard.md", DOCS / "assets/leaderboard"
#: Functions of ``bench/pages/agents.py`` that are scored on a split -> what the table calls them.
OURS = {
    "sliding-3x3": {
        "optimal": "optimal plans (exact)",
        **{f"sliding_fixed_{h}": f"sliding-3x3's plans, fixed depth {h}" for h in (4, 7, 8)},
    },
    "sliding-4x4": {"optimal": "optimal plans (exact)"},
    "sokoban-7x7": {
        "optimal": "optimal plans (exact)",
        **{f"sokoban_fixed_{h}": f"sokoban-7x7's plans, fixed depth {h}" for h in (6, 8)},
    },
}


def own() -> None:
    """Records of our own agents."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    for name, functions in OURS.items():
        every = {f"{Path(__file__).with_name('agents.py')}:{agent}": words for agent, words in functions.items()}
        every |= {policy: f"policy {policy}" for policy in pretrained.names() if policy == name}
        for agent, words in every.items():
            out = RECORDS / f"{name}-{agent.rpartition(':')[2]}.json"
            score(ScoreOptions(agent=agent, split=name, out=out, name=words, run_code=True))


def page() -> str:
    """The page with its table as the records say."""
    return blocks.filled(PAGE.read_text(encoding="utf-8"), "leaderboard", lambda _: table())


def table() -> str:
    """All records, the best value first, per split and budget."""
    lines = [
        "| split | K | agent | solved, % (95 %) | actions | observations | value, points (95 %) | record |",
        "|---|---:|---|---:|---:|---:|---:|---|",
    ]
    every = [(path, verify(path)) for path in sorted(RECORDS.glob("*.json"))]
    for split in leaderboard_splits.names():
        for budget in leaderboard_splits.read(split).budgets:
            own = [(_row(record, budget), path, record["name"]) for path, record in every if record["split"] == split]
            own.sort(key=lambda each: -each[0]["value"])
            lines += [_line(split, *each) for each in own]
    return "\n".join(lines)


def _row(record: dict[str, Any], budget: int) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in record["rows"] if row["decisions"] == budget)
    return found


def _line(split: str, row: dict[str, Any], path: Path, name: str) -> str:
    cells = [f"`{split}`", str(row["decisions"]), cell(name), figure(row, "solve_rate", 1, 100.0)]
    cells += [number(row["actions_per_episode"]), number(row["decisions_per_episode"]), figure(row, "value", 1, 100.0)]
    return f"| {' | '.join(cells)} | [JSON](assets/leaderboard/{quote(path.name)}) |"


if __name__ == "__main__":
    if sys.argv[1:] == ["--own"]:
        own()
    files.replace(files.Files(), PAGE, page().encode())
    print(table())
