"""The numbers that the paper reports, as data: by task and budget, solved per cent and actions per episode."""

from __future__ import annotations

from dataclasses import dataclass

from recommit.zero_shot.options import MODELS


@dataclass(frozen=True)
class Reported:
    """One cell of a table; None where the paper has none."""

    solved: float | None = None
    actions: float | None = None
    depth: int | None = None


#: (task, budget) -> row -> cell: the main table at both budgets.
MAIN = {
    ("sliding", "tight"): {
        "adaptive": Reported(35.9, 28), "RL best fixed": Reported(32.8, 35, 4), "SFT best fixed": Reported(28.9, 36, 4),
    },
    ("sokoban", "tight"): {
        "adaptive": Reported(28.1, 20), "RL best fixed": Reported(23.4, 22, 6), "SFT best fixed": Reported(23.4, 25, 7),
    },
    ("sliding", "loose"): {
        "adaptive": Reported(56.3, 37), "RL best fixed": Reported(43.8, 49, 4), "SFT best fixed": Reported(48.4, 46, 4),
    },
    ("sokoban", "loose"): {
        "adaptive": Reported(35.9, 30), "RL best fixed": Reported(32.8, 40, 8), "SFT best fixed": Reported(34.4, 40, 8),
    },
}  # fmt: skip
#: The best trained fixed depth among the head's depths, where it is not the best overall.
WITHIN = {("sokoban", "tight", "RL"): Reported(18.8, 29, 8)}
#: Ablations, solved per cent; loose budget.
ABLATION = {
    "sliding": {"SFT best fixed": 48.4, "RL best fixed": 43.8, "random": 37.5, "depth-only": 45.3, "adaptive": 56.3},
    "sokoban": {"SFT best fixed": 34.4, "RL best fixed": 32.8, "random": 15.6, "depth-only": 20.3, "adaptive": 35.9},
}
#: Loose budget; for sliding the paper gives the gap that is recovered, from which 60.9 follows.
ORACLE = {"sliding": Reported(60.9, None), "sokoban": Reported(45.3, 11.4)}
#: Loose budget, solved episodes: mean depth near, mid, far. The paper shows mean progress in a figure only.
DEPTH_BY_DISTANCE = {"sliding": (4.0, 3.3, 3.3), "sokoban": (6.0, 5.8, 4.4)}
#: Share of commitments that make no progress, per cent, by the distance at their start: near, mid, far.
FAILING = {"sliding": (0.0, None, 27.0), "sokoban": (38.0, None, 100.0)}
#: (task, budget, solved or unsolved) -> figure -> adaptive, RL best fixed, SFT best fixed.
EFFICIENCY: dict[tuple[str, str, str], dict[str, tuple[float | None, ...]]] = {
    ("sliding", "loose", "solved"): {
        "wasted": (0.9, 1.9, None), "backward": (0.4, 0.9, None), "progress per action": (0.79, 0.69, 0.76),
    },
    ("sliding", "loose", "unsolved"): {"wasted": (5.9, 8.4, 8.5), "backward": (3.7, 5.2, 4.8)},
    ("sliding", "tight", "solved"): {"wasted": (0.4, 0.6, 0.5), "progress per action": (0.89, 0.84, 0.85)},
    ("sokoban", "loose", "solved"): {"progress per action": (0.53, 0.48, 0.45)},
    ("sokoban", "loose", "unsolved"): {"progress per action": (0.21, 0.11, 0.17)},
    ("sokoban", "tight", "solved"): {"wasted": (0.1, 0.1, 0.2), "progress per action": (0.67, 0.65, 0.58)},
}  # fmt: skip
#: Shares of the depths on solved episodes, per cent, by task and budget.
DEPTH_SHARES: dict[tuple[str, str], dict[int, float]] = {
    ("sliding", "tight"): {1: 32, 4: 35},
    ("sliding", "loose"): {1: 32, 4: 39},
    ("sokoban", "tight"): {2: 12, 4: 12, 8: 72},
    ("sokoban", "loose"): {2: 11, 4: 19, 8: 60},
}
#: Share of the gap between the best trained fixed depth and the oracle that adaptive depth closes, per cent.
RECOVERED = {"sliding": 73.0, "sokoban": 25.0}
#: The fixed depth that solves most, at the first, the middle and the last checkpoint.
EMERGENCE = {"sliding": (4, 4, 4), "sokoban": (4, 6, 6)}
#: Decisions per training episode -> solved by adaptive, per cent, and the fixed depth that solves most; loose budget.
TRAINING_BUDGETS = {
    "sliding": {4: (53.1, 4), 5: (56.2, 4), 10: (53.1, 4)},
    "sokoban": {3: (29.7, 8), 6: (35.9, 8), 10: (31.2, 8)},
}
#: Best policy trained and played at one depth alone, solved per cent; loose budget.
SINGLE = {"sliding": 14.1, "sokoban": 20.3}
#: Model -> task -> cell; loose budget, by the models' exact names. Where nothing is solved no actions are reported.
ZERO_SHOT = {
    "gpt-5.5-2026-04-23": {"sliding": Reported(22.2, 35.1), "sokoban": Reported(35.0, 22.1)},
    "claude-sonnet-4-6": {"sliding": Reported(0.0), "sokoban": Reported(0.0)},
    "gemini-3.1-pro-preview": {"sliding": Reported(11.1, 36.1), "sokoban": Reported(55.0, 21.0)},
    # Models with open weights solve nothing.
    **{name: {"sliding": Reported(0.0), "sokoban": Reported(0.0)} for name, at in MODELS.items() if at.name == "vllm"},
}
#: adaptive, RL best fixed, by seed: loose budget.
SEEDS = {
    "sliding": {42: (56.3, 43.8), 5: (51.7, 43.8), 15: (56.4, 45.3)},
    "sokoban": {42: (35.9, 32.8), 5: (37.5, 34.4), 15: (39.1, 35.5)},
}
#: Entropy in training: mean of the depth head, as a share of log 4; lowest of the action head, in nats.
DEPTH_ENTROPY = 0.91
ACTION_ENTROPY = {"sliding": 0.300, "sokoban": 0.681}
