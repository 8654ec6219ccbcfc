"""Flags of ``recommit train``: a dataclass per verb. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from recommit.train.config import SftConfig
    from recommit.train.grpo.config import GrpoConfig


@dataclass(frozen=True)
class TrainOptions:
    """Flags of every run.

    Args:
        recipe: quick-sliding, laptop-sliding, laptop-sokoban, laptop-joint, laptop-ice, boxoban, qwen7b-sliding,
            qwen7b-sokoban, paper-sliding, paper-sokoban, paper-joint, or a YAML file.
        out: The folder of the run; not needed with show.
        set: Any value of the recipe, for example --set optim.lr=3e-4 model.shape.width=192, or for GRPO
            advantage.estimator=episode prices.observation=0.02 (price of an observation, in solved episodes).
        steps: Optimizer steps; for GRPO, steps of rollout and update (default: those of the recipe).
        seed: Random seed (default: that of the recipe).
        threads: Torch threads; 0: one for a small network on a CPU, torch's default for others (default: those of the
            recipe).
        device: cpu, cuda, or auto (default: that of the recipe).
        zero: Train with DeepSpeed, ZeRO stage 0, 1, 2 or 3, on the ranks that a launcher started (default: no
            DeepSpeed).
        wandb: Send the curves to this project of Weights & Biases.
        trackio: Log the curves to this project of trackio.
    """

    recipe: str
    out: Path | None = None
    set: tuple[str, ...] = ()
    steps: int | None = None
    seed: int | None = None
    threads: int | None = None
    device: str | None = None
    zero: int | None = None
    wandb: str = ""
    trackio: str = ""

    @property
    def trackers(self) -> dict[str, str]:
        """Project per tracker package."""
        return {name: project for name, project in (("wandb", self.wandb), ("trackio", self.trackio)) if project}

    def _changes(self, **own: Any) -> dict[str, Any]:
        """Overrides of the recipe's stage by the flags, by path."""
        values = {
            "optim.steps": self.steps,
            "run.seed": self.seed,
            "run.threads": self.threads,
            "run.device": self.device,
            "engine.kind": None if self.zero is None else "deepspeed",
            "engine.stage": self.zero,
            **own,
        }
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class SftOptions(TrainOptions):
    """Further flags of imitation.

    Args:
        data: A data set (see recommit data build), or several, also of different puzzles: batches mix them; not needed
            with show.
        init: A run to start from (its best policy), or a saved policy, instead of new weights; model of the recipe is
            then ignored.
        backbone: A folder or hub repository (Qwen2.5-VL, Qwen3-VL, others with backbone-class; OWNER/NAME, or
            OWNER/NAME@COMMIT), or random: and a name (tiny, small, 7b), or conv:small or conv:base (default: that of
            the recipe). A run that is resumed, and every use of its policy, needs the same place again.
    """

    data: tuple[Path, ...] = ()
    init: Path | None = None
    backbone: str | None = None

    def config(self) -> SftConfig:
        """The configuration of the run."""
        from recommit.policy.backbones.backbone import GIVEN, refuse_foreign
        from recommit.train.config import load

        refuse_foreign(self.place)
        values = self._changes(**{"model.backbone": GIVEN if self.place else self.backbone})
        return load(self.recipe, self.set, values=values)

    @property
    def place(self) -> str | None:
        """The backbone, if it is one that a recipe may not name."""
        from recommit.train.config import is_named

        return None if self.backbone is None or is_named(self.backbone) else self.backbone


@dataclass(frozen=True, kw_only=True)
class GrpoOptions(TrainOptions):
    """Further flags of GRPO.

    Args:
        init: A run to start from (its best policy), or a saved policy (then with --data); not needed with show.
        variant: adaptive, fixed-1 to fixed-8 (as far as plans go), random or depth-only, with what the recipe says of
            it, or a run that the recipe has a name for, such as paper (default: adaptive).
        task: Which puzzle of a warm start that has several (sliding, or sliding-3x3 with its size); several are
            trained jointly.
        data: Data sets whose recipes make the instances (default: those of the warm start).
        reward: A Python file that defines reward, a function from recommit.train.grpo.reward.Spans to one number each,
            instead of success, progress and prices. It is executed; a resumed run needs it again.
    """

    init: Path | None = None
    variant: str | None = None
    task: tuple[str, ...] = ()
    data: tuple[Path, ...] = ()
    reward: Path | None = None

    def config(self) -> GrpoConfig:
        """The configuration of the run."""
        from recommit.train.config import load
        from recommit.train.grpo.config import GrpoConfig, of_variant

        values = of_variant(self.recipe, self.variant or "")
        values |= self._changes(tasks=list(self.task) or None)
        if self.reward and not self.reward.is_file():
            raise ValueError(f"reward: expected a file of Python, got none by the name {self.reward}")
        return load(self.recipe, self.set, GrpoConfig, "grpo", values=values)


@dataclass(frozen=True)
class WorldModelOptions:
    """Train a world model for a run's policy, from exact labels of training states, and a depth head that uses it.

    Args:
        run: A training run: its best policy, and the data whose training starts are used.
        out: The folder of the policy with the world model, which recommit evaluate RUN --agents adaptive@OUT plays. The
            same command resumes an interrupted one.
        task: Which puzzle of a run that has several: a world model is of one puzzle and size.
        augmentations: Symmetry augmentations of every picture, over which the policy averages; 0 for as many as it
            has. Not for sliding.
        depths: Depths that the head chooses from, such as 2 4 6 8 (default: those of the policy).
        unsure: Judge a depth only where the plan up to it has a probability between these, such as 0.1 0.7; where it is
            likelier, commit to it or to a deeper one, where it is less likely, to a shallower one.
        steps: Steps of 256 states.
        starts: Training starts; states are drawn on and near their optimal paths.
        seed: Seed of weights and states.
    """

    run: Path
    out: Path
    task: str = ""
    augmentations: Literal[0, 1, 2, 4, 8] = 0
    depths: tuple[int, ...] = ()
    unsure: tuple[float, float] = (0.0, 1.0)
    steps: int = 8000
    starts: int = 20_000
    seed: int = 0


@dataclass(frozen=True)
class HeadOptions:
    """Train a depth head for all prices and budgets on the plans of a commitment graph, without a simulator.

    Args:
        graph: A folder that recommit graph build wrote, from training starts. A quarter of their groups chooses the
            best of the updates.
        out: The folder of a policy with the head, which recommit evaluate RUN --agents adaptive@OUT --price-action 0.01
            --price-observation 0.02 plays for these prices.
        policy: The policy that recommit train world-model wrote, whose plans the graph has.
        features: Inputs of the head: the plan's confidence per action, the world model's predictions, prices and
            observations left; or also z of the observation, for which the graph needs --features.
        updates: Number of updates, each under newly drawn prices.
        budget: Budgets in observations, spread evenly over the episodes (default: those of the puzzle).
        seed: Seed of weights, prices and draws, and of the held-out starts.
    """

    graph: Path
    out: Path
    policy: Path
    features: Literal["conditioned", "z+conditioned"] = "conditioned"
    updates: int = 80
    budget: tuple[int, ...] = ()
    seed: int = 0
