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
OPTIMAL = {"optimal": "optimal plans (exact)"}
OURS = {
    "sliding-3x3": OPTIMAL | {f"sliding_fixed_{h}": f"sliding-3x3's plans, fixed depth {h}" for h in (4, 7, 8)},
    "sliding-4x4": OPTIMAL,
    "sokoban-7x7": OPTIMAL | {f"sokoban_fixed_{h}": f"sokoban-7x7's plans, fixed depth {h}" for h in (6, 8)},
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
    rows = [(row, record, path) for path, record in every for row in record["rows"]]
    for split in leaderboard_splits.names():
        for budget in leaderboard_splits.read(split).budgets:
            own = [each for each in rows if (each[1]["split"], each[0]["decisions"]) == (split, budget)]
            lines += [_line(*each) for each in sorted(own, key=lambda each: -each[0]["value"])]
    return "\n".join(lines)


def _line(row: dict[str, Any], record: dict[str, Any], path: Path) -> str:
    cells = [f"`{record['split']}`", str(row["decisions"]), cell(record["name"]), figure(row, "solve_rate", 1, 100.0)]
    cells += [number(row["actions_per_episode"]), number(row["decisions_per_episode"]), figure(row, "value", 1, 100.0)]
    return f"| {' | '.join(cells)} | [JSON](assets/leaderboard/{quote(path.name)}) |"


if __name__ == "__main__":
    if sys.argv[1:] == ["--own"]:
        own()
    files.replace(files.Files(), PAGE, page().encode())
    print(table())
