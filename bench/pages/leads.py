"""Tables of docs/results-heads.md: the head of a preset against each other agent, episode by episode, at four prices.

python -m bench.pages.leads laptop/sliding/fresh-s?    # writes docs/assets/heads-leads.json, for bench.pages.heads
python -m bench.pages.leads laptop/sokoban/fresh-s?    # writes docs/assets/heads-rooms.json

The evaluations are those of a preset, one per seed; nobody plays again. So the head plays for its usual price, and its
value at the other prices is a bound from below. Where instances share rooms, intervals are over rooms.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from recommit.evaluate import seeds
from recommit.stats import bootstrap
from recommit.storage.terminal_text import grid

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: What a look costs; an action costs ``ACTION``.
LOOKS, ACTION = (0.005, 0.01, 0.02, 0.04), 0.01
#: Of each puzzle: the head that is compared, and what its table is called.
FIRST = {"sliding": ("adaptive@stakes", "leads"), "sokoban": ("adaptive@foresight", "rooms")}
#: Agents by kind -> the table's words; the chosen constants come beside them.
OTHERS = {
    "adaptive": "own head",
    "adaptive@foresight": "foresight",
    "fixed-4@fixed-4": "plans trained for depth 4, always 4",
    "fixed-8@fixed-8": "plans trained for depth 8, always 8",
    "confidence-entropy": "entropy threshold",
    "confidence-entropy@foresight": "entropy threshold, eight views",
}
FIGURES = ("solved", "actions", "decisions")


def gathered(folders: list[Path]) -> dict[str, Any]:
    """Every pair's differences, seed by seed."""
    rows, sets, tables = [], set(), set()
    for folder in folders:
        plan, summary = (json.loads((folder / name).read_text()) for name in ("plan.json", "summary.json"))
        sets.add((plan["test_set"], plan["instances"]))
        first, table = FIRST[summary[0]["task"]]
        tables.add(table)
        columns = pq.read_table(folder / "episodes.parquet").to_pydict()
        agents, budgets = (np.array(columns[name], object) for name in ("agent", "budget"))
        every = {name: np.array(columns[name], np.float64) for name in FIGURES}
        rooms, own = seeds.rooms_of(folder), seeds.seed_of(plan["run"])
        for budget, decisions in {row["budget"]: row["decisions"] for row in summary}.items():
            words = _words([row for row in summary if row["budget"] == budget], own)
            (head,) = (row["agent"] for row in summary if row["budget"] == budget and _is(row["agent"], first, own))
            played = {
                agent: {name: values[(agents == agent) & (budgets == budget)] for name, values in every.items()}
                for agent in (head, *words)
            }
            for other in words:
                if other != head:
                    about = {"seed": int(own), "K": decisions, "against": words[other]}
                    rows.append({**about, **_differences(played[head], played[other], rooms)})
    ((test_set, instances),), (table,) = sets, tables
    return {"task": table, "test_set": test_set, "instances": instances, "rows": rows}


def _words(summary: list[dict[str, Any]], own: str) -> dict[str, str]:
    """What the agents of one budget are called: those of the table, and the best constant of each policy's plans."""
    names = dict.fromkeys(row["agent"] for row in summary)
    words = {agent: OTHERS[seeds.kind(agent)] for agent in names if seeds.kind(agent) in OTHERS and _own(agent, own)}
    for constant in dict.fromkeys(row["gain_constant"] for row in summary if row.get("gain_constant")):
        views = ", eight views" if "@" in constant else ""
        words.setdefault(constant, f"best constant{views}")
    return words


def _is(agent: str, kind: str, own: str) -> bool:
    return seeds.kind(agent) == kind and _own(agent, own)


def _own(agent: str, seed: str) -> bool:
    return seeds.seed_of(agent) in ("", seed)


def _differences(one: dict[str, Any], other: dict[str, Any], rooms: Any) -> dict[str, Any]:
    less = {name: one[name] - other[name] for name in FIGURES}
    values = {f"{look:g}": less["solved"] - ACTION * less["actions"] - look * less["decisions"] for look in LOOKS}
    return {name: vars(bootstrap(column, rooms)) for name, column in ({**less, **values}).items()}


def leads(figures: dict[str, Any]) -> str:
    """Means over seeds; of values also how many seeds are ahead beyond chance."""
    names = dict.fromkeys((row["K"], row["against"]) for row in figures["rows"])
    lines = []
    for decisions, against in sorted(names, key=lambda each: -each[0]):
        own = [row for row in figures["rows"] if (row["K"], row["against"]) == (decisions, against)]
        prices = (_of(own, f"{look:g}", 1) for look in LOOKS)
        lines.append([str(decisions), against, _of(own, "solved", 100), _of(own, "actions", 1), *prices])
    words = (f"value, a look costs {look:g}" for look in LOOKS)
    return grid(["K", "against", "solved, points", "actions", *words], lines)


def _of(rows: list[dict[str, Any]], name: str, scale: float) -> str:
    """The mean of the seeds, and of how many the interval is above 0 and below it."""
    above, below = (sum(row[name]["low"] > 0 for row in rows), sum(row[name]["high"] < 0 for row in rows))
    digits = 3 if scale == 1 and name not in FIGURES else 1
    return f"{scale * mean(row[name]['mean'] for row in rows):+.{digits}f} (+{above} -{below})"


def main(words: list[str]) -> int:
    figures = gathered([Path(word) for word in words])
    (DOCS / "assets" / f"heads-{figures['task']}.json").write_text(
        json.dumps(figures, indent=1) + "\n", encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
