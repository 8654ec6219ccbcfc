"""Is the paper's claim true at our scale, and under which reading: ``python -m bench.pages.verdict RUNS [--hours 2]``.

Trains and plays what docs/verdict.md lists and docs/assets/tables/verdict.csv does not have yet, within some CPU-hours;
every finished run adds its rows. Folders in RUNS may be lost: rows stay, and warm starts are made again.
Without RUNS it writes the tables of the page from the rows; ``--store`` keeps policies of RUNS in the repository.
"""

from __future__ import annotations

import argparse
import base64
import csv
import json
import math
import multiprocessing
import os
import shutil
import signal
import time
import zlib
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.pages import blocks, pretrained

from recommit.cli import main as recommit
from recommit.cli.command_line import INTERRUPTED
from recommit.data import held_out
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import always, head, play, sampled, softmax
from recommit.policy.policy import CommitPolicy
from recommit.prices import Prices
from recommit.report import plotting
from recommit.reproduce import preset
from recommit.results.table import NONE, Grid, Results, number, spread
from recommit.runs.directory import best_policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.graph.episodes import Chooser

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, POLICIES = DOCS / "verdict.md", DOCS / "assets" / "verdict"
ROWS, CSV = DOCS / "assets" / "tables" / "verdict.csv", DOCS / "results"
NAMES = ("puzzle", "competence", "estimator", "objective", "variant", "seed")
FIGURES = ("solved", "actions", "observations", "entropy", "mutual_information", "zero_std_share")
COLUMNS = (*NAMES, "agent", "budget", *FIGURES, "steps", "cpu_seconds", "outcomes")
INSTANCES = 1024
SHARED = ("--validation", "512", "--test", str(INSTANCES), "--ties", "random", "--seed", "42", "--workers", "2")
COMPETENCES, ESTIMATORS, OBJECTIVES = ("paper", "end"), ("state", "episode", "branch", "exact"), ("paper", "loose")
#: Agents that a policy plays as, where it is not as its variant alone.
AGENTS: dict[str, tuple[str, ...]] = dict.fromkeys(("adaptive", "depth-only"), ("adaptive", "sampled", "shuffled"))
AGENTS["all"] = ("fixed-1", "fixed-2", "fixed-4", "fixed-8", "random")
#: Cells of the second pass: the paper's reading, and the one whose adaptive policy had the greatest value in the first.
BEST = {
    ("sliding-4x4", "paper"): ("branch", "paper"),
    ("sokoban-7x7", "paper"): ("exact", "paper"),
    ("sliding-4x4", "end"): ("branch", "loose"),
    ("sokoban-7x7", "end"): ("branch", "loose"),
}
KEPT = tuple((*start, *reading) for start, best in BEST.items() for reading in (("state", "paper"), best))
#: Cells that are judged besides, without depth 2.
LONGER = (("sokoban-7x7", "end", "branch", "long"),)
#: K commitments of depth 1 solve no test level, each longer than K; random depths have a control, ``shuffled``.
VARIANTS = ("adaptive", "fixed-8", "fixed-4", "fixed-2", "depth-only")
DEPTHS = (1, 2, 4, 8)
SHOWN = (*VARIANTS, "sampled", "shuffled")
#: Within it a difference in solved counts for none; and what the value of the tables pays.
MARGIN, PRICES = 0.01, Prices(action=0.005, observation=0.01)
#: CPU-seconds by objective, after which a run is told to end, as by Ctrl-C, after the step that it is in.
SECONDS = {"paper": 150.0, "loose": 150.0, "long": 750.0}


@dataclass(frozen=True)
class Puzzle:
    """What differs between the two."""

    data: str
    recipe: str
    imitation: str
    #: Steps of imitation by competence: at the paper's operating point, and at the end.
    warm: dict[str, int]
    #: Commitments per group, weight of the KL, and observations of a training episode: the paper's, and of ``loose``.
    group: int
    kl: float
    tight: int
    loose: int

    @property
    def spec(self) -> DataSpec:
        """Of levels as the preset ``paper`` has them."""
        found: DataSpec = preset.line(f"data build {self.data} {' '.join(SHARED)} --out data", Path()).options.spec()
        return found


PUZZLES = {
    "sliding-4x4": Puzzle(
        "--task sliding --size 4 --generator walk --length 16 17 18 19 20 20 21 22 23 24 --count 20000 "
        "--disjoint regions",
        recipe="paper-sliding",
        imitation="laptop-sliding",
        warm={"paper": 950, "end": 5000},
        group=4,
        kl=0.05,
        tight=5,
        loose=10,
    ),
    "sokoban-7x7": Puzzle(
        "--task sokoban --size 7 --generator reverse --boxes 1 2 3 --length 8 17 17 32 --count 20000 "
        "--disjoint layouts",
        recipe="paper-sokoban",
        imitation="laptop-sokoban",
        warm={"paper": 400, "end": 3000},
        group=8,
        kl=0.20,
        tight=6,
        loose=6,
    ),
}


@dataclass(frozen=True)
class Run:
    """One policy. A warm start has the estimator ``imitation``."""

    puzzle: str
    competence: str
    estimator: str
    objective: str
    variant: str
    seed: int

    def folder(self, runs: Path) -> Path:
        """Where it is trained."""
        return runs.joinpath(*map(str, asdict(self).values()))

    @property
    def warm_start(self) -> Run:
        """What it begins as; all variants of a seed share it."""
        return replace(self, estimator="imitation", objective="none", variant="all")

    def command(self, runs: Path) -> list[str]:
        """Its ``recommit train``."""
        own, loose = PUZZLES[self.puzzle], self.objective != "paper"
        shared = ["--seed", str(self.seed), "--set", "run.tensorboard=false", "run.keep=1", "run.log_every=1"]
        shared += ["validation.instances=0", "run.save_every=1000"]
        if self.estimator == "imitation":
            data = ("--data", str(runs / self.puzzle / "data"), "--steps", str(own.warm[self.competence]))
            return ["train", "sft", "--recipe", own.imitation, *data, *shared]
        rewards = f"group_size: {own.group}, progress: 0.2, progress_per: action, deadlock: zero, scale: group"
        tight = f"clip: 0.05, kl: {own.kl}, kl_depth: true, entropy_depth: 0.01, entropy_actions: 0.001"
        groups = {
            "engine": "kind: plain",
            "advantage": f"estimator: {self.estimator}, {'group_size: 4' if self.estimator == 'exact' else rewards}",
            "objective": "clip: 0.2, kl: 0.0, entropy_depth: 0.003, entropy_actions: 0.0" if loose else tight,
            "rollout": f"instances: {128 if loose else 64}, budget: {own.loose if loose else own.tight}",
            "optim": f"steps: 100000, batch: {128 if loose else 64}, lr: 1e-4, decoder_lr: 1e-4, schedule: constant, "
            f"depth_head_lr: {3e-3 if loose else 1e-3}, warmup: 0, weight_decay: 0.01",
        }
        changes = [f"{name}={{{values}}}" for name, values in groups.items()]
        begin = str(self.warm_start.folder(runs))
        return ["train", "grpo", "--recipe", own.recipe, "--variant", self.variant, "--init", begin, *shared, *changes]

    def train(self, runs: Path) -> float:
        """Train for its ``SECONDS``, a warm start to its last step; the CPU-seconds that it took."""
        out, begun = self.folder(runs), time.process_time()
        shutil.rmtree(out, ignore_errors=True)
        timed = self.estimator != "imitation"
        signal.signal(signal.SIGPROF, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        signal.setitimer(signal.ITIMER_PROF, SECONDS[self.objective] if timed else 0)
        status = recommit([*self.command(runs), "--out", str(out)])
        if status != (INTERRUPTED if timed else 0):
            raise RuntimeError(f"{out}: status {status}")
        return time.process_time() - begun

    def rows(self, runs: Path) -> list[dict[str, Any]]:
        """Train and play."""
        seconds = self.train(runs)
        return [{**asdict(self), "cpu_seconds": round(seconds, 1), **each} for each in self.played(runs)]

    def played(self, runs: Path) -> list[dict[str, Any]]:
        """Its agents on the test instances under both budgets."""
        out, spec = self.folder(runs), PUZZLES[self.puzzle].spec
        policy, puzzle = CommitPolicy.from_pretrained(best_policy(out)).eval(), spec.puzzle()
        graph = PolicyGraph(policy, puzzle, (int(self.variant[6:]),) if self.variant[:5] == "fixed" else DEPTHS)
        nodes, result = graph.nodes(held_out.starts(spec, "test", INSTANCES, ()).states), list[dict[str, Any]]()
        lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
        shares = [line["zero_std_fraction"] for line in lines if "zero_std_fraction" in line]
        for budget, observations in puzzle.budgets(puzzle.shape).items():
            used: NDArray[Any] = np.ones(len(graph.depths))
            for agent in AGENTS.get(self.variant, (self.variant,)):
                visited: list[NDArray[np.int64]] = []
                ends = play(graph, nodes, observations, watched(chooser(graph, agent, used / used.sum()), visited))
                used = ends.depths if agent == "adaptive" else used
                row: dict[str, Any] = {"agent": agent, "budget": budget, "outcomes": packed(*ends.outcome())}
                row["steps"] = len(lines)
                row |= dict(zip(FIGURES, (ends.solve_rate, ends.mean_actions, ends.mean_observations), strict=False))
                row |= informed(graph.logits[np.concatenate(visited)]) if "adaptive" in (agent, self.variant) else {}
                row |= {"zero_std_share": float(np.mean(shares))} if shares else {}
                result.append({name: round(x, 4) if isinstance(x, float) else x for name, x in row.items()})
        return result


def chooser(graph: PolicyGraph, agent: str, used: NDArray[np.float64]) -> Chooser:
    """The depths of an agent; ``used``: shares of the depths that the head chose."""
    if agent.startswith("fixed-"):
        return always(graph, int(agent[6:]))
    if agent == "random":
        return sampled(graph, np.full(len(graph.depths), 1 / len(graph.depths)), 0)
    return {"adaptive": head(graph), "sampled": sampled(graph, None, 0), "shuffled": sampled(graph, used, 1)}[agent]


def watched(choose: Chooser, visited: list[NDArray[np.int64]]) -> Chooser:
    """The same, and note where a depth is chosen."""

    def noted(turn: int, who: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        visited.append(nodes)
        return choose(turn, who, nodes)

    return noted


def informed(logits: NDArray[np.float32]) -> dict[str, float]:
    """Mean entropy of the depth head where depths are chosen, and its mutual information with the state, in nats."""
    probs = softmax(logits)
    entropies = [float(-(each * np.log(np.maximum(each, 1e-300))).sum(-1).mean()) for each in (probs, probs.mean(0))]
    return {"entropy": entropies[0], "mutual_information": entropies[1] - entropies[0]}


def packed(solved: NDArray[np.bool_], actions: NDArray[np.int64], observations: NDArray[np.int64]) -> str:
    """How every episode ended, as text: actions, observations and success in 8, 7 and 1 bits."""
    words = (actions + (observations << 8) + (solved.astype(np.int64) << 15)).astype("<u2")
    return base64.b64encode(zlib.compress(words.tobytes(), 9)).decode()


def unpacked(text: str) -> NDArray[np.int64]:
    """[3, instances] solved, actions and observations."""
    words = np.frombuffer(zlib.decompress(base64.b64decode(text)), "<u2").astype(np.int64)
    return np.stack([words >> 15, words & 255, (words >> 8) & 127])


def first_pass() -> list[Run]:
    """Adaptive and fixed depth 8 alone, with one seed, in every cell."""
    cells = product(COMPETENCES, OBJECTIVES, PUZZLES, ESTIMATORS, VARIANTS[:2])
    return [Run(p, c, e, o, variant, 0) for c, o, p, e, variant in cells]


def second_pass() -> list[Run]:
    """All variants and five seeds of the cells that stay, ``loose`` for five times as long, and that with further seeds
    where the first came out even; the last seed of strong plans comes last."""
    runs = [Run(*cell, variant, seed) for seed, cell, variant in product(range(5), KEPT, VARIANTS)]
    cells = [("sliding-4x4", 0), *product(("sokoban-7x7",), range(4))]
    long = [Run(p, "end", "branch", "long", variant, seed) for (p, seed), variant in product(cells, VARIANTS[:3])]
    last = lambda run: run.seed == 4 and run.competence == "end"
    return [run for run in sorted((*runs, *long), key=last) if run not in first_pass()]


def read() -> list[dict[str, Any]]:
    """The rows so far."""
    if not ROWS.is_file():
        return []
    with ROWS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def add(rows: list[dict[str, Any]]) -> None:
    """Write further rows at the end."""
    with ROWS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        writer.writerows(rows)


def worked(run: Run, runs: Path) -> tuple[list[dict[str, Any]], float]:
    """Rows of a run, and the CPU-seconds that they took."""
    begun = time.process_time()
    return run.rows(runs), time.process_time() - begun


def work(wanted: list[Run], runs: Path, hours: float) -> None:
    """Two runs at a time until all are done or the hours are over."""
    have = {tuple(row[name] for name in NAMES) for row in read()}
    missing = [run for run in wanted if tuple(map(str, asdict(run).values())) not in have]
    for name in dict.fromkeys(run.puzzle for run in missing):
        data, out = PUZZLES[name].data.split(), runs / name / "data"
        if not out.is_dir() and recommit(["data", "build", *data, *SHARED, "--out", str(out)]):
            raise RuntimeError(f"{out}: no data")
    spent, pool = 0.0, ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))
    under_way: dict[Future[tuple[list[dict[str, Any]], float]], Run] = {}
    while missing or under_way:
        while missing and len(under_way) < 2 and spent < 3600 * hours:
            run = ready(missing, list(under_way.values()), runs)
            if run is None:
                break
            under_way[pool.submit(worked, run, runs)] = run
            missing = [each for each in missing if each != run]
        if not under_way:
            break
        for done in wait(under_way, return_when=FIRST_COMPLETED).done:
            run = under_way.pop(done)
            rows, seconds = done.result()
            spent += seconds
            if tuple(map(str, asdict(run).values())) not in have:
                add(rows)
            print(f"{run}: {seconds:.0f} s; {len(missing)} to do, {spent / 3600:.2f} CPU-hours", flush=True)
    pool.shutdown()


def ready(missing: list[Run], under_way: list[Run], runs: Path) -> Run | None:
    """The next run whose warm start is there, or a warm start that is not."""
    for run in missing:
        begin = run.warm_start
        if begin in under_way:
            continue
        if run == begin or (begin.folder(runs) / "best.json").is_file():
            return run
        return begin
    return None


def shown(row: dict[str, Any]) -> str:
    """An agent in the tables: its variant, or which control of the adaptive policy it is; empty if it is left out."""
    if row["variant"] in ("adaptive", "all"):
        return str(row["agent"])
    return row["variant"] if row["agent"] in ("adaptive", row["variant"]) else ""


@cache
def groups(puzzle: str) -> NDArray[np.int64]:
    """Test instances of one room have one number."""
    spec = PUZZLES[puzzle].spec
    rooms = held_out.rooms(spec, held_out.starts(spec, "test", INSTANCES, ()).states)
    return np.arange(INSTANCES) if rooms is None else rooms


def results(rows: dict[str, list[dict[str, Any]]]) -> Results:
    """Every episode of each agent."""
    parts = []
    for name, row in ((name, row) for name, own in rows.items() for row in own):
        ends, every = unpacked(row["outcomes"]), np.arange(INSTANCES)
        measured = dict(zip(("solved", "actions", "return"), (*ends[:2], PRICES.returns(*ends)), strict=True))
        agent, budget, seed = (np.full(INSTANCES, each) for each in (name, row["budget"], int(row["seed"])))
        parts.append(Results(agent, budget, seed, every, groups(row["puzzle"]), measured))
    return Results.joined(parts)


def dominance(found: Results, budget: str, others: list[str]) -> str:
    """Depths that adaptive dominates / that dominate it."""
    words: dict[int, list[str]] = {1: [], 0: [], -1: []}
    for other in others:
        solved, actions = (found.difference("adaptive", other, budget, each) for each in ("solved", "actions"))
        ahead, behind = solved.low > -MARGIN and actions.high < 0, solved.high < MARGIN and actions.low > 0
        words[ahead - behind].append(other.removeprefix("fixed-"))
    return f"{' '.join(words[1]) or 'none'} / {' '.join(words[-1]) or 'none'}"


Rows = list[dict[str, Any]]


def cells() -> dict[tuple[str, ...], dict[str, Rows]]:
    """Rows by cell and agent, of the seeds that have all of a cell's variants."""
    every = dict[tuple[str, ...], dict[str, Rows]]()
    for row in read():
        every.setdefault(tuple(row[name] for name in NAMES[:4]), {}).setdefault(row["seed"], []).append(row)
    whole = {
        cell: [row for own in found.values() if len(own) == len(found["0"]) for row in own]
        for cell, found in every.items()
    }
    return {cell: {name: [row for row in rows if shown(row) == name] for name in SHOWN} for cell, rows in whole.items()}


def compared(found: Results, budget: str, one: str, other: str) -> list[str]:
    """Differences of two agents in solved, actions and return, with intervals."""
    apart = [found.difference(one, other, budget, each) for each in ("solved", "actions", "return")]
    return [spread(each, *how, sign=True) for each, how in zip(apart, ((1, 100), (1, 1), (3, 1)), strict=True)]


def ended(found: Results, budget: str, name: str) -> str:
    """Solved, actions and value of an agent."""
    if (name, budget) not in found.keys:
        return NONE
    solved, actions, value = (found.mean(name, budget, what).mean for what in ("solved", "actions", "return"))
    return f"{number(solved, 1, 100)} at {number(actions)}: {number(value, 3)}"


def tables() -> dict[Path, str]:
    """Of every cell its agents; the differences of adaptive to each on the seeds that did not choose the cell; and the
    adaptive policies of the first pass, beside that of the paper's reading and that of ``exact``."""
    ends, pairs, readings, by_cell, budgets = [], [], [], cells(), ("loose", "tight")
    for (cell, rows), budget in product(by_cell.items(), budgets):
        unseen = {name: [row for row in own if row["seed"] != "0"] or own for name, own in rows.items()}
        found, judged = results(rows), results(unseen)
        own = [row for row in rows["adaptive"] if row["budget"] == budget]
        every, judges = (str(len({row["seed"] for row in each["fixed-8"]})) for each in (rows, unseen))
        head = [number(float(np.mean([float(row[name]) for row in own])), 3) if own else NONE for name in FIGURES[3:]]
        others = [name for name, at in judged.keys if at == budget and name != "adaptive"] if own else []
        over = dominance(judged, budget, [name for name in others if name.startswith("fixed")])
        ends.append((*cell, budget, every, *(ended(found, budget, name) for name in SHOWN), over, *head))
        pairs += [(*cell, budget, judges, name, *compared(judged, budget, "adaptive", name)) for name in others]
    for start, budget in product(BEST, budgets):
        kinds = {reading: ", ".join(reading) for reading in product(ESTIMATORS, OBJECTIVES)}
        found = results(
            {kinds[k]: [row for row in by_cell[(*start, *k)]["adaptive"] if row["seed"] == "0"] for k in kinds}
        )
        for (estimator, objective), name in kinds.items():
            paper, exact = (compared(found, budget, name, kinds[k]) for k in (("state", "paper"), ("exact", objective)))
            readings.append((*start, estimator, objective, budget, ended(found, budget, name), *paper, *exact))
    top, apart = (*NAMES[:4], "budget"), ("solved", "actions", "return")
    page = PAGE.read_text(encoding="utf-8")
    beside = [f"{what} minus {other}'s" for other in ("state, paper", "exact") for what in apart]
    return {
        CSV / "verdict-cells.csv": Grid.of(
            (*top, "seeds", *SHOWN, "dominates / dominated by", *FIGURES[3:]), ends
        ).csv(),
        CSV / "verdict-pairs.csv": Grid.of((*top, "seeds", "adaptive minus", *apart), pairs).csv(),
        CSV / "verdict-readings.csv": Grid.of((*top, "adaptive", *beside), readings).csv(),
        PAGE: blocks.filled(page, "verdict", lambda _: summary(by_cell).markdown()),
    }


def summary(by_cell: dict[tuple[str, ...], dict[str, Rows]]) -> Grid:
    """Adaptive of the cells that stayed, under the loose budget, beside the fixed depth that solves most and its own
    depths shuffled, on the seeds that chose no cell."""
    lines = []
    for cell in (*KEPT, *LONGER):
        unseen = {name: [row for row in own if row["seed"] != "0"] for name, own in by_cell[cell].items()}
        found, fixed = results(unseen), [name for name in VARIANTS if name.startswith("fixed") and unseen[name]]
        best = max(fixed, key=lambda name: found.mean(name, "loose", "solved").mean)
        solved, actions, _ = compared(found, "loose", "adaptive", best)
        own = [row for row in unseen["adaptive"] if row["budget"] == "loose"]
        entropy, information = (float(np.mean([float(row[name]) for row in own])) for name in FIGURES[3:5])
        lines.append(
            (
                f"{cell[0]}, `{cell[1]}`",
                f"`{cell[2]}`, {cell[3]}",
                *(ended(found, "loose", name).partition(":")[0] for name in ("adaptive", best)),
                best.removeprefix("fixed-"),
                solved,
                actions,
                dominance(found, "loose", fixed),
                compared(found, "loose", "adaptive", "shuffled")[0],
                f"{number(entropy / math.log(len(DEPTHS)), 2)}, {number(information, 3)}",
            )
        )
    head = (
        "puzzle, competence | advantage, objective | adaptive, % at actions | best fixed depth | h | points beyond it "
    )
    head += "(95 %) | actions | dominates / dominated by | points beyond shuffled | entropy, information"
    return Grid.of(head, lines)


def picture() -> None:
    """Solved against actions of the agents of the second pass, loose budget: means, and seeds as dots."""
    marks = {"adaptive": ("first", "o"), "depth-only": ("control", "^")}
    marks |= {"sampled": ("other", "s"), "shuffled": ("other", "v")}
    by_cell = cells()
    with plotting.style():
        drawn = plotting.figure(10, 5)
        every = drawn.subplots(2, 4)
        for axes, cell in zip(every.T.flat, KEPT, strict=True):
            axes.set_title(f"{cell[0]}, {cell[1]}\n{cell[2]}, {cell[3]}", fontsize=8)
            for name, rows in by_cell[cell].items():
                own = [row for row in rows if row["budget"] == "loose"]
                at = np.array([[float(row[x]) for row in own] for x in ("actions", "solved")])
                (role, mark), mean = marks.get(name, ("fixed", "o")), at.mean(axis=1)
                axes.plot(*at, ".", color=plotting.COLOURS[role], alpha=0.4, markersize=3)
                axes.plot(
                    *mean[:, None], mark, color=plotting.COLOURS[role], label=name if name in marks else "fixed depth"
                )
                axes.annotate(name[6:] if role == "fixed" else "", mean, (4, 3), textcoords="offset points", fontsize=8)
            axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
            axes.set_xlabel("actions")
        shown = dict(zip(*reversed(every[0, 0].get_legend_handles_labels()), strict=True))
        drawn.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=5)
        plotting.save(drawn, DOCS / "assets" / "verdict.svg")


def store(runs: Path) -> None:
    """Keep adaptive and the fixed depth that solves most, of each cell that the first pass picked, of strong plans the
    longer runs: of the last seed that is there."""
    for start, (estimator, objective) in BEST.items():
        reading = estimator, "long" if start[1] == "end" else objective
        found = results(cells()[(*start, *reading)])
        names = [name for name, budget in found.keys if name in VARIANTS[1:4] and budget == "loose"]
        fixed = max(names, key=lambda name: found.mean(name, "loose", "solved").mean)
        every = [[Run(*start, *reading, variant, seed) for variant in ("adaptive", fixed)] for seed in range(5)]
        for run in [pair for pair in every if all((each.folder(runs) / "best.json").is_file() for each in pair)][-1]:
            pretrained.keep(run.folder(runs), POLICIES / "-".join((*start, run.variant)), PUZZLES[run.puzzle].spec)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="?", help="where runs are trained; none: write the tables of the page")
    parser.add_argument("--hours", type=float, default=2.0, help="CPU-hours after which no further run begins")
    parser.add_argument("--store", action="store_true", help="keep policies of RUNS in docs/assets/verdict")
    arguments = parser.parse_args()
    if arguments.store:
        store(arguments.runs)
        return
    if arguments.runs is None:
        picture()
        blocks.write(tables(), check=False)
        return
    wanted = dict.fromkeys(each for run in (*first_pass(), *second_pass()) for each in (run.warm_start, run))
    work([*wanted], arguments.runs.absolute(), arguments.hours)


if __name__ == "__main__":
    main()
