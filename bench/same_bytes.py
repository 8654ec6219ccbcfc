"""What the program computes, as one digest per thing: equal before and after code moves (deleted after the last move).

python bench/same_bytes.py > before.json
python bench/same_bytes.py --against before.json      # exits with 1 and names what differs
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TINY = (
    "{backbone: random:tiny, policy: {lora: null, prompts: [bare-v1, bare-v1], decoder: {width: 32, layers: 1, "
    "heads: 2, ffn: 64}}}"
)
SFT = f"""
sft:
  model: {TINY}
  optim: {{steps: 20, batch: 32, lr: 1e-3, head_lr: 1e-3}}
  targets: {{kind: soft, paths: resample}}
  validation: {{instances: 16, every: 10, budget: 6}}
"""
#: One recipe of reinforcement per kind of credit, and the laptop's with its phases.
GRPO = {
    "state": "credit: {group: state, size: 4, progress_per: action, deadlock: penalty}",
    "branch": "credit: {group: branch, size: 3, reward: total}",
    "episode": "credit: {group: episode, size: 3, reward: potential, scale: batch}",
    "exact": "credit: {group: exact, size: 3, scale: batch, price_action: [0.002, 0.008], width: 2, plan_depths: "
    "even, budgets: [3, 6]}"
    "\n  phases: [{steps: 1}, {steps: 1, head_moves: 3}, {steps: 1, head_only: true, starts: 24, head_moves: 5, "
    "head_lr: 3e-3, price_action: 0.01}]",
}
REST = """
  rollout: {instances: 12, budget: 6, length: [4, 12]}
  optim: {steps: 3, batch: 32, lr: 1e-3, head_lr: 1e-3, depth_lr: 1e-3}
  validation: {instances: 16, every: 3, budget: 6, length: [4, 12], budgets: BUDGETS}
"""
AGENTS = ["--agents", "adaptive", "fixed-4", "random", "shuffled", "oracle-dp", "adaptive-memory"]


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "recommit.cli", *arguments], check=True, stdout=subprocess.DEVNULL)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def folder_digests(folder: Path, *patterns: str) -> dict[str, str]:
    paths = sorted(path for pattern in patterns for path in folder.rglob(pattern))
    if not paths:
        raise SystemExit(f"{folder}: expected {patterns}, got none")
    return {str(path.relative_to(folder)): digest(path) for path in paths}


def measured(work: Path) -> dict[str, object]:
    result: dict[str, object] = {}
    for task, extra in (("sliding", ["--size", "3"]), ("sokoban", ["--size", "6", "--boxes", "1"])):
        data = work / f"data-{task}"
        run(
            "data",
            "build",
            "--task",
            task,
            *extra,
            "--length",
            "4",
            "12",
            "--count",
            "200",
            "--seed",
            "1",
            "--out",
            str(data),
        )
        result[f"data {task}"] = folder_digests(data, "*.parquet")
    (work / "sft.yaml").write_text(SFT, encoding="utf-8")
    for task in ("sliding", "sokoban"):
        warm = work / f"warm-{task}"
        run(
            "train", "sft", "--recipe", str(work / "sft.yaml"), "--data", str(work / f"data-{task}"), "--out", str(warm)
        )
        result[f"sft {task}"] = folder_digests(warm, "*.safetensors", "metrics.jsonl")
    for kind, credit in GRPO.items():
        recipe, out = work / f"{kind}.yaml", work / f"grpo-{kind}"
        rest = REST.replace("BUDGETS", "[3, 6]" if kind == "exact" else "[]")
        recipe.write_text(f"grpo:\n  {credit}{rest}", encoding="utf-8")
        warm = work / ("warm-sokoban" if kind == "state" else "warm-sliding")
        run("train", "grpo", "--recipe", str(recipe), "--init", str(warm), "--out", str(out))
        result[f"grpo {kind}"] = folder_digests(out, "*.safetensors", "metrics.jsonl")
    out = work / "eval"
    run("evaluate", str(work / "grpo-exact"), *AGENTS, "--instances", "32", "--validation", "16", "--out", str(out))
    # The agent with a memory has another name than before; everything else of a summary is compared.
    summary = (out / "summary.json").read_bytes().replace(b"adaptive-memory", b"wary")
    result["evaluation"] = {"summary.json": hashlib.sha256(summary).hexdigest()[:16]}
    run(
        "levels",
        "generate",
        "--task",
        "sokoban",
        "--size",
        "7",
        "--boxes",
        "2",
        "--length",
        "4",
        "20",
        "--count",
        "20",
        "--seed",
        "3",
        "--out",
        str(work / "levels.txt"),
    )
    result["levels"] = digest(work / "levels.txt")
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        now = measured(Path(work))
    if not arguments.against:
        print(json.dumps(now, indent=1))
        return 0
    before = json.loads(arguments.against.read_text(encoding="utf-8"))
    different = [name for name in before if before[name] != now.get(name)]
    for name in different:
        print(f"{name}: {before[name]} before, {now.get(name)} now")
    print(f"{len(before) - len(different)} of {len(before)} equal")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
