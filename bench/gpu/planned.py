"""What ``recommit estimate`` says of the quantities that the scripts beside it measure: python bench/gpu/planned.py
--out bench/results

python bench/gpu/planned.py --out bench/results

Shapes, batches and settings are those of the scripts; time is at the share of the card's best rate that plans assume.
The pages show these numbers beside the measured ones.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import recommit
from recommit.estimate import CARDS, GIB, Estimate, Machine, estimate
from recommit.train.config import SftConfig, parse
from recommit.train.grpo.config import GrpoConfig

#: Without dropout, as the scripts measure; activations are computed again, as in the paper's recipes.
POLICY = {"lora": {"dropout": 0.0}}
BATCH = 32


def warm_start(preset: str) -> SftConfig:
    """What ``sft_7b.py`` measures."""
    return parse(
        SftConfig,
        {
            "model": {"backbone": f"random:{preset}", "dtype": "bfloat16", "policy": POLICY},
            "optim": {"steps": 1, "batch": BATCH},
            "targets": {"kind": "hard", "paths": "dataset"},
            "validation": {"instances": 0},
            "engine": {"checkpointing": True},
        },
    )


def reinforcement() -> GrpoConfig:
    """What ``grpo_7b.py`` measures with state credit."""
    return parse(
        GrpoConfig,
        {
            "advantage": {"estimator": "state", "group_size": 8},
            "objective": {"kl": 0.0},
            "rollout": {"instances": 64, "budget": 6},
            "optim": {"steps": 1, "batch": BATCH},
            "validation": {"instances": 0},
            "engine": {"checkpointing": True},
        },
    )


def rate(estimated: Estimate, kind: str) -> tuple[float, float]:
    """Passes and states per second of the passes of one kind."""
    (count,) = [c for c in estimated.phases[0].counts if c.kind == kind]
    seconds = estimated.rate.seconds(count.flops)
    assert seconds is not None
    return count.passes / seconds, count.states / seconds


def rows(preset: str, size: int, card: str) -> dict[str, Any]:
    """By the names that ``page.py`` asks for."""
    task, machine, begin = recommit.Sokoban(size, boxes=2), Machine(card), warm_start(preset)
    sft = estimate(begin, begin.model, task, machine)
    grpo = estimate(reinforcement(), begin.model, task, machine)
    tokens = sft.model.visual_tokens + sft.model.text_tokens
    states = rate(sft, "learn")[1]
    look = rate(grpo, "sample")[1]
    return {
        "sft rate": f"{states:,.1f}, {states * tokens:,.0f}",
        "sft memory": f"{sft.memory.peak / GIB:.1f} GiB",
        "state rate": f"{look:,.1f}",
        "update rate": f"{rate(grpo, 'learn')[0]:.2f}",
        "grpo memory": f"{grpo.memory.peak / GIB:.1f} GiB",
        "look rate": f"{look:,.1f} observations/s",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="7b")
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--card", default="h200", choices=sorted(CARDS))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    figures = rows(options.preset, options.size, options.card)
    about = {"preset": options.preset, "card": options.card, "share": Machine(options.card).share}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "planned.json").write_text(json.dumps({**about, "rows": figures}, indent=2) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
