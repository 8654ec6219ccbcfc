"""What features from a disk save over encoding them again, with the picture encoder of Qwen2.5-VL-7B on one GPU.

    python bench/gpu/features_7b.py --out bench/results
    python bench/gpu/features_7b.py --preset tiny --device cpu     # checks the script itself, without a GPU

Random weights; the language model behind the encoder is left tiny. Features from the disk must be those of the encoder
to the bit before a time counts.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from sft_7b import Clock, arguments, backbone_of, write

import recommit
from recommit.policy.backbones.make import BACKBONES
from recommit.policy.config import PolicyConfig
from recommit.policy.vision import Vision


def encoder(preset: str, device: str) -> Any:
    """The preset's picture encoder and the width that it feeds, hardly any language model."""
    return backbone_of(replace(BACKBONES[preset], layers=1, ffn=64, vocabulary=BACKBONES["tiny"].vocabulary), device)


@torch.no_grad()
def features(backbone: Any, task: Any, states: Any, folder: Path | None) -> torch.Tensor:
    """Features of all states, nothing in memory before."""
    vision = Vision(backbone, PolicyConfig())
    if folder is not None:
        vision.keep(folder, 1 << 36)
    parts = [states[begin : begin + 128] for begin in range(0, len(states), 128)]
    return torch.cat([vision.features(task, part, frozen=True) for part in parts])


def measure(backbone: Any, task: Any, states: Any, options: argparse.Namespace) -> dict[str, Any]:
    clock = Clock(options.device)
    backbone.model.requires_grad_(False)
    expected = features(backbone, task, states, None)
    with tempfile.TemporaryDirectory() as place:
        for number in range(options.rounds):
            folder = Path(place) / str(number)
            for stage, store in (("encode", None), ("encode and keep", folder), ("read", folder)):
                seen = clock.run(stage, lambda store=store: features(backbone, task, states, store))
                assert torch.equal(seen, expected), f"{stage}: not the encoder's features"
    rates = {stage: len(states) / clock.median(stage) for stage in clock.stages}
    return {
        "states": len(states),
        "bytes_per_state": expected[0].numel() * expected.element_size(),
        "encoded_per_s": rates["encode"],
        "kept_per_s": rates["encode and keep"],
        "read_per_s": rates["read"],
        "ratio": rates["read"] / rates["encode"],
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--states", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    task = recommit.Sokoban(options.size, boxes=1)
    states = task.generate(options.states, seed=1, length=(8, 32)).states
    figures = {"preset": options.preset, **measure(encoder(options.preset, options.device), task, states, options)}
    print(
        f"{options.preset}: encode {figures['encoded_per_s']:,.0f} states/s, "
        f"encode and keep {figures['kept_per_s']:,.0f}, "
        f"read {figures['read_per_s']:,.0f} ({figures['ratio']:.1f}x), {figures['bytes_per_state']:,} bytes each"
    )
    if options.out:
        write(figures, options.out, "features", options.device)


if __name__ == "__main__":
    main()
