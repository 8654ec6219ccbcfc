"""Options of a sweep."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recommit import checks

#: Offset of the validation seeds from the first test seed, so that no seed is in both.
APART = 1_000_000
#: Limit of seeds: some simulators take 32 bits.
MOST_SEED = 2**31
#: Most thresholds of a rule.
MOST_THRESHOLDS = 1000
LEAST = dict.fromkeys(("validation", "episodes", "batch", "max_steps", "jobs"), 1) | dict.fromkeys(
    ("seed", "latency", "thresholds"), 0
)


def _one_spelling(env_kwargs: str) -> str:
    """Canonical JSON of the arguments: equal ones give equal text, whatever their order and spaces."""
    try:
        value = json.loads(env_kwargs)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ValueError(f"env_kwargs: expected a JSON object such as '{{\"x\": 1}}', got {env_kwargs}")  # noqa: TRY004
    return json.dumps(value, sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """Sweep fixed depths and rules for a policy in an environment.

    Args:
        env: A Gymnasium id, or a function that makes an environment or a vector of them: file.py:function or
            module:function. A file is run.
        policy: A function that makes the policy, an object with predict(observations): file.py:function or
            module:function. A file is run.
        lerobot: A policy that LeRobot saved, a folder or a name on the hub, in the place of policy. Then
            --env.type=pusht and other --env.NAME=VALUE of lerobot-eval stand in the place of env.
        out: A folder for card.json, table.md, figure.svg and .png, and the log from which a sweep can be resumed.
        env_kwargs: Arguments of the environment, as a JSON object.
        files: Files and folders that the policy reads, such as weights; their hashes go into the card.
        depths: Fixed depths, which rules choose from too (default: all of 1..H; of H > 16 sixteen fixed ones).
        thresholds: Number of thresholds of each rule to try on validation episodes; 0 leaves out all rules.
        episodes: Test episodes of each row, the same for every row.
        validation: Validation episodes for each threshold and depth.
        seed: Seed of the first test episode; the next ones have the next seeds, validation has its own.
        latency: Ticks between an observation and the first action that may depend on it.
        mode: What happens in these ticks. hold: the robot waits, and then executes the chunk from its beginning.
            continue: the old chunk goes on, and as many actions of the new one are dropped as stale.
        hold: Action while the robot waits: zeros (or what the policy's idle(observations) returns), or the last
            action.
        success: The key of info for the success of an episode (default: success, is_success, or else the return is
            reported).
        stop: Whether an episode ends at its first success, or goes on to its end, where its last tick decides.
        max_steps: Ticks after which an episode is cut.
        price: Cost of a query in the unit of success or return, subtracted in choices and differences. With 0,
            thresholds of rules are chosen as if the queries of fixed depth 1 cost the margin, 5 points.
        batch: Episodes side by side, which the policy gets as one batch; a vector of environments has its own number.
        jobs: Processes, with one thread each. The card does not depend on it.
        wandb: Send the figures to this project of Weights & Biases, a fixed depth as the step.
        trackio: Write them for trackio, by this project.
    """

    env: str = ""
    policy: str = ""
    lerobot: str = ""
    out: Path
    env_kwargs: str = "{}"
    files: tuple[Path, ...] = ()
    depths: tuple[int, ...] = ()
    thresholds: int = 6
    episodes: int = 50
    validation: int = 20
    seed: int = 0
    latency: int = 0
    mode: Literal["hold", "continue"] = "hold"
    hold: Literal["zero", "last"] = "zero"
    success: str = ""
    stop: Literal["success", "end"] = "success"
    max_steps: int = 10_000
    price: float = 0.0
    batch: int = 1
    jobs: int = 1
    wandb: str = ""
    trackio: str = ""

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            object.__setattr__(self, name, checks.integer(name, getattr(self, name), least))
        depths = tuple(sorted({checks.integer("depths", each, 1) for each in self.depths}))
        object.__setattr__(self, "depths", depths)
        for name, choices in (("mode", ("hold", "continue")), ("hold", ("zero", "last")), ("stop", ("success", "end"))):
            checks.choice(name, getattr(self, name), choices)
        object.__setattr__(self, "price", checks.number("price", self.price, 0.0))
        if self.thresholds > MOST_THRESHOLDS:
            raise ValueError(f"thresholds: expected 0..{MOST_THRESHOLDS}, got {self.thresholds}")
        if max(self.episodes, self.validation) > APART or self.seed + APART + self.validation > MOST_SEED:
            raise ValueError(f"seed: expected seeds of all episodes below {MOST_SEED:,}, got {self.seed} as the first")
        object.__setattr__(self, "env_kwargs", _one_spelling(self.env_kwargs))
        if self.lerobot:
            for name, program in (("env", "environment"), ("policy", "saved")):
                own, given = f"recommit.adapters.lerobot:{program}", getattr(self, name)
                if given not in ("", own):
                    raise ValueError(f"{name}: expected none beside lerobot, which has its own, got {given}")
                object.__setattr__(self, name, own)
            folder = (Path(self.lerobot),) if Path(self.lerobot).is_dir() else ()
            if not folder and not re.fullmatch(r"[\w.-]+/[\w.-]+", self.lerobot):
                raise ValueError(f"lerobot: expected a folder, or OWNER/NAME on the hub, found no {self.lerobot}")
            object.__setattr__(self, "files", self.files or folder)

    def arguments(self) -> dict[str, Any]:
        """Arguments of the environment; for LeRobot, those of the policy too."""
        arguments: dict[str, Any] = json.loads(self.env_kwargs)
        return {"path": self.lerobot, "batch": self.batch, **arguments} if self.lerobot else arguments

    @property
    def lead(self) -> int:
        """Number of actions left in a queue at which the next chunk is requested."""
        return self.latency if self.mode == "continue" else 0

    @property
    def seeds(self) -> dict[str, list[int]]:
        """Seeds of the validation and of the test episodes."""
        first = {"validation": (self.seed + APART, self.validation), "test": (self.seed, self.episodes)}
        return {name: list(range(begin, begin + count)) for name, (begin, count) in first.items()}
