"""Numbers that a refactoring must not change: python -m tests.baseline.record --check (or --out FILE.json).

Everything runs in this process on one thread of the CPU, from fixed seeds, in a temporary folder. ``expected.json`` was
written on one machine: hashes of weights hold for that machine and its libraries only. It is deleted with this script.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}

import argparse
import contextlib
import csv
import hashlib
import io
import json
import math
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

#: Today's word -> the word in expected.json, for keys, for columns and for names of rows (agents, rules, methods).
RENAMED: dict[str, str] = {
    "probs": "chance",
    "q_values": "quality",
    "remaining": "left",
    "budget_conditioned": "told_left",
    "price_observation": "price_look",
    "max_ratio_deviation": "furthest_ratio",
    "zero_std_fraction": "dead_groups",
    "exact_fraction": "settled",
    "world-model-2x4": "foresight-2x4",
    "adaptive-of-world-model-2x4": "adaptive-of-foresight-2x4",
}
#: Words in expected.json of numbers that were dropped on purpose.
#: Exact populations are what graph build --every-state and graph score have; the figure of training has one panel more.
DROPPED: set[str] = {"population", "training"}
#: Keys of clocks.
VOLATILE = {"seconds"}
#: What rows of a table are known by.
NAMED_BY = ("task", "agent", "against", "rule", "estimator", "budget", "price_action", "price_look", "shared")
NAMED_BY = (*NAMED_BY, "episodes")
HASH = "sha256 "
FLOAT = r"-?[\d.]+(e-?\d+)?"
EXPECTED = Path(__file__).parent / "expected.json"
HOLDER = tempfile.TemporaryDirectory(prefix="baseline-")
PLACE = Path(HOLDER.name)
SECTIONS: dict[str, Callable[[], dict[str, Any]]] = {}

#: What is run: names of settings are said here and nowhere else.
SETTINGS = yaml.safe_load("""
recipe:
  tasks: [sliding, sokoban]
  sft:
    model:
      backbone: random:small
      shape: {width: 32, layers: 2, heads: 2, kv_heads: 2, ffn: 64, vision_width: 16, vision_heads: 1, vision_ffn: 32}
      policy: {lora: null, prompts: [bare-v1, bare-v1], decoder: {width: 32, layers: 1, heads: 2, ffn: 64}}
    optim: {steps: 20, batch: 32, warmup: 2, lr: 3.0e-3, decoder_lr: 3.0e-3}
    validation: {instances: 8, every: 10, budget: 5}
    run: &run {threads: 1, tensorboard: false, log_every: 1, save_every: 99}
  grpo:
    head: {features: z+confidence, hidden: 6}
    advantage: {estimator: exact, group_size: 3, max_expansions: 2}
    prices: {action: [0.002, 0.01], observation: 0.01}
    objective: {clip: 0.2, kl: 0.05}
    rollout: {instances: 12, budget: 4}
    optim: {steps: 3, batch: 8, lr: 2.0e-4, vision_lr: 0.0, decoder_lr: 2.0e-4, depth_head_lr: 1.0e-2, warmup: 0}
    validation: {instances: 24, every: 3, budget: 4, budgets: [2, 4]}
    run: *run
  family:
    fixed: {head: null}
    random: {head: null}
    paper: {variant: adaptive, head: null, advantage: {estimator: state, group_size: 3}, prices: {}}
# Data sets by name.
data:
  3x3: --task sliding --size 3 --length 8 24 --count 40 --validation 8 --test 8 --seed 0 --ties random
  2x4: --task sliding --size 2 4 --length 2 14 --count 100 --validation 48 --test 48 --seed 1 --perturbed 2
  box: --task sokoban --size 6 --boxes 1 --length 2 9 --count 60 --validation 48 --test 48 --seed 2 --ties random
  boxes: --task sokoban --size 7 --boxes 1 2 --length 4 16 --count 24 --test 8 --perturbed 2 --disjoint layouts
# Warm starts: data, then changes to the recipe.
sft:
  3x3: [3x3]
  joint: [2x4 box]
  2x4: [2x4, optim.steps=200, optim.batch=64, validation.every=100]  # others begin with these two
  box: [box, optim.steps=200, optim.batch=64, validation.every=100]
  hard: [2x4, "targets={kind: hard, paths: dataset, weighting: sample}"]
  augmented: [box, "targets={augment: true, depths: [4]}"]
  lora: [2x4, "model.policy.lora={rank: 2, alpha: 4, dropout: 0.1}"]
  cross: [2x4, model.policy.decoder.z=cross, model.policy.decoder.depth_conditioning=embedding]
  told: [2x4, model.policy.show_budget=true]
# Reinforcement: warm start, then changes to the recipe.
grpo:
  state:
    - 2x4
    - &paper "advantage={estimator: state, group_size: 3, progress: 0.2, progress_per: action, deadlock: zero}"
    - &free "prices={}"
    - head=null
  state-fixed: [2x4, *paper, *free, head=null, variant=fixed-4]
  state-random: [2x4, *paper, *free, head=null, variant=random]
  state-best:
    - box
    - "advantage={estimator: state, group_size: 3, follow: best, deadlock: penalty, scale: batch}"
    - "prices={}"
  episode: [box, "advantage={estimator: episode, group_size: 3, deadlock: terminate, scale: none}", "prices={}"]
  episode-joint-ratio: [2x4, "advantage={estimator: episode, group_size: 3}", "prices={}", objective.ratio=joint]
  branch:
    - 2x4
    - "advantage={estimator: branch, group_size: 3, progress: 0.0, follow: random}"
    - "prices={action: 0.01, observation: 0.02}"
    - "objective={clip: 0.2, kl: 0.1, loss_normalization: length, kl_depth: false}"
  exact-even:
    - 2x4
    - "advantage={estimator: exact, group_size: 3, max_expansions: 1, depth_weighting: uniform}"
    - "prices={}"
    - rollout.states=9
  exact-augment: [box, rollout.augment=true, head=null]
  exact-head-moves:
    - 2x4
    - "phases=[{steps: 1}, {steps: 1, head_updates: 2}, {steps: 1, head_only: true, head_updates: 4,
      depth_head_lr: 0.01, starts: 36, budgets: [2, 4], price_action: 0.02}]"
  joint: [joint, "by_task={sokoban: {rollout.budget: 4, rollout.augment: true}}"]
variants: [adaptive, fixed-4, fixed-8, random, depth-only, paper]
methods: [exact, paper, episode, branch, ppo, q, hazard, verifier]
agents: adaptive fixed-4 random shuffled sampled mixture oracle-dp oracle-delta oracle-rate adaptive-memory solver
  fixed-4-sampled confidence-product confidence-least+memory consecutive
few: adaptive fixed-4 shuffled oracle-dp
""")


def recommit(text: str, *words: Any) -> str:
    """A command, and words that have blanks; what it prints."""
    import torch

    from recommit.cli import main

    torch.manual_seed(0)
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        status = main([*text.split(), *map(str, words)])
    if status not in (0, None):
        raise SystemExit(f"recommit {text} {words}: status {status}\n{complained.getvalue()[-3000:]}")
    return said.getvalue()


def once(name: str, text: str, *words: Any) -> Path:
    """A command that fills the folder of this name, unless an earlier section has called it."""
    folder = PLACE / name
    if not folder.exists():
        recommit(f"{text} --out {folder}", *words)
    return folder


def train(name: str, text: str, changes: list[str]) -> Path:
    recipe = PLACE / "recipe.yaml"
    recipe.write_text(json.dumps(SETTINGS["recipe"]))
    text = f"train {text} --recipe {recipe} --device cpu --quiet"
    return once(name, text, *(["--set", *changes] if changes else []))


def data(name: str) -> Path:
    return once(f"data-{name}", f"data build {SETTINGS['data'][name]}")


def warm(name: str = "2x4") -> Path:
    sets, *changes = SETTINGS["sft"][name]
    return train(f"sft-{name}", f"sft --data {' '.join(str(data(each)) for each in sets.split())}", changes)


def grpo(name: str) -> Path:
    source, *changes = SETTINGS["grpo"][name]
    tasks = "--task sliding sokoban" if source == "joint" else ""
    return train(f"grpo-{name}", f"grpo --init {warm(source)} {tasks}", changes)


def family() -> Path:
    return train("family", f"family --init {warm()} --variants {' '.join(SETTINGS['variants'])}", [])


def graph(name: str, run: Path, more: str) -> Path:
    return once(f"graph-{name}", f"graph build {run} --device cpu --quiet {more}")


def train_graph() -> Path:
    return graph("train", warm(), "--split train --starts 24 --features")


def world_model(name: str) -> Path:
    return once(f"world-model-{name}", f"train world-model {warm(name)} --steps 8 --starts 40 --quiet")


def score(text: str) -> Any:
    return json.loads(recommit(f"graph score {text} --price-observation 0.02 --json --quiet"))


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Numbers, truths and lists of numbers by path; words are left out, for they are what a refactoring changes."""
    if isinstance(value, dict):
        parts = {word(str(key)): each for key, each in value.items() if key not in VOLATILE}
        return {k: v for key, each in sorted(parts.items()) for k, v in flat(each, f"{path}/{key}").items()}
    if isinstance(value, list | tuple):
        if all(isinstance(each, int | float | None) for each in value):
            return {path: list(value)} if value else {}
        if all(isinstance(each, dict) for each in value) and not any(map(label_of, value)):  # such as steps of a log
            keys = dict.fromkeys(key for each in value for key in each)
            return flat({key: [each[key] for each in value if key in each] for key in keys}, path)
        found, seen = {}, Counter[str]()
        for each in value:
            label = label_of(each) if isinstance(each, dict) else ""
            seen[label] += 1
            inner = {k: v for k, v in each.items() if word(k) not in NAMED_BY} if label else each
            found |= flat(inner, f"{path}/{label}" + (f"#{seen[label]}" if seen[label] > 1 or not label else ""))
        return found
    return {path: value} if isinstance(value, bool | int | float | None) or str(value).startswith(HASH) else {}


def word(name: str) -> str:
    """A name as it is in expected.json, without the temporary folder."""
    name = re.sub(r"(-of-.*)-[0-9a-f]{8}", r"\1", name.replace(f"{PLACE}/", "").replace("/", ":"))
    return "".join(RENAMED.get(part, part) for part in re.split(r"([@: ])", name))


def label_of(row: dict[str, Any]) -> str:
    names = {word(str(key)): value for key, value in row.items()}
    return " ".join(word(str(names[name])) for name in NAMED_BY if isinstance(names.get(name), str | int | float))


def array(values: Any) -> str:
    """A hash of numbers, whatever is the width of whole ones."""
    values = np.asarray(values)
    kind = {"f": f"<f{values.dtype.itemsize}", "b": "<i8", "i": "<i8", "u": "<i8"}[values.dtype.kind]
    plain = np.ascontiguousarray(values, kind)
    return sha256(f"{kind} {plain.shape}".encode() + plain.tobytes())


def sha256(content: bytes) -> str:
    return HASH + hashlib.sha256(content).hexdigest()[:16]


def numbers(values: Any) -> list[float]:
    """Floats to compare with a tolerance: of a large array 64 sums of sizes and 64 of positive parts."""
    values = np.asarray(values, np.float64).ravel()
    finite = np.isfinite(values)
    values = np.where(finite, values, 0.0)
    if len(values) <= 256:
        return [int(finite.sum()), *values]
    cuts = np.linspace(0, len(values), 65).astype(int)[:-1]
    return [int(finite.sum()), *np.add.reduceat(abs(values), cuts), *np.add.reduceat(values.clip(min=0), cuts)]


def tensors(folder: Path) -> dict[str, Any]:
    """The weights of a run's last policy, or of a policy, as a bag without names."""
    from safetensors.numpy import load_file

    policies = sorted(folder.glob("checkpoints/step-*/policy")) or [folder]
    every = [each for path in sorted(policies[-1].rglob("*.safetensors")) for each in load_file(path).values()]
    hashes = sorted(array(each) for each in every)
    size = sorted(float(np.abs(each.astype(np.float64)).sum()) for each in every)
    return {"tensors": len(every), "weights": sha256("".join(hashes).encode()), "size": size}


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def trained(run: Path) -> dict[str, Any]:
    return {**tensors(run), "log": lines(run / "metrics.jsonl"), "best": json.loads((run / "best.json").read_text())}


def columns(folder: Path) -> dict[str, Any]:
    """Every column of every Parquet file in a folder, as hashes."""
    import pyarrow.parquet as pq

    found = {}
    for path in sorted(folder.rglob("*.parquet")):
        table = pq.read_table(path)
        for name in table.column_names:
            column = table[name].combine_chunks()
            column = column.flatten() if "list" in str(column.type) else column
            if str(column.type).startswith(("float", "double", "int", "uint", "bool")):
                label = f"{word(path.relative_to(folder).as_posix())} {word(name)}"
                found[label] = array(column.to_numpy(zero_copy_only=False))
    return found


def section(function: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    SECTIONS[function.__name__] = function
    return function


@section
def signature() -> dict[str, Any]:
    parts = json.loads(recommit("bench --signature --json"))
    return {part: sha256(value.encode()) for part, value in parts.items()}


@section
def labels() -> dict[str, Any]:
    """Every column of data sets, and of states that a caller brings."""
    from recommit import Sliding
    from recommit.data import label
    from recommit.data import open as opened

    rng, found = np.random.default_rng(0), {}
    states = np.stack([rng.permutation(9).reshape(3, 3) for _ in range(40)]).astype(np.uint8)
    every = {name: opened(data(name), None).columns() for name in SETTINGS["data"]}
    for name, rows in {**every, "own": label(Sliding(3), states)}.items():
        found[name] = {field.name: array(getattr(rows, field.name)) for field in fields(rows)} | {"rows": len(rows)}
    return found


@section
def sft() -> dict[str, Any]:
    return {name: trained(warm(name)) for name in SETTINGS["sft"]}


@section
def reinforcement() -> dict[str, Any]:
    variants = {f"family {name}": trained(family() / f"{name}-s0") for name in SETTINGS["variants"]}
    return {name: trained(grpo(name)) for name in SETTINGS["grpo"]} | variants


@section
def heads() -> dict[str, Any]:
    """World model and distance head, and the head that is conditioned on prices and budget."""
    text = f"train head {train_graph()} --policy {world_model('2x4')} --budget 2 4 --hidden 8 --quiet --updates"
    heads = {
        "world model 2x4": world_model("2x4"),
        "world model box": world_model("box"),
        "conditioned": once("conditioned", f"{text} 8"),
        "conditioned one price": once("conditioned-one", f"{text} 3 --one-price"),
        "conditioned with z": once("conditioned-z", f"{text} 3 --features z+conditioned"),
    }
    return {name: tensors(folder) for name, folder in heads.items()}


@section
def graphs() -> dict[str, Any]:
    every = graph("every", warm(), "--every-state --size 2 3 --samples 4")
    test = graph("test", warm("box"), "--starts 24 --ways --samples 4 --features --augmentations 2")
    chosen = graph("validation", warm("box"), "--starts 24 --split validation --samples 4 --augmentations 2")
    return {
        "columns": {folder.name: columns(folder) for folder in (every, test, chosen, train_graph())},
        "2x3": score(f"{every} --budget 3 5 --split --without-budget"),
        "box": score(f"{test} --choose-on {chosen} --budget 2 6 --split --without-budget"),
        "example": score("sliding-2x3 --rules head fixed-2 confidence-least random --without-budget"),
        "states": backups_on_file(every) | backups_in_memory(),
    }


def backups_on_file(folder: Path) -> dict[str, Any]:
    """State by state: optimal values, values and regrets of a fixed depth and of the head, costs without a budget."""
    from recommit.graph import files, values
    from recommit.prices import Prices

    graph, budget, found = files.read(folder), 4, {}
    rows, columns = graph.rows, {"fixed-4": np.full(len(graph), 3)}
    columns["head"] = np.array(graph.head_depths)[graph.logits.argmax(axis=1)] - 1
    for name, prices in {"free": Prices(), "priced": Prices(0.01, 0.03)}.items():
        best = values.OptimalValues.of(graph, budget, prices)
        found[f"best {name}"] = numbers(best.value)
        found[f"q {name}"] = numbers(best.q_values(budget, rows))
        found[f"optimal {name}"] = numbers(values.solver_values(graph.distance, (1, 2, 4, 8), budget, prices))
        for rule, column in columns.items():
            own = values.policy_values(graph, budget, column, prices)
            found[f"{rule} {name}"] = numbers(own)
            regret = np.zeros_like(own)
            for k in range(1, budget + 1):
                regret[k, rows] = best.value[k, rows] - best.q_values(k, rows)[np.arange(len(rows)), column[rows]]
            found[f"regret of {rule} {name}"] = numbers(regret)
    found["costs"] = numbers(values.shortest_costs(graph, Prices(0.01, 0.03)))
    found["costs of fixed-4"] = numbers(values.policy_costs(graph, Prices(0.01, 0.03), columns["fixed-4"]))
    return found


def backups_in_memory() -> dict[str, Any]:
    """What training computes of a policy: values, Q, visits and advantages; and the best depths."""
    from recommit import CommitPolicy, Sliding
    from recommit.graph import oracle, policy_evaluation
    from recommit.graph.build import PolicyGraph
    from recommit.graph.episodes import softmax
    from recommit.prices import Prices

    policy, task = CommitPolicy.from_pretrained(warm()).eval(), Sliding(2, 4)
    starts = task.generate(20, seed=4, length=(2, 14)).states
    graph = PolicyGraph(policy, task, (1, 2, 4, 8))
    roots, found = graph.nodes(starts), {}
    probs = lambda nodes: 0.5 * softmax(graph.logits[nodes]) + 0.5 * np.array([0.1, 0.2, 0.3, 0.4])
    policy_evaluation.explore(graph, roots, 4, lambda _graph, nodes: probs(nodes), 3)
    for name, budgets in {"one budget": (), "budgets": (2, 4)}.items():
        evaluation = policy_evaluation.PolicyEvaluation(graph, roots, 4, Prices(0.01, 0.02), budgets)
        result = evaluation.values(probs(evaluation.rows))
        for part in ("value", "q_values", "visits", "advantage", "by_distance", "exact_fraction"):
            found[f"{part} {name}"] = numbers(getattr(result, part))
    for name, prices in {"free": Prices(), "priced": Prices(0.01, 0.03)}.items():
        fresh = PolicyGraph(policy, task, (1, 2, 4, 8))
        best = oracle.oracle(fresh, fresh.nodes(starts), 4, (1, 2, 4, 8), prices)
        found[f"oracle {name}"] = numbers(best.value)
        found[f"depths of oracle {name}"] = array(best.column)
    return found


def evaluation(name: str, run: Path, more: str) -> Path:
    return once(f"eval-{name}", f"evaluate {run} --device cpu --quiet --validation 24 {more}")


def played(folder: Path) -> dict[str, Any]:
    found = {name: json.loads((folder / f"{name}.json").read_text()) for name in ("summary", "comparisons", "curves")}
    return found | columns(folder)


def printed(text: str) -> dict[str, int]:
    """How often each number stands in a text."""
    return dict(Counter(re.findall(r"(?<![\w.])[-+\u2212]?\d+(?:\.\d+)?", text)))


def paper_tables(folder: Path) -> dict[str, Any]:
    """The numbers of every table of the paper, and of the remarks below it."""
    every = json.loads((folder / "tables.json").read_text())["tables"]
    return {each["name"]: printed(word(json.dumps(each, ensure_ascii=False))) for each in every}


@section
def evaluate() -> dict[str, Any]:
    run, box = family() / "adaptive-s0", grpo("state-best")
    few, prices = f"--instances 24 --agents {SETTINGS['few']}", "--price-action 0.01 --price-observation 0.02"
    settings = {
        "all": (run, f"--instances 48 --regret --agents {SETTINGS['agents']} adaptive@{world_model('2x4')}"),
        "priced": (run, f"{few} {prices} --edges terciles --split validation"),
        "box": (box, f"{few} --budgets loose 2 --stop-on-deadlock --whole-commitments --edges thirds"),
        "views": (box, f"{few} --augmentations 4 --regret --fresh 23 --length 2 9"),
        "told": (warm("told"), few),
    }
    found = {name: played(evaluation(name, *each)) for name, each in settings.items()}
    paper = evaluation("paper", family(), "--paper --instances 24")
    compared = json.loads((paper / "comparisons.json").read_text())
    return {**found, "paper": paper_tables(paper), "compared": compared}


@section
def report() -> dict[str, Any]:
    """How often each number stands in the tables of a page, and the numbers of its figures."""
    evaluate()
    found = {}
    for name in ("all", "views", "paper"):
        page, figures = PLACE / f"{name}.html", PLACE / f"figures-{name}"
        recommit(f"report {PLACE / f'eval-{name}'} --out {page} --figures {figures} --quiet")
        parts = re.findall(r"<table.*?</table>", page.read_text(), re.DOTALL)
        found[f"tables {name}"] = printed(" ".join(re.sub(r"<[^>]*>", " ", each) for each in parts))
        for path in sorted(figures.glob("*.csv")):
            cells = [cell for row in csv.reader(path.open()) for cell in row]
            found[f"figure {name} {path.stem}"] = [float(each) for each in cells if re.fullmatch(FLOAT, each)]
    return found


@section
def baselines() -> dict[str, Any]:
    """Heads that other methods fit on a graph, and bias and variance of gradients."""
    from bench.pages import gradient_bias

    found, folder = {}, train_graph()
    for method in SETTINGS["methods"]:
        own = f"--policy {warm()}" if method not in ("hazard", "verifier") else ""
        text = f"train head {folder} --method {method} --updates 2 --budget 2 4 --features confidence --quiet {own}"
        text += " --price-observation 0.02"
        out = once(f"fit-{method}", text)
        found[method] = tensors(out) | {"record": json.loads((out / "head.json").read_text())}
    fitted = " ".join(str(PLACE / f"fit-{method}") for method in SETTINGS["methods"])
    found["scores"] = score(f"{folder} --fitted {fitted} --budget 4 --rules fixed-4")
    text = f"train head {folder} --method exact --updates 3 --features z+confidence --quiet --price-observation 0.02"
    text = f"{folder} --budget 2 4 --episodes 8 32 --repeats 3 --head {once('fit-both', text)} --price-observation 0.02"
    found["gradient bias"] = [vars(row) for row in gradient_bias.rows(gradient_bias.parsed(text.split()))]
    return found


def same(one: Any, other: Any) -> bool:
    """Equal, or floats that are as good as equal."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, list) or isinstance(other, list):
        return False
    if isinstance(one, float) or isinstance(other, float):
        return None not in (one, other) and math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-13)
    return bool(one == other)


def furthest(one: Any, other: Any) -> float:
    """The largest relative difference of two numbers, or of two lists of them."""
    pairs = zip(one, other, strict=False) if isinstance(one, list) and isinstance(other, list) else [(one, other)]
    known = [each for each in pairs if all(isinstance(n, int | float) for n in each)]
    return max((abs(a - b) / max(abs(a), abs(b), 1e-12) for a, b in known), default=0.0)


def compare(name: str, wanted: dict[str, Any], got: dict[str, Any]) -> bool:
    wanted = {path: each for path, each in wanted.items() if not DROPPED & set(re.split(r"[/# @]", path))}
    there = [path for path, each in wanted.items() if path in got and not same(each, got[path])]
    gone, new = ([path for path in one if path not in other] for one, other in ((wanted, got), (got, wanted)))
    count = sum(len(each) if isinstance(each, list) else 1 for each in wanted.values())
    print(f"{name}: {count:,} numbers: of {len(wanted)} entries {len(there)} differ, {len(gone)} miss; {len(new)} new")
    for path in there[:1]:
        print(f"  {path}:\n    expected {str(wanted[path])[:200]}\n    got      {str(got[path])[:200]}")
        print(f"  largest relative difference of all numbers: {max(furthest(wanted[p], got[p]) for p in there):.3g}")
    for path in gone[:1] if "-v" not in sys.argv else gone:
        alike = [each for each in new if same(wanted[path], got[each])]
        alike.sort(key=lambda each: -len(set(each.split("/")) & set(path.split("/"))))
        print(f"  missing: {path} = {str(wanted[path])[:200]}\n  new with this value: {alike[:3]}")
    return not (there or gone)


def plant() -> None:
    """A defect: every loss is larger by a millionth."""
    import torch

    backward = torch.Tensor.backward
    torch.Tensor.backward = lambda self, *a, **k: backward(self * (1 + 1e-6), *a, **k)  # type: ignore[method-assign]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.baseline.record", description=__doc__)
    parser.add_argument("--out", type=Path, help="write what is found")
    parser.add_argument("--check", action="store_true", help="compare with expected.json")
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--plant", action="store_true", help="with a defect, which --check must find")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    if options.plant:
        plant()
    found, fine = {}, True
    expected = json.loads(EXPECTED.read_text()) if options.check else {}
    for name in options.only.split(","):
        begun = time.perf_counter()
        found[name] = json.loads(json.dumps(flat(SECTIONS[name]())))
        if options.check:
            fine &= compare(name, expected[name], found[name])
        print(f"{name}: {len(found[name]):,} entries in {time.perf_counter() - begun:.1f} s", flush=True)
    if options.out:
        options.out.write_text(json.dumps(found, indent=0, sort_keys=True, allow_nan=False) + "\n")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
