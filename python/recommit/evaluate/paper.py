"""The paper's printed numbers, as data: by task and budget, solved per cent and actions per episode."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """One cell of a table; None where the paper prints nothing."""

    solved: float | None = None
    actions: float | None = None
    depth: int | None = None


#: (task, budget) -> row -> cell: the main table at both budgets.
MAIN = {
    ("sliding", "tight"): {
        "adaptive": Printed(35.9, 28), "RL best fixed": Printed(32.8, 35, 4), "SFT best fixed": Printed(28.9, 36, 4),
    },
    ("sokoban", "tight"): {
        "adaptive": Printed(28.1, 20), "RL best fixed": Printed(23.4, 22, 6), "SFT best fixed": Printed(23.4, 25, 7),
    },
    ("sliding", "loose"): {
        "adaptive": Printed(56.3, 37), "RL best fixed": Printed(43.8, 49, 4), "SFT best fixed": Printed(48.4, 46, 4),
    },
    ("sokoban", "loose"): {
        "adaptive": Printed(35.9, 30), "RL best fixed": Printed(32.8, 40, 8), "SFT best fixed": Printed(34.4, 40, 8),
    },
}  # fmt: skip
#: Loose budget: what is left when a part is taken away.
ABLATION = {
    "sliding": {"SFT best fixed": 48.4, "RL best fixed": 43.8, "random": 37.5, "depth-only": 45.3, "adaptive": 56.3},
    "sokoban": {"SFT best fixed": 34.4, "RL best fixed": 32.8, "random": 15.6, "depth-only": 20.3, "adaptive": 35.9},
}
#: Loose budget; for sliding the paper gives the gap that is recovered, from which 60.9 follows.
ORACLE = {"sliding": Printed(60.9, None), "sokoban": Printed(45.3, 11.4)}
#: Loose budget, solved episodes: mean depth near, mid, far.
DEPTH_BY_DISTANCE = {"sliding": (4.0, 3.3, 3.3), "sokoban": (6.0, 5.8, 4.4)}
#: Loose budget, solved episodes: wasted and backward decisions, progress per action; adaptive and RL best fixed.
EFFICIENCY = {
    "sliding": {"wasted": (0.9, 1.9), "backward": (0.4, 0.9), "progress per action": (0.79, 0.69)},
    "sokoban": {"progress per action": (0.53, 0.48)},
}
#: adaptive, RL best fixed, by seed: loose budget.
SEEDS = {
    "sliding": {42: (56.3, 43.8), 5: (51.7, 43.8), 15: (56.4, 45.3)},
    "sokoban": {42: (35.9, 32.8), 5: (37.5, 34.4), 15: (39.1, 35.5)},
}
#: Of log 4, while training.
DEPTH_ENTROPY = 0.91
