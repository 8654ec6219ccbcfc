"""Do frozen features of a picture tell what is in each cell, by the size of the picture? A linear probe.

    python bench/gpu/cells.py --backbone Qwen/Qwen2.5-VL-7B-Instruct --out OUT    # the answer: *not run*
    python bench/gpu/cells.py --preset tiny --device cpu      # random weights: checks the script, and is a baseline

A cell's feature is the mean of its tokens; the probe is a ridge regression on half of the states, and the other half is
what it is measured on. *Most frequent* is what a probe of nothing would have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sft_7b import Figures, arguments, build, puzzles

from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.config import PolicyConfig

#: Pixels of a cell's side; of recommit's pictures the first.
SIDES, STATES, RIDGE = (28, 56, 112), 64, 1e-3


def probed(backbone: Any, task: Any, side: int) -> dict[str, float]:
    """Shares of cells whose kind is found."""
    config, states = PolicyConfig(), task.generate(STATES, seed=1, length=(8, 20)).states
    crop = config.crop and task.ringed
    seen = states[:, 1:-1, 1:-1] if crop else states
    many, rows, cols = seen.shape
    grid, tokens = backbone.grid(rows, cols, side), side // backbone.token_pixels
    with torch.no_grad():
        found = [
            backbone.features(backbone.pixels(task, part, cell=side, theme=config.theme, crop=crop), grid).float()
            for part in np.array_split(states, many // 8)
        ]
    features = torch.cat(found).view(many, rows, tokens, cols, tokens, -1).mean((2, 4)).flatten(1, 2).double().cpu()
    kinds = torch.from_numpy(seen.reshape(many, -1).astype(np.int64))
    (x, test), (y, wanted) = ([half.flatten(0, 1) for half in each.split(many // 2)] for each in (features, kinds))
    mean, scale = x.mean(0), x.std(0) + 1e-6
    x, test = (torch.nn.functional.pad((each - mean) / scale, (0, 1), value=1.0) for each in (x, test))
    gram = x.T @ x + RIDGE * len(x) * torch.eye(x.shape[1], dtype=x.dtype)
    weights = torch.linalg.solve(gram, x.T @ torch.nn.functional.one_hot(y).double())
    right = (test @ weights).argmax(-1) == wanted
    return {"found": float(right.double().mean()), "most_frequent": float(wanted.bincount().max() / len(wanted))}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--backbone", help="folder or repository of published weights; without it random ones")
    options = parser.parse_args()
    if options.backbone:
        backbone = load_backbone(options.backbone, dtype=torch.bfloat16, device=options.device)
    else:
        backbone = build(options.preset, options.device).backbone
    figures = Figures("cells", options)
    for name, task in puzzles(options.size).items():
        row = {str(side): probed(backbone, task, side) for side in SIDES}
        figures.add(name, row)
        assert all(each["found"] > each["most_frequent"] for each in row.values()) or not options.backbone


if __name__ == "__main__":
    main()
