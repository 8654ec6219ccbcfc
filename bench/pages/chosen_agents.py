"""Some agents of an evaluation as one table: what they solve, and how much of what a perfect choice of depths adds.

    python -m bench.pages.chosen_agents boxoban/sokoban/eval-s0 --csv docs/results/boxoban-preset.csv \\
        "imitation | world model=adaptive@world-model-s0" "adaptive (RL) | its own=adaptive" ...

Names are of plans and of who chooses depths; agents are those of ``summary.json``, with the last folder of a run.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import Any

HEAD = (
    "plans",
    "depth by",
    "K",
    "solved, % (95 %)",
    "actions",
    "observations",
    "left without a solution, %",
    "gain share",
)


def line(name: str, row: dict[str, Any]) -> list[str]:
    """An agent under one budget."""
    spread = lambda keys, scale, form: [f"{scale * row[key]:{form}}" for key in keys]
    share, low, high = spread(("solve_rate", "solve_low", "solve_high"), 100, ".1f")
    gain = (
        "" if row.get("gain") is None else "{} ({} .. {})".format(*spread(("gain", "gain_low", "gain_high"), 1, ".2f"))
    )
    cells = [f"{row['actions_per_episode']:.1f}", f"{row['decisions_per_episode']:.1f}", f"{100 * row['lost']:.1f}"]
    return [*name.split(" | "), str(row["decisions"]), f"{share} ({low} .. {high})", *cells, gain]


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
    lines = []
    for said in options.agents:
        name, _, agent = said.rpartition("=")
        if agent not in rows:
            raise SystemExit(f"agents: expected some of {', '.join(rows)}, got {agent}")
        lines += [line(name, row) for row in rows[agent]]
    with options.csv.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *lines])
    return 0


if __name__ == "__main__":
    sys.exit(main())
