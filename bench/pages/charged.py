"""Tables of docs/results-heads.md where looks cost something: one head that reads the price, beside who cannot.

python -m bench.pages.charged FOLDER...   # evaluations with --price-observation, of all seeds and prices
python -m bench.pages.heads               # the tables of the page

Writes docs/assets/heads-charged.json. The seed of an evaluation is that of its run; its first agent is the one that is
compared with the others.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from statistics import mean
from typing import Any

from recommit.evaluate.agent_names import AgentName
from recommit.storage.terminal_text import grid

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: Folder of a policy, without its seed -> who chooses the depth; all of them go by the same plans.
HEADS = {"stakes": "foresight and stakes", "foresight": "foresight", "": "own head"}
CONSTANT, CEILING = "best constant", "perfect depths"
RULES = {"confidence-entropy": "entropy threshold", "oracle-dp": CEILING}
KEPT = ("value", "gain")


def gathered(folders: list[Path]) -> dict[str, Any]:
    """What the tables need of these evaluations."""
    rows, ahead, sets = [], [], set()
    for folder in folders:
        plan, summary = (json.loads((folder / name).read_text()) for name in ("plan.json", "summary.json"))
        sets.add((plan["test_set"], plan["instances"], plan["fresh"]))
        about = {"seed": int(plan["run"].rpartition("-s")[2]), "look": plan["price_observation"]}
        constants = {row["budget"]: row["gain_constant"] for row in summary if row.get("gain_constant")}
        for row in summary:
            if chooses := _chooses(row["agent"], constants[row["budget"]]):
                values = {key: row.get(key) for key in KEPT}
                rows.append({**about, "K": row["decisions"], "chooses": chooses, **values})
        decisions = {row["budget"]: row["decisions"] for row in summary}
        first = AgentName.parse(summary[0]["agent"])
        for row in json.loads((folder / "comparisons.json").read_text()):
            chooses = _chooses(row["against"], constants[row["budget"]])
            if AgentName.parse(row["agent"]) == first and chooses:
                about_pair = {**about, "K": decisions[row["budget"]], "against": chooses}
                ahead.append({**about_pair, **row["value_difference"]})
    ((test_set, instances, fresh),) = sets
    return {
        "task": "charged",
        "fresh": fresh,
        "test_set": test_set,
        "instances": instances,
        "rows": rows,
        "ahead": ahead,
    }


def _chooses(agent: str, constant: str) -> str:
    """Who chooses the depth, in the tables' words; empty for whom they do not show."""
    name = AgentName.parse(agent)
    if name.depth:
        return CONSTANT if AgentName.parse(constant) == name else ""
    return HEADS[re.sub(r"-s\d+$", "", Path(name.run).name)] if name.base == "adaptive" else RULES.get(name.base, "")


def value(figures: dict[str, Any]) -> str:
    """Solved episodes less what actions and looks cost, means of seeds, and what share of what there is to gain."""
    names = list(dict.fromkeys(row["chooses"] for row in figures["rows"]))
    names.sort(key=lambda name: (name == CEILING, name != CONSTANT))
    lines = []
    for decisions, look in _settings(figures["rows"]):
        own = [row for row in figures["rows"] if (row["K"], row["look"]) == (decisions, look)]
        by_name = {name: [row for row in own if row["chooses"] == name] for name in names}
        values = (f"{mean(row['value'] for row in by_name[name]):.3f}" for name in names)
        shares = (_share(by_name[name]) for name in HEADS.values())
        lines.append([str(decisions), f"{look:g}", *values, *shares])
    head = ["K", "a look costs", *names, *(f"share of {name}" for name in HEADS.values())]
    return grid(head, lines)


def _share(rows: list[dict[str, Any]]) -> str:
    return f"{mean(row['gain'] for row in rows):.2f}"


def ahead(figures: dict[str, Any]) -> str:
    """By how much the first agent is ahead in value, every seed with its interval."""
    names = [name for name in dict.fromkeys(row["against"] for row in figures["ahead"]) if name != CEILING]
    lines = []
    for decisions, look in _settings(figures["ahead"]):
        own = [row for row in figures["ahead"] if (row["K"], row["look"]) == (decisions, look)]
        cells = (
            "; ".join(
                f"s{row['seed']} {row['mean']:+.3f} ({row['low']:+.3f} .. {row['high']:+.3f})"
                for row in own
                if row["against"] == name
            )
            for name in names
        )
        lines.append([str(decisions), f"{look:g}", *cells])
    return grid(["K", "a look costs", *names], lines)


def _settings(rows: list[dict[str, Any]]) -> list[tuple[int, float]]:
    return sorted({(row["K"], row["look"]) for row in rows}, key=lambda each: (-each[0], each[1]))


def main(words: list[str]) -> int:
    figures = gathered([Path(word) for word in words])
    path = DOCS / "assets" / "heads-charged.json"
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
