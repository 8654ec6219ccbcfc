"""Some agents of an evaluation as one table: what they solve, and how much of what a perfect choice of depths adds.

    python -m bench.pages.chosen_agents boxoban/sokoban/eval-s0 --csv docs/results/boxoban-preset.csv \\
        "imitation | world model=adaptive@world-model-s0" "adaptive (RL) | its own=adaptive" ...

Names are of plans and of who chooses depths; agents are those of ``summary.json``, with the last folder of a run.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.results.table import Grid, figure, number, percent

if TYPE_CHECKING:
    from collections.abc import Callable

    Line = tuple[str, dict[str, Any]]

COLUMNS: dict[str, Callable[[Line], str]] = {
    "plans": lambda each: each[0].partition(" | ")[0],
    "depth by": lambda each: each[0].partition(" | ")[2],
    "K": lambda each: str(each[1]["decisions"]),
    "solved, % (95 %)": lambda each: figure(each[1], "solve_rate", 1, 100.0),
    "actions": lambda each: number(each[1]["actions_per_episode"]),
    "observations": lambda each: number(each[1]["decisions_per_episode"]),
    "left without a solution, %": lambda each: percent(each[1]["lost"]),
    "gain share": lambda each: "" if each[1].get("gain") is None else figure(each[1], "gain", 2),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evaluation", type=Path)
    parser.add_argument("agents", nargs="+", metavar="PLANS | CHOOSER=AGENT")
    parser.add_argument("--csv", type=Path, required=True)
    options = parser.parse_args()
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in json.loads((options.evaluation / "summary.json").read_text(encoding="utf-8")):
        agent, _, run = row["agent"].partition("@")
        rows.setdefault(f"{agent}@{Path(run).name}" if run else agent, []).append(row)
    named = [(name, agent) for name, _, agent in (each.rpartition("=") for each in options.agents)]
    if wrong := [agent for _, agent in named if agent not in rows]:
        raise SystemExit(f"agents: expected some of {', '.join(rows)}, got {wrong[0]}")
    lines = [(name, row) for name, agent in named for row in rows[agent]]
    options.csv.write_text(Grid.by(COLUMNS, lines).csv(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
