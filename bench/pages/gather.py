"""What the tables of the results pages need of evaluations -> docs/assets/heads-NAME.json; then bench.pages.tables.

python -m bench.pages.gather heads laptop/sliding/fresh-s? --split "..." [--name NAME]   # a table of agents per puzzle
python -m bench.pages.gather prices FOLDER...           # evaluations with --price-observation, of all seeds and prices
python -m bench.pages.gather episodes laptop/sliding/fresh-s?   # paired differences of episodes, at four prices
python -m bench.pages.gather ablation ablation/sliding  # the preset cumulative-ablation

An evaluation has agents of folders that are called by what they are (``FOLDERS``), with ``-sSEED`` behind it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.results import intervals

if TYPE_CHECKING:
    from recommit.results.table import Results

from recommit.evaluate import seeds
from recommit.evaluate.agent_names import AgentName, seed_of
from recommit.evaluate.tables.main_results import CHANGES

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
#: Folder of a policy, without its seed -> whose plans, in the tables' words.
FOLDERS = {
    **dict.fromkeys(("", "adaptive", *(f"{name}-sliding" for name in ("world-model", "conditioned"))), "adaptive (RL)"),
    "world-model-adaptive": "adaptive (RL)",
    "fixed-4": "fixed depth 4 (RL)",
    "fixed-8": "fixed depth 8 (RL)",
    "world-model-aug8": "warm start, 8 augmentations",
    "world-model-aug1": "warm start",
    "conditioned-aug1": "warm start",
}
#: Of folders of a preset, whose plans its heads go by.
OF_PRESET = {"sliding": FOLDERS["adaptive"], "sokoban": FOLDERS["world-model-aug8"]}
#: Folder of a policy, without its seed -> who chooses the depth.
HEADS = {"conditioned": "world model, conditioned head", "world-model": "world model", "": "adaptive"}
CONSTANT, CEILING = "best fixed depth", "oracle depth"
#: Who else chooses.
RULES = {"confidence-entropy": "entropy threshold", "oracle-dp": CEILING}
FIXED = {"fixed-4": "fixed depth 4", "fixed-8": "fixed depth 8"}
KEPT = ("solve_rate", "solve_low", "solve_high", "actions_per_episode", "decisions_per_episode")
SHARES = ("gain", "gain_low", "gain_high")
#: What an observation costs in ``of_episodes``; an action costs ``ACTION``.
PRICES, ACTION = (0.005, 0.01, 0.02, 0.04), 0.01
#: Of each puzzle: the head that is compared, and what its table is called.
FIRST = {"sliding": ("adaptive@conditioned", "leads"), "sokoban": ("adaptive@world-model", "rooms")}
#: Agents by kind -> the table's words; the chosen constants come beside them.
OTHERS = {
    "adaptive": "adaptive",
    "adaptive@world-model": "world model",
    "fixed-4@fixed-4": "fixed depth 4 (RL)",
    "fixed-8@fixed-8": "fixed depth 8 (RL)",
    "confidence-entropy": "entropy threshold",
    "confidence-entropy@world-model": "entropy threshold, 8 augmentations",
}
FIGURES = ("solved", "actions", "decisions")


def _read(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The plan and the summary of an evaluation."""
    plan, summary = (json.loads((folder / name).read_text(encoding="utf-8")) for name in ("plan.json", "summary.json"))
    return plan, summary


def of_heads(folders: list[Path], split: str, name: str = "") -> dict[str, Any]:
    """What the page needs of the evaluations of one task, seed by seed."""
    rows, compared, looks, sets = [], [], [], set()
    for seed, folder in enumerate(folders):
        plan, summary = _read(folder)
        sets.add((plan["test_set"], plan["instances"]))
        best = {(row["budget"], row.get("gain_fixed")) for row in summary}
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
        least, most = (ends.get((*(row[name] for name in names), end)) for end in (CONSTANT, CEILING))
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
    words = CONSTANT if name.depth and folder != name.base else {**FIXED, **RULES}.get(name.base, "")
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
        {
            "seed": seed,
            **words,
            "flops": about["flops"],
            "augmentations": about["augmentations"],
            "milliseconds": timed[name],
        }
        for name, about in counted.items()
        if (words := _words(f"adaptive{name}", task)) is not None
    ]


def at_prices(folders: list[Path]) -> dict[str, Any]:
    """What the tables need of these evaluations."""
    rows, ahead, sets = [], [], set()
    for folder in folders:
        plan, summary = _read(folder)
        sets.add((plan["test_set"], plan["instances"], plan["fresh"]))
        about = {"seed": int(plan["run"].rpartition("-s")[2]), "look": plan["price_observation"]}
        constants = {row["budget"]: row["gain_fixed"] for row in summary if row.get("gain_fixed")}
        for row in summary:
            if chooses := _depth_by(row["agent"], constants[row["budget"]]):
                values = {key: row.get(key) for key in ("value", "gain")}
                rows.append({**about, "K": row["decisions"], "chooses": chooses, **values})
        decisions = {row["budget"]: row["decisions"] for row in summary}
        first = AgentName.parse(summary[0]["agent"])
        for row in json.loads((folder / "comparisons.json").read_text()):
            chooses = _depth_by(row["against"], constants[row["budget"]])
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


def _depth_by(agent: str, constant: str) -> str:
    """Who chooses the depth, in the tables' words; empty for whom they do not show."""
    name = AgentName.parse(agent)
    if name.depth:
        return CONSTANT if AgentName.parse(constant) == name else ""
    return HEADS[re.sub(r"-s\d+$", "", Path(name.run).name)] if name.base == "adaptive" else RULES.get(name.base, "")


def of_ablation(folder: Path) -> dict[str, Any]:
    """Every change's figures and its processor time; the folder is one puzzle of the reproduction."""
    (evaluation,) = folder.glob("eval-s*")
    plan, summary = _read(evaluation)
    rows = []
    for row in summary:
        name = AgentName.parse(row["agent"])
        run = Path(name.run or plan["run"])
        change = re.sub(r"-s\d+$", "", run.name)
        if name.base == "adaptive" and not name.depth and change in CHANGES:
            seconds = sum(json.loads(line)["cpu_s"] for line in (run / "timing.jsonl").read_text().splitlines())
            about = {"change": change, "K": row["decisions"], "cpu_s": seconds}
            rows.append({**about, **{key: row.get(key) for key in (*KEPT, "gain")}})
    rows.sort(key=lambda row: (-row["K"], list(CHANGES).index(row["change"])))
    return {"task": "ablation", "test_set": plan["test_set"], "instances": plan["instances"], "rows": rows}


def of_episodes(folders: list[Path], name: str) -> dict[str, Any]:
    """Every pair's differences, seed by seed."""
    rows, sets, tables = [], set(), set()
    for folder in folders:
        plan, summary = _read(folder)
        sets.add((plan["test_set"], plan["instances"]))
        first, table = FIRST[summary[0]["task"]]
        tables.add(table)
        played, own = seeds.read(folder), seed_of(plan["run"])
        for budget, decisions in {row["budget"]: row["decisions"] for row in summary}.items():
            words = _others([row for row in summary if row["budget"] == budget], own)
            for other in words:
                if other != first:
                    about = {"seed": int(own), "K": decisions, "against": words[other]}
                    rows.append({**about, **_differences(played, first, other, budget)})
    ((test_set, instances),), (table,) = sets, tables
    return {"task": name or table, "test_set": test_set, "instances": instances, "rows": rows}


def _others(summary: list[dict[str, Any]], own: str) -> dict[str, str]:
    """The words for agents of one budget, by kind: those of the table, and the best constant of each policy's plans."""
    kinds = dict.fromkeys(seeds.kind(row["agent"]) for row in summary if seed_of(row["agent"]) in ("", own))
    words = {kind: OTHERS[kind] for kind in kinds if kind in OTHERS}
    for constant in dict.fromkeys(row["gain_fixed"] for row in summary if row.get("gain_fixed")):
        words.setdefault(seeds.kind(constant), CONSTANT + ", 8 augmentations" * ("@" in constant))
    return words


def _differences(played: Results, one: str, other: str, budget: str) -> dict[str, Any]:
    """Of figures, and of value at every price."""
    less = {
        name: played.values(one, budget, column) - played.values(other, budget, column)
        for name, column in zip(FIGURES, ("solved", "actions", "observations"), strict=True)
    }
    less |= {f"{look:g}": less["solved"] - ACTION * less["actions"] - look * less["decisions"] for look in PRICES}
    groups = played.groups(one, budget)
    return {name: intervals.mean(column, groups).values() for name, column in less.items()}


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("heads", "prices", "episodes", "ablation"))
    parser.add_argument("folders", nargs="+", type=Path, help="evaluations, seeds 0, 1, ...; of an ablation its puzzle")
    parser.add_argument("--split", default="", help="heads: which instances these are of")
    parser.add_argument("--name", default="", help="heads, episodes: what the tables are called")
    asked = parser.parse_args(words)
    figures = {
        "heads": lambda: of_heads(asked.folders, asked.split, asked.name),
        "prices": lambda: at_prices(asked.folders),
        "episodes": lambda: of_episodes(asked.folders, asked.name),
        "ablation": lambda: of_ablation(*asked.folders),
    }[asked.what]()
    path = ASSETS / f"heads-{figures['task']}.json"
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
