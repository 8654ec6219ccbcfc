"""Tables of docs/results-heads.md from evaluations of policies with foresight, one per seed; the sentences there stay.

python -m bench.pages.heads gather EVAL-S0 EVAL-S1 EVAL-S2 --split "..."  # their figures -> docs/assets/heads-TASK.json
python -m bench.pages.heads gather laptop/sliding/fresh-s? --name stakes   # of a preset, under another name
python -m bench.pages.heads                                               # the tables of the page, from these files
python -m bench.pages.heads --check                                       # writes nothing; 1 if the page has others

An evaluation has agents of folders that are called by what they are (``FOLDERS``), with ``-sSEED`` behind it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from bench.pages import charged, ladder, leads

from recommit.evaluate.agent_names import AgentName
from recommit.storage.terminal_text import grid
from recommit.train.baselines import audit_page
from recommit.train.baselines.audit import AuditRow

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "results-heads.md"
BLOCK = re.compile(r"<!-- (?P<task>[a-z]+) (?P<table>[a-z]+) -->\n.*?<!-- end -->", re.DOTALL)
#: Folder of a policy, without its seed -> whose plans, in the tables' words.
FOLDERS = {
    "": "adaptive, after reinforcement",
    "adaptive": "adaptive, after reinforcement",
    "fixed-4": "plans trained for depth 4",
    "fixed-8": "plans trained for depth 8",
    "foresight-views8": "warm start, eight views",
    "foresight-views1": "warm start, one view",
    "foresight-adaptive": "adaptive, after reinforcement",
    "foresight-sliding": "adaptive, after reinforcement",
    "stakes-sliding": "adaptive, after reinforcement",
    "stakes-views1": "warm start, one view",
}
#: Of folders of a preset, whose plans its heads go by.
OF_PRESET = {"sliding": FOLDERS["adaptive"], "sokoban": FOLDERS["foresight-views8"]}
#: Who chooses the depth, by the agent and whether its folder has foresight.
HEADS = charged.HEADS
#: Who else chooses.
RULES = {"fixed-4": "always 4", "fixed-8": "always 8", **charged.RULES}
KEPT = ("solve_rate", "solve_low", "solve_high", "actions_per_episode", "decisions_per_episode")
SHARES = ("gain", "gain_low", "gain_high")


def gathered(folders: list[Path], split: str, name: str = "") -> dict[str, Any]:
    """What the page needs of the evaluations of one task, seed by seed."""
    rows, compared, looks, sets = [], [], [], set()
    for seed, folder in enumerate(folders):
        plan, summary = (json.loads((folder / name).read_text()) for name in ("plan.json", "summary.json"))
        sets.add((plan["test_set"], plan["instances"]))
        best = {(row["budget"], row.get("gain_constant")) for row in summary}
        task = summary[0]["task"]
        for row in summary:
            words = _words(row["agent"], task)
            if words is None or _other_constant(row["agent"], row["budget"], best):
                continue
            about = {"seed": seed, "budget": row["budget"], "decisions": row["decisions"], **words}
            rows.append({**about, **{key: row[key] for key in KEPT}, **{key: row.get(key) for key in SHARES}})
        first = AgentName.parse(summary[0]["agent"])
        for row in json.loads((folder / "comparisons.json").read_text()):
            words, other = _words(row["against"], task), _other_constant(row["against"], row["budget"], best)
            if AgentName.parse(row["agent"]) == first and words is not None and not other:
                against = {"seed": seed, "budget": row["budget"], **words}
                compared.append({**against, "solved": row["solve_difference"], "actions": row["actions_difference"]})
        looks += _looks(folder, seed, task)
    rows, compared = _once(rows), _once(compared)
    _share(rows)
    ((test_set, instances),) = sets
    about = {"task": name or task, "split": split, "test_set": test_set, "instances": instances}
    return {**about, "first": _words(str(first), task), "rows": rows, "compared": compared, "looks": looks}


def _once(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same plans may have been played as those of two folders."""
    names = ("seed", "budget", "plans", "chooses")
    return list({tuple(row[name] for name in names): row for row in reversed(rows)}.values())[::-1]


def _share(rows: list[dict[str, Any]]) -> None:
    """Gain shares of heads that were played without ceiling and constant: by those of the same plans."""
    names = ("seed", "budget", "plans")
    ends = {(*(row[name] for name in names), row["chooses"]): row["solve_rate"] for row in rows}
    for row in rows:
        least, most = (ends.get((*(row[name] for name in names), end)) for end in ("best constant", "perfect depths"))
        if row["gain"] is None and least is not None and most is not None and most > least:
            row["gain"] = (row["solve_rate"] - least) / (most - least)


def _other_constant(agent: str, budget: str, best: set[tuple[str, str | None]]) -> bool:
    """A fixed depth that is not the one which validation chose, nor what its plans were trained for."""
    name = AgentName.parse(agent)
    trained = Path(name.run).name.startswith(name.base)
    return bool(name.depth) and not trained and (budget, agent) not in best


def _words(agent: str, task: str) -> dict[str, str] | None:
    """Whose plans, and who chooses how deep; None of whom the tables do not show."""
    name = AgentName.parse(agent)
    folder = re.sub(r"-s\d+$", "", Path(name.run).name)
    plans = OF_PRESET[task] if folder in HEADS else FOLDERS.get(folder)
    plans = FOLDERS[""] if not folder else plans
    head = next(words for part, words in HEADS.items() if folder.startswith(part))
    words = "best constant" if name.depth and folder != name.base else RULES.get(name.base, "")
    words = head if name.base == "adaptive" else words
    return {"plans": plans, "chooses": words} if plans and words else None


def _looks(folder: Path, seed: int, task: str) -> list[dict[str, Any]]:
    """What a look of each policy costs."""
    counted = json.loads((folder / "compute.json").read_text())
    timed: dict[str, list[float]] = {}
    for line in (folder / "timing.jsonl").read_text().splitlines():
        one = json.loads(line)
        timed.setdefault(one["policy"], one["milliseconds"])
    return [
        {"seed": seed, **words, "flops": about["flops"], "views": about["views"], "milliseconds": timed[name]}
        for name, about in counted.items()
        if (words := _words(f"adaptive{name}", task)) is not None
    ]


def means(figures: dict[str, Any]) -> str:
    """The first table: means over seeds, the least and the most of them, what a look costs."""
    names = dict.fromkeys((row["plans"], row["chooses"], row["budget"]) for row in figures["rows"])
    lines = []
    for plans, chooses, budget in names:
        own = [r for r in figures["rows"] if (r["plans"], r["chooses"], r["budget"]) == (plans, chooses, budget)]
        solved = [100 * row["solve_rate"] for row in own]
        gains = [row["gain"] for row in own if row["gain"] is not None]
        look = [one for one in figures["looks"] if one["plans"] == plans and _played_by(chooses, one)]
        cells = [
            plans,
            chooses,
            f"{own[0]['decisions']}",
            f"{mean(solved):.1f}",
            f"{min(solved):.1f} .. {max(solved):.1f}",
            f"{mean(row['actions_per_episode'] for row in own):.1f}",
            f"{mean(row['decisions_per_episode'] for row in own):.2f}",
            f"{mean(gains):.2f}" if gains else "",
            f"{mean(one['flops'] for one in look) / 1e6:.1f}" if look else "",
            f"{mean(one['milliseconds'] for one in look):.1f}" if look else "",
        ]
        lines.append(cells)
    head = ["plans", "depth by", "K", "solved", "seeds", "actions", "looks", "gain share", "MFLOP a look", "ms a look"]
    return grid(head, lines)


def _played_by(chooses: str, look: dict[str, Any]) -> bool:
    """Was this look measured with what chooses? Nobody measured constants and thresholds beside foresight."""
    return chooses == look["chooses"] if chooses in HEADS.values() else chooses.startswith("always")


def seeds(figures: dict[str, Any]) -> str:
    """Every seed with its interval, of those whose depth a head chooses."""
    lines = []
    for row in figures["rows"]:
        if row["chooses"] in HEADS.values():
            low, high, gain = row["solve_low"], row["solve_high"], row["gain"]
            ends = "" if row["gain_low"] is None else f" ({row['gain_low']:.2f} .. {row['gain_high']:.2f})"
            share = "" if gain is None else f"{gain:.2f}{ends}"
            solved = f"{100 * row['solve_rate']:.1f} ({100 * low:.1f} .. {100 * high:.1f})"
            actions = f"{row['actions_per_episode']:.1f}"
            lines.append(
                [row["plans"], row["chooses"], str(row["decisions"]), str(row["seed"]), solved, actions, share]
            )
    return grid(["plans", "depth by", "K", "seed", "solved (95 %)", "actions", "gain share (95 %)"], lines)


def ahead(figures: dict[str, Any]) -> str:
    """By how much the first agent is ahead, on the same instances: points solved and actions, seed by seed."""
    names = dict.fromkeys((row["plans"], row["chooses"], row["budget"]) for row in figures["compared"])
    lines = []
    for plans, chooses, budget in names:
        own = [r for r in figures["compared"] if (r["plans"], r["chooses"], r["budget"]) == (plans, chooses, budget)]
        solved = "; ".join(_points(row["solved"], 100, row["seed"]) for row in own)
        actions = "; ".join(_points(row["actions"], 1, row["seed"]) for row in own)
        lines.append([plans, chooses, budget, solved, actions])
    return grid(["against the plans", "depth by", "budget", "solved, points", "actions"], lines)


def _points(difference: dict[str, float], scale: float, seed: int) -> str:
    centre, low, high = (scale * difference[key] for key in ("mean", "low", "high"))
    return f"s{seed} {centre:+.1f} ({low:+.1f} .. {high:+.1f})"


def causes(figures: dict[str, Any]) -> str:
    """Where the remaining regret falls."""
    names = ("round", "too deep", "too shallow", "lost level")
    lines = [
        [
            row["rule"],
            str(row["K"]),
            f"{100 * row['solved']:.1f}",
            f"{row['actions']:.1f}",
            f"{row['gain']:.2f}",
            *(f"{100 * row['causes'][name]:.0f} %" for name in names),
        ]
        for row in figures["rows"]
    ]
    return grid(["depth by", "K", "solved", "actions", "gain share", *names], lines)


def prices(figures: dict[str, Any]) -> str:
    """Gain shares in value at every price, of one head for all and of heads for one: means of seeds."""
    settings = dict.fromkeys((row["K"], row["action"], row["look"]) for row in figures["rows"])
    heads = list(dict.fromkeys(row["head"] for row in figures["rows"]))
    lines = []
    for decisions, action, look in settings:
        where = (decisions, action, look)
        own = [row for row in figures["rows"] if (row["K"], row["action"], row["look"]) == where]
        by_head = {head: [row for row in own if row["head"] == head] for head in heads}
        solved, actions = (mean(row[key] for row in by_head[heads[0]]) for key in ("solved", "actions"))
        shares = (f"{mean(row['gain'] for row in each):.2f}" if each else "" for each in by_head.values())
        lines.append([str(decisions), f"{action:g}", f"{look:g}", *shares, f"{100 * solved:.1f} at {actions:.1f}"])
    every = [mean(row["gain"] for row in figures["rows"] if row["head"] == head) for head in heads]
    lines.append(["all", "", "", *(f"{value:.3f}" for value in every), ""])
    return grid(["K", "an action costs", "a look costs", *heads, f"{heads[0]}: solved at actions"], lines)


def credit(figures: dict[str, Any]) -> str:
    """The gradient of each credit against the exact one, by number of episodes."""
    return audit_page.table([AuditRow(**row) for row in figures["rows"]]).strip()


Tables = dict[str, "Callable[[dict[str, Any]], str]"]
TABLES: Tables = {"credit": credit, "means": means, "seeds": seeds, "ahead": ahead, "causes": causes, "prices": prices}
TABLES |= {"value": charged.value, "lead": charged.ahead, "rungs": ladder.rungs, "leads": leads.leads}


def filled(
    page: str, figures: dict[str, dict[str, Any]], tables: Tables = TABLES, blocks: re.Pattern[str] = BLOCK
) -> str:
    """The page with the tables of every task that has figures."""

    def block(match: re.Match[str]) -> str:
        if match["task"] not in figures:
            return match[0]
        table = tables[match["table"]](figures[match["task"]])
        return f"<!-- {match['task']} {match['table']} -->\n\n{table}\n\n<!-- end -->"

    return blocks.sub(block, page)


def stored() -> dict[str, dict[str, Any]]:
    """The figures beside the page, by task."""
    return {path.stem.removeprefix("heads-"): json.loads(path.read_text()) for path in DOCS.glob("assets/heads-*.json")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="gather, and the folders of evaluations, seeds 0, 1, ... of one task")
    parser.add_argument("--split", default="", help="which instances these are of")
    parser.add_argument("--name", default="", help="what the tables are called on the page; the puzzle if not said")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page has other figures")
    arguments = parser.parse_args()
    if arguments.words:
        figures = gathered([Path(word) for word in arguments.words[1:]], arguments.split, arguments.name)
        path = DOCS / "assets" / f"heads-{figures['task']}.json"
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    text = filled(page, stored())
    if arguments.check:
        return int(text != page)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
