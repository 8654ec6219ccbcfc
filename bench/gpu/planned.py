"""What ``recommit estimate`` says of the quantities that the scripts beside it measure.

python bench/gpu/planned.py --out bench/results

Shapes, batches and settings are those of the scripts; time is at the share of the card's best rate that plans assume.
The pages show these numbers beside the measured ones.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from sft_7b import PROMPTS, puzzles

from recommit.estimate import CARDS, GIB, Estimate, Machine, estimate
from recommit.policy.config import LoraConfig
from recommit.train.config import SftConfig, load
from recommit.train.grpo.config import GrpoConfig

#: Whose tokens were counted by the published tokenizer.
BACKBONES = {"7b": "Qwen/Qwen2.5-VL-7B-Instruct"}
#: States of a warm start's step; a step of reinforcement has those of the scripts.
BATCH = 128
SIZES = ("engine={checkpointing: true}", "rollout.instances=64", "optim.batch=64")


def rate(estimated: Estimate, kind: str) -> tuple[float, float]:
    """Passes and states per second of the passes of one kind."""
    (count,) = [c for c in estimated.phases[0].counts if c.kind == kind]
    seconds = estimated.rate.seconds(count.flops)
    assert seconds is not None
    return count.passes / seconds, count.states / seconds


def rows(preset: str, size: int, card: str) -> dict[str, Any]:
    """By the names that ``page.py`` asks for."""
    machine = Machine(card)
    found: dict[str, Any] = {}
    for puzzle, task in puzzles(size).items():
        for prompt, names in PROMPTS.items():
            sft: SftConfig = load(f"paper-{puzzle}", [*SIZES[:1], f"optim.batch={BATCH}"], SftConfig)
            # Without dropout, as the scripts measure.
            policy = replace(sft.model.policy, prompts=names, lora=LoraConfig(dropout=0.0))
            model = replace(sft.model, policy=policy, backbone=BACKBONES.get(preset, f"random:{preset}"))
            grpo: GrpoConfig = load(f"paper-{puzzle}", SIZES, GrpoConfig, "grpo")
            learned, played = (estimate(each, model, task, machine) for each in (replace(sft, model=model), grpo))
            look = rate(played, "sample")[1]
            found |= {
                f"sft, {puzzle}, {prompt}": (
                    f"{rate(learned, 'learn')[1]:,.1f} states/s; {learned.memory.peak / GIB:.1f} GiB with {BATCH}"
                ),
                f"grpo, paper-{puzzle}, {prompt}": (
                    f"{look:,.1f} decisions/s, {rate(played, 'learn')[0]:.2f} updates/s, "
                    f"{played.memory.peak / GIB:.1f} GiB"
                ),
                f"play, {puzzle}, {prompt}": f"{look:,.1f} observations/s",
            }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="7b")
    parser.add_argument("--size", type=int, default=7)
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
