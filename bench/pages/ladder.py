"""Table of docs/results-heads.md from the preset ladder: the paper's recipe, and then one change per row.

python -m bench.pages.ladder ladder/sliding    # -> docs/assets/heads-ladder.json; then python -m bench.pages.heads
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.tables.recipe_changes import RUNGS
from recommit.storage.terminal_text import grid

DOCS = Path(__file__).resolve().parents[2] / "docs"
KEPT = ("solve_rate", "solve_low", "solve_high", "actions_per_episode", "decisions_per_episode", "gain")


def gathered(folder: Path) -> dict[str, Any]:
    """Every rung's figures and its processor time; the folder is one puzzle of the reproduction."""
    (evaluation,) = folder.glob("eval-s*")
    plan, summary = (json.loads((evaluation / name).read_text()) for name in ("plan.json", "summary.json"))
    rows = []
    for row in summary:
        name = AgentName.parse(row["agent"])
        run = Path(name.run or plan["run"])
        rung = re.sub(r"-s\d+$", "", run.name)
        if name.base == "adaptive" and not name.depth and rung in RUNGS:
            seconds = sum(json.loads(line)["cpu_s"] for line in (run / "timing.jsonl").read_text().splitlines())
            about = {"rung": rung, "K": row["decisions"], "cpu_s": seconds}
            rows.append({**about, **{key: row.get(key) for key in KEPT}})
    rows.sort(key=lambda row: (-row["K"], list(RUNGS).index(row["rung"])))
    return {"task": "ladder", "test_set": plan["test_set"], "instances": plan["instances"], "rows": rows}


def rungs(figures: dict[str, Any]) -> str:
    """A row per change, with every number of looks."""
    looks = sorted({row["K"] for row in figures["rows"]}, reverse=True)
    lines = []
    for rung, words in RUNGS.items():
        own = {row["K"]: row for row in figures["rows"] if row["rung"] == rung}
        if own:
            cells = (_cell(own[k]) for k in looks)
            lines.append([rung, words, *(part for cell in cells for part in cell), f"{own[looks[0]]['cpu_s']:.0f}"])
    columns = (part for k in looks for part in (f"K = {k}: solved (95 %)", "actions"))
    return grid(["run", "what changes", *columns, "CPU s"], lines)


def _cell(row: dict[str, Any]) -> tuple[str, str]:
    solved, low, high = (100 * row[key] for key in ("solve_rate", "solve_low", "solve_high"))
    return f"{solved:.1f} ({low:.1f} .. {high:.1f})", f"{row['actions_per_episode']:.1f}"


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    text = json.dumps(gathered(Path(sys.argv[1])), indent=1)
    (DOCS / "assets" / "heads-ladder.json").write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
