"""Every number that the package computes, replayed by the command line: data sets, weights, graphs, scores, sweeps.

``python -m tests.golden.numbers`` compares with ``numbers.json``, value by value; ``--accept`` writes it anew, ``--part
graph`` replays one part and those before it. One thread, some minutes. Training and what follows from it have the same
bits only on the processor and the torch that are named in the file; elsewhere the data sets alone are compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).with_suffix(".json")
#: Relative difference of a number that still counts as the same.
CLOSE = 1e-12
#: Keys of what depends on the clock, the machine or the package's own version, or names a digest over such.
UNSTABLE = re.compile(
    r"second|time|date|created|version|rate_of|per_s$|wall|cpu|ms|host|path|folder|digest|sha256|recommit|hash|python|"
    r"numpy|platform|content$|command|ledger|flops",
    re.IGNORECASE,
)
DECODER = "{width: 64, layers: 1, heads: 4, ffn: 64}"
SMALL = f"policy: {{lora: null, prompts: [bare-v1, bare-v1], decoder: {DECODER}}}"
NETWORK, WORDS = f"{{backbone: 'conv:small', {SMALL}}}", f"{{backbone: 'random:tiny', {SMALL}}}"
OPTIM = "{steps: 20, batch: 64, lr: 1e-3, decoder_lr: 1e-3, schedule: linear, warmup: 5}"
RUN = "{threads: 1, tensorboard: false}"
SFT = """
sft:
  model: {model}
  optim: {optim}
  targets: {targets}
  validation: {{instances: 32, every: 10, budget: {budget}}}
  run: {run}
"""
HEAD = "head: {features: z+confidence, hidden: 16}"
SAMPLED = "group_size: 4, scale: group"
#: The stage ``grpo`` by name; every estimator of advantages, the paper's objective and every kind of phase.
GRPO = {
    "state": f"advantage: {{estimator: state, {SAMPLED}, progress: 0.2, progress_per: action, deadlock: zero}}",
    "episode": f"advantage: {{estimator: episode, {SAMPLED}, progress: 0.0}}\n  prices: {{action: 0.002}}",
    "branch": f"advantage: {{estimator: branch, {SAMPLED}, follow: best}}\n  prices: {{observation: 0.01}}",
    "exact": f"""{HEAD}
  advantage: {{estimator: exact, group_size: 4, max_expansions: 2, depth_weighting: uniform}}
  prices: {{action: [0.002, 0.008]}}
  objective: {{clip: 0.2, kl: 0.0, entropy_depth: 0.003, entropy_actions: 0.0}}
  phases:
    - {{steps: 1}}
    - {{steps: 1, head_updates: 3}}
    - {{steps: 1, head_only: true, head_updates: 5, depth_head_lr: 3e-3, starts: 64, budgets: [4, 6],
       price_action: 0.01}}""",
    "joint-ratio": f"advantage: {{estimator: state, {SAMPLED}}}\n  objective: {{ratio: joint}}",
    "length": f"advantage: {{estimator: episode, {SAMPLED}, progress: 0.1}}\n"
    "  objective: {loss_normalization: length, kl: 0.0}",
}
GRPO_SHARED = """
  rollout: {instances: 32, budget: 6, states: 200}
  optim: {steps: 3, batch: 64, lr: 1e-4, decoder_lr: 1e-4, depth_head_lr: 1e-3, warmup: 0}
  validation: {instances: 32, every: 3, budget: 6}
  run: {threads: 1, tensorboard: false}
"""
#: A policy of an environment whose chunks get worse with depth, and an ensemble of which are its samples.
POLICY = """
import numpy as np

class Policy:
    def predict(self, observations):
        angle, speed = np.arctan2(observations[:, 1], observations[:, 0]), observations[:, 2]
        push = np.stack([-8 * angle - scale * speed for scale in (1.0, 2.0, 3.0)], 1)
        samples = np.clip(push[:, :, None] * 0.8 ** np.arange(6), -2, 2)[..., None]
        return {"actions": samples.mean(axis=1), "samples": samples}
"""
BUILD = "--validation 48 --test 64 --ties random --seed 0 --workers 1"
DATA = {
    "sliding": f"--task sliding --size 3 --length 8 24 --count 300 {BUILD}",
    "regions": f"--task sliding --size 3 --length 8 20 --count 200 --disjoint regions {BUILD}",
    "sokoban": f"--task sokoban --size 7 --boxes 1 2 --length 8 20 --count 300 --disjoint layouts {BUILD}",
    "ice": f"--task ice --size 7 --length 5 12 --count 200 {BUILD}",
}
AGENTS = (
    "adaptive sampled shuffled random mixture fixed-1 fixed-2 fixed-4 fixed-8 "
    "oracle-dp oracle-delta solver random-actions"
)


def replay(folder: Path, last: str) -> dict[str, dict[str, Any]]:
    """All numbers, by part and name."""
    parts = {"data": _data, "warm-start": _warm_start, "grpo": _grpo, "graph": _graph, "heads": _heads}
    parts |= {"evaluation": _evaluation, "family": _family, "sweep": _sweep}
    numbers: dict[str, dict[str, Any]] = {}
    for name, part in parts.items():
        numbers[name] = part(folder)
        print(f"{name}: {len(numbers[name])} numbers", file=sys.stderr)
        if name == last:
            break
    return numbers


def _recommit(folder: Path, line: str) -> str:
    words = [sys.executable, "-m", "recommit.cli", *line.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"recommit {line}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def _data(folder: Path) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for name, flags in DATA.items():
        _recommit(folder, f"data build {flags} --out {name}")
        shown = json.loads(_recommit(folder, f"data show {name} --json"))
        numbers[f"{name}.content"] = _find(shown, "content")
        for file in sorted((folder / name).rglob("*.parquet")):
            numbers[f"{name}.{file.name}"] = hashlib.sha256(file.read_bytes()).hexdigest()
    return numbers


def _warm_start(folder: Path) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    conv = NETWORK.replace("policy:", "shape: {reach: 3}, policy:")
    runs = {
        "sliding": (NETWORK, "{kind: soft, paths: resample}", 6),
        "sokoban": (conv, "{kind: soft, paths: resample, augment: true, dense: 2}", 6),
        "dagger": (conv, "{kind: soft, dagger: 0.5, budget: 6}", 6),
        "ice": (NETWORK, "{kind: soft, paths: resample}", 4),
        "paper": (WORDS, "{kind: hard, paths: dataset, weighting: sample}", 6),
    }
    for name, (model, targets, budget) in runs.items():
        if name == "ice":
            model = model.replace("lora: null", "lora: null, tasks: [ice]").replace("[bare-v1, bare-v1]", "[bare-v1]")
        recipe = SFT.format(model=model, optim=OPTIM, targets=targets, budget=budget, run=RUN)
        (folder / f"{name}.yaml").write_text(f"tasks: [sliding, sokoban, ice]{recipe}")
        data = name if name in DATA else {"dagger": "sokoban", "paper": "sliding"}[name]
        _recommit(folder, f"train sft --recipe {name}.yaml --data {data} --out sft-{name}")
        numbers |= _weights(folder / f"sft-{name}", name)
    _recommit(folder, "train sft --recipe sliding.yaml --data sliding sokoban --steps 5 --out sft-two")
    return numbers | _weights(folder / "sft-two", "two")


def _grpo(folder: Path) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for name, stage in GRPO.items():
        (folder / f"grpo-{name}.yaml").write_text(f"tasks: [sliding, sokoban, ice]\ngrpo:\n  {stage}{GRPO_SHARED}")
        _recommit(folder, f"train grpo --recipe grpo-{name}.yaml --init sft-sliding --out rl-{name}")
        numbers |= _weights(folder / f"rl-{name}", name)
    for variant in ("fixed-4", "random", "depth-only"):
        _recommit(
            folder, f"train grpo --recipe grpo-episode.yaml --init sft-sokoban --variant {variant} --out rl-{variant}"
        )
        numbers |= _weights(folder / f"rl-{variant}", variant)
    return numbers


def _graph(folder: Path) -> dict[str, Any]:
    _recommit(folder, "train grpo --recipe grpo-exact.yaml --init sft-ice --out rl-ice")
    build = "graph build rl-ice --starts 48 --features --samples 3 --ways --threads 1"
    _recommit(folder, f"{build} --out graph")
    _recommit(folder, f"{build} --split validation --out chosen")
    _recommit(folder, "graph build rl-exact --out planned --starts 24 --budget 5 --threads 1")
    score = "graph score graph --choose-on chosen --budget 4 6 --price-observation 0.02 --split --json"
    numbers = _flat(json.loads(_recommit(folder, score)), "rules")
    score = "graph score planned --budget 5 --price-observation 0.02 --json"
    numbers |= _flat(json.loads(_recommit(folder, score)), "planned")
    return numbers | _flat(json.loads((folder / "graph/manifest.json").read_text()), "show")


def _heads(folder: Path) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    _recommit(folder, "train world-model rl-ice --out world-model --steps 30 --starts 60")
    numbers |= _tensors(folder / "world-model", "world-model")
    _recommit(folder, "graph build rl-ice --out plans --split train --starts 80 --features --threads 1")
    head = "train head plans --policy world-model --out conditioned --features z+conditioned"
    _recommit(folder, f"{head} --updates 4 --budget 3 4")
    numbers |= _tensors(folder / "conditioned", "conditioned")
    return numbers


def _evaluation(folder: Path) -> dict[str, Any]:
    rules = "confidence-product confidence-entropy repetition reversal disagreement consecutive entropy-jump"
    extra = "adaptive@world-model adaptive-memory"
    flags = "--instances 48 --validation 32 --budgets 4 6 --price-action 0.01 --price-observation 0.02"
    _recommit(folder, f"evaluate rl-ice --agents {AGENTS} {rules} {extra} {flags} --out eval")
    numbers = _flat(json.loads((folder / "eval/summary.json").read_text()), "ice")
    numbers |= _cells((folder / "eval/tables.md").read_text(), "ice")
    few = "adaptive fixed-4 fixed-8 oracle-dp adaptive+aug8"
    flags = "--instances 48 --validation 32 --budgets tight --edges terciles"
    _recommit(folder, f"evaluate rl-depth-only --agents {few} {flags} --out eval-sokoban")
    numbers |= _flat(json.loads((folder / "eval-sokoban/summary.json").read_text()), "sokoban")
    _recommit(folder, "report eval --out report.html")
    return numbers | _cells((folder / "report.html").read_text(), "report")


def _family(folder: Path) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for seed in (0, 1):
        for name in ("adaptive", "fixed-1", "fixed-4", "random", "depth-only"):
            run = f"--init sft-sliding --variant {name} --seed {seed} --steps 1 --out family/{name}-s{seed}"
            _recommit(folder, f"train grpo --recipe grpo-episode.yaml {run}")
    for seed in (0, 1):  # a table of one seed has agents of the other
        _recommit(
            folder,
            f"evaluate family --paper --seed {seed} --instances 32 --validation 24 --budgets 4 8 --out paper-{seed}",
        )
        numbers |= _flat(json.loads((folder / f"paper-{seed}/summary.json").read_text()), f"seed{seed}")
        numbers |= _cells((folder / f"paper-{seed}/tables.md").read_text(), f"tables{seed}")
    return numbers


def _sweep(folder: Path) -> dict[str, Any]:
    (folder / "policy.py").write_text(POLICY)
    flags = "--episodes 6 --validation 4 --max-steps 60 --thresholds 3 --price 0.01"
    _recommit(folder, f"sweep --env Pendulum-v1 --policy policy.py:Policy {flags} --out sweep")
    _recommit(
        folder, f"sweep --env Pendulum-v1 --policy policy.py:Policy {flags} --latency 2 --mode continue --out late"
    )
    numbers = _flat(json.loads((folder / "sweep/card.json").read_text()), "hold")
    return numbers | _flat(json.loads((folder / "late/card.json").read_text()), "continue")


def _weights(run: Path, name: str) -> dict[str, Any]:
    """Of the newest checkpoint of a run, and what its validations found."""
    metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    best = json.loads((run / "best.json").read_text())
    policy = next(value for value in best.values() if isinstance(value, str) and (run / value).exists())
    return _tensors(run / policy, name) | _flat(metrics, f"{name}.metrics")


def _tensors(folder: Path, name: str) -> dict[str, Any]:
    """A digest of all tensors of a folder, whatever they are called, and the sum of their magnitudes."""
    import torch
    from safetensors.torch import load_file

    digests, total = [], 0.0
    for file in sorted(folder.rglob("*.safetensors")):
        for tensor in load_file(file).values():
            digests.append(hashlib.sha256(tensor.contiguous().view(torch.uint8).numpy().tobytes()).hexdigest())
            total += float(tensor.double().abs().sum())
    whole = hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()
    return {f"{name}.tensors": len(digests), f"{name}.weights": whole, f"{name}.magnitude": total}


def _flat(value: Any, name: str) -> dict[str, Any]:
    """Numbers and truth values by path."""
    if isinstance(value, dict):
        return {
            key: each
            for k, v in value.items()
            if not UNSTABLE.search(k)
            for key, each in _flat(v, f"{name}.{k}").items()
        }
    if isinstance(value, list):
        labels = [_label(each) for each in value]
        named = [f"{own}#{labels[:i].count(own)}" if labels.count(own) > 1 else own for i, own in enumerate(labels)]
        return {
            key: each for own, v in zip(named, value, strict=True) for key, each in _flat(v, f"{name}.{own}").items()
        }
    return {name: value} if isinstance(value, int | float) else {}


def _label(value: Any) -> str:
    """What tells a row from others, whatever their order."""
    keys = ("agent", "rule", "name", "budget", "step", "part", "split", "prices")
    return "/".join(str(value[k]) for k in keys if isinstance(value, dict) and isinstance(value.get(k), str | int))


def _cells(text: str, name: str) -> dict[str, Any]:
    """The numbers of all cells of tables in Markdown or HTML, in order."""
    rows = re.findall(r"<tr[ >].*?</tr>", text, re.DOTALL) or [
        line for line in text.splitlines() if line.startswith("|")
    ]
    numbers = re.findall(r"-?\d+\.\d+|-?\d+", re.sub(r"<[^>]*>", " ", "\n".join(rows)))
    return {f"{name}.cells": len(numbers), **{f"{name}.cell{i}": float(n) for i, n in enumerate(numbers)}}


def _find(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return (
            value[key] if key in value else next((f for v in value.values() if (f := _find(v, key)) is not None), None)
        )
    return next((f for v in value if (f := _find(v, key)) is not None), None) if isinstance(value, list) else None


def _nested(numbers: dict[str, Any]) -> dict[str, Any]:
    """Numbers by the row that they stand in; those of cells in their order."""
    rows: dict[str, Any] = {}
    for key, value in numbers.items():
        row, _, name = key.rpartition(".")
        if re.fullmatch(r"cell\d+", name):
            rows.setdefault(f"{row}.cell", []).append(value)
        else:
            rows.setdefault(row, {})[name] = value
    return rows


def _unnested(rows: dict[str, Any]) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for row, values in rows.items():
        named = values.items() if isinstance(values, dict) else enumerate(values)
        numbers |= {f"{row}.{name}" if isinstance(values, dict) else f"{row}{name}": value for name, value in named}
    return numbers


def _text(golden: dict[str, Any]) -> str:
    """A line for each row."""
    parts = []
    for part, rows in golden["numbers"].items():
        lines = [f"{json.dumps(row)}: {json.dumps(values)}" for row, values in rows.items()]
        parts.append(f"{json.dumps(part)}: {{\n" + ",\n".join(lines) + "\n}")
    return f'{{"machine": {json.dumps(golden["machine"])}, "numbers": {{\n' + ",\n".join(parts) + "\n}}\n"


def machine() -> str:
    """What decides in which order floating-point numbers are summed."""
    import torch

    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{model}, {torch.backends.cpu.get_cpu_capability()}, torch {torch.__version__.partition('+')[0]}"


def differences(golden: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """One line per number that is gone, new or another one."""
    lines = []
    for key in sorted({*golden, *found}):
        old, new = golden.get(key), found.get(key)
        if isinstance(old, int | float) and isinstance(new, int | float):
            if old == new or abs(old - new) <= CLOSE * max(abs(old), abs(new)):
                continue
        elif old == new:
            continue
        lines.append(f"{key}: {old} -> {new}")
    return lines


def main() -> int:
    """Compare, or accept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--part", default="", help="the last part that is replayed")
    parser.add_argument("--keep", type=Path, help="a new folder for everything that is made")
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        found = replay(folder, options.part)
        (folder / "found.json").write_text(json.dumps(found))
    if options.accept:
        GOLDEN.write_text(_text({"machine": machine(), "numbers": {part: _nested(found[part]) for part in found}}))
        return 0
    golden = json.loads(GOLDEN.read_text())
    here = golden["machine"] == machine()
    parts = [part for part in found if here or part == "data"]
    lines = [
        f"{part}: {line}"
        for part in parts
        for line in differences(_unnested(golden["numbers"].get(part, {})), found[part])
    ]
    print("\n".join(lines[:200]))
    same = sum(len(found[part]) for part in parts)
    print(
        f"{len(lines)} differences in {same} numbers"
        + ("" if here else f", of the data alone: not {golden['machine']}")
    )
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
