"""The preset ``h200`` from data to tables, cut down to the time that there is.

    python bench/gpu/scaled.py --seconds 300 --out bench/results
    python bench/gpu/scaled.py --dry-run --out OUT     # the same stages with a model of some thousand weights

Steps, rows and instances are the preset's times the share of its half an hour that is left; one variant, one seed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from sft_7b import write

from recommit.reproduce import preset, stages
from recommit.reproduce.options import ReproduceOptions

#: What the preset takes by plan, and how much of the given time is promised to it.
WHOLE, PROMISED = 1800.0, 0.6
SMALL = [
    "model.shape={width: 32, layers: 2, heads: 2, kv_heads: 2, ffn: 64}",
    "model.policy.decoder={width: 32, layers: 1, heads: 2, ffn: 64}",
    "optim.batch=32",
    "run.device=cpu",
    "validation.instances=16",
]
#: A recipe's phases need more steps than there are: the depth head moves from the start, and all steps are alike.
PLAIN = ["phases=[{steps: 1, head_updates: 10}]", "run.tensorboard=false"]
FEW = ["rollout.instances=8", "rollout.states=64", "optim.batch=32", "run.device=cpu", "validation.instances=16"]


def value(changes: list[str], name: str) -> int:
    """The number that a preset sets."""
    return next(int(change.partition("=")[2]) for change in changes if change.startswith(f"{name}="))


def scaled(plan: dict[str, Any], share: float, *, small: bool) -> dict[str, Any]:
    """The preset with a share of everything that takes time."""
    task = plan["tasks"]["sliding"]
    count = lambda whole, least: max(least, int(whole * share))
    steps, rounds = count(value(task["sft"], "optim.steps"), 8), count(60, 2)
    task["data"] |= {"count": count(task["data"]["count"], 500), "validation": 128, "test": 128}
    task["sft"] += [
        f"optim.steps={steps}",
        f"validation.every={steps}",
        "run.tensorboard=false",
        *(SMALL if small else []),
    ]
    task["grpo"] += [f"optim.steps={rounds}", f"validation.every={rounds}", *PLAIN, *(FEW if small else [])]
    evaluated = {"instances": 16, "validation": 16} if small else {"instances": count(1024, 128), "validation": 64}
    task |= {"variants": ["adaptive"], "evaluate": {**task["evaluate"], **evaluated}}
    return plan


def rate(run: Path) -> float:
    """States per second of a run's best line, the first of which warms up."""
    lines = [json.loads(line) for line in (run / "timing.jsonl").read_text().splitlines()]
    return max(line["states_per_s"] for line in lines)


def solve_rates(evaluation: Path) -> dict[str, float]:
    """By agent and budget, without other recipes and heads."""
    rows = json.loads((evaluation / "summary.json").read_text())
    own = [row for row in rows if not row["agent"].startswith("adaptive@")]
    return {f"{row['agent'].partition('@')[0]} {row['budget']}": row["solve_rate"] for row in own}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=WHOLE / PROMISED)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    share = 0.0 if options.dry_run else PROMISED * options.seconds / WHOLE
    plan = scaled(preset.load("h200"), share, small=options.dry_run)
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "plan.yaml").write_text(yaml.safe_dump(plan))
        began = time.monotonic()
        asked = ReproduceOptions(Path(place) / "out", str(Path(place) / "plan.yaml"), jobs=1)
        stages.reproduce(asked)
        folder = Path(place) / "out" / "sliding"
        figures = {
            "share": share,
            "took_s": time.monotonic() - began,
            "warm_start_states_per_s": rate(folder / "sft"),
            "reinforcement_states_per_s": rate(next(folder.glob("family/adaptive*"))),
            "solve_rates": solve_rates(next(folder.glob("eval-s*"))),
        }
    print(json.dumps(figures))
    write(figures, options.out, "reproduce", "cpu" if options.dry_run else "cuda")


if __name__ == "__main__":
    main()
