"""What features from a disk save over encoding them again, in CPU time of one core, memory cache empty.

    python bench/bench_vision_cache.py [--states 512] [--rounds 3]

Random backbones: three tiny ones, and a Qwen2.5-VL with a picture encoder of eight million weights. Features from the disk must be
those of the encoder to the bit before a time counts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

import recommit
from recommit.policy.config import LoraConfig, PolicyConfig
from recommit.policy.make import PRESETS, Shape, make_backbone

SHAPES = {
    **{name: PRESETS[name] for name in ("tiny", "tiny-qwen3-vl", "tiny-internvl")},
    "8 million": Shape(256, 2, 4, 4, 512, 256, 8, 8, 684, 112, (3, 7)),
}
TASK = recommit.Sliding(3)


def cpu(call):
    begin = time.process_time()
    result = call()
    return result, time.process_time() - begin


@torch.no_grad()
def measure(shape, states, rounds, folder):
    made = make_backbone(folder / "backbone", shape)

    def look(kept):
        policy = recommit.CommitPolicy.from_backbone(made, PolicyConfig(lora=LoraConfig())).eval()
        if kept is not None:
            policy.vision.keep(kept, 1 << 34)
            policy.vision._store(TASK, TASK.shape)  # opening and hashing is timed apart
        parts = states.reshape(-1, 128, *states.shape[1:])
        return cpu(lambda: torch.cat([policy.vision.features(TASK, part, frozen=True) for part in parts])), policy

    found, expected = {"encode": [], "write": [], "read": []}, None
    for number in range(rounds):
        for name, kept in (("encode", None), ("write", folder / str(number)), ("read", folder / str(number))):
            (features, seconds), policy = look(kept)
            found[name].append(seconds)
            expected = features if expected is None else expected
            assert torch.equal(features, expected)
    _, opened = cpu(lambda: policy.vision.keep(folder / "0", 1 << 34))
    weights = sum(p.numel() for p in policy.backbone.vision_parameters())
    return {name: 1e6 * min(seconds) / len(states) for name, seconds in found.items()}, weights, opened


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    states = TASK.generate(given.states // 128 * 128, seed=0, length=(8, 24)).states
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            found, weights, opened = measure(shape, states, given.rounds, Path(folder))
        print(
            f"{name:<15} {weights:10,} vision weights: encode {found['encode']:8,.0f} us/state, encode and keep "
            f"{found['write']:8,.0f}, read {found['read']:6,.0f} ({found['encode'] / found['read']:.1f}x); "
            f"hashing the encoder {1000 * opened:.0f} ms"
        )


if __name__ == "__main__":
    main()
