"""What ``recommit train`` is asked for: a dataclass per verb. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.runs.launch import LaunchOptions

if TYPE_CHECKING:
    from recommit.prices import Prices
    from recommit.runs.jobs import Job
    from recommit.train.config import SftConfig
    from recommit.train.grpo.config import GrpoConfig

VARIANTS = ("adaptive", "fixed-1", "fixed-2", "fixed-4", "fixed-8", "random", "depth-only")


@dataclass(frozen=True)
class TrainOptions:
    """What every run takes.

    Args:
        recipe: quick-sliding, laptop-sliding, laptop-sokoban, laptop-joint, laptop-ice, boxoban, qwen7b-sliding,
            qwen7b-sokoban, paper-sliding, paper-sokoban, paper-joint, or a YAML file.
        out: The folder of the run; not needed with show.
        set: Any value of the recipe, for example --set optim.lr=3e-4 model.shape.width=192, or of GRPO
            advantage.estimator=episode prices.observation=0.02 (what an observation costs, in solved episodes).
        steps: Steps of the optimizer; of GRPO, rounds of rollout and update (default: those of the recipe).
        seed: Other seeds, other runs (default: that of the recipe).
        threads: Threads of torch; 0 for as many as it likes (default: those of the recipe).
        device: cpu, cuda, or auto (default: that of the recipe).
        profile: Watch so many steps with torch's profiler, after the first three: a trace for the browser in
            OUT/profile, and a table of operators (default: none).
        zero: Train with DeepSpeed, ZeRO stage 0, 1, 2 or 3, on the ranks that a launcher started (default: no
            DeepSpeed).
        anyway: Train on data of puzzles that the recipe was not made for.
        wandb: Send the curves to this project of Weights & Biases.
        trackio: Write them for trackio, by this project.
    """

    recipe: str
    out: Path | None = None
    set: tuple[str, ...] = ()
    steps: int | None = None
    seed: int | None = None
    threads: int | None = None
    device: str | None = None
    profile: int | None = None
    zero: int | None = None
    anyway: bool = False
    wandb: str = ""
    trackio: str = ""

    @property
    def trackers(self) -> dict[str, str]:
        """By package, the project that the curves go to."""
        return {name: project for name, project in (("wandb", self.wandb), ("trackio", self.trackio)) if project}

    @property
    def tasks(self) -> tuple[str, ...]:
        """The puzzles that may be trained on; any if there are none."""
        from recommit.train.config import tasks

        return () if self.anyway else tasks(self.recipe)

    def _changes(self, **own: Any) -> dict[str, Any]:
        """What the flags change in a stage of the recipe, by path."""
        values = {
            "optim.steps": self.steps,
            "run.seed": self.seed,
            "run.threads": self.threads,
            "run.device": self.device,
            "run.profile": self.profile,
            "engine.kind": None if self.zero is None else "deepspeed",
            "engine.stage": self.zero,
            **own,
        }
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class SftOptions(TrainOptions):
    """What imitation takes besides.

    Args:
        data: A data set (see recommit data build), or several, also of different puzzles: batches mix them; not needed
            with show.
        init: A run to go on from (its best policy), or a saved policy, instead of new weights; model of the recipe does
            not count.
        batch: States per step (default: those of the recipe).
        backbone: A folder or hub repository (Qwen2.5-VL, Qwen3-VL, InternVL3; OWNER/NAME, or OWNER/NAME@COMMIT), or
            random: and a name (tiny, small, 7b), or conv:small or conv:base (default: that of the recipe). A run that
            is resumed, and whatever plays its policy, needs the same place again.
        single_commitment: Imitate samples of this depth alone (default: all depths of the recipe or, where it names
            none, of the policy to go on from).
    """

    data: tuple[Path, ...] = ()
    init: Path | None = None
    batch: int | None = None
    backbone: str | None = None
    single_commitment: int | None = None

    def config(self) -> SftConfig:
        """That of the run."""
        from recommit.policy.backbones.backbone import GIVEN
        from recommit.train.config import load

        values = self._changes(
            **{
                "optim.batch": self.batch,
                "model.backbone": GIVEN if self.place else self.backbone,
                "targets.depths": None if self.single_commitment is None else [self.single_commitment],
            }
        )
        config: SftConfig = load(self.recipe, self.set, values=values)
        return config

    @property
    def place(self) -> str | None:
        """The backbone, where no recipe could name it."""
        from recommit.train.config import is_named

        return None if self.backbone is None or is_named(self.backbone) else self.backbone


@dataclass(frozen=True, kw_only=True)
class GrpoOptions(TrainOptions):
    """What GRPO takes besides.

    Args:
        init: A run to start from (its best policy), or a saved policy (then with --data); not needed with show.
        variant: adaptive, fixed-1 to fixed-8 (as far as plans go), random or depth-only, with what the recipe says of
            it, or a run that the recipe has a name for, such as paper (default: adaptive).
        task: Which puzzle of a warm start that has several (sliding, or sliding-3x3 with its size); several are
            trained jointly.
        data: Data sets whose recipes make the instances (default: those of the warm start).
        budget: Decisions per training episode (default: that of the recipe).
        reward: A file of Python that defines reward, a function from recommit.train.grpo.reward.Spans to a number for
            each, instead of success, progress and prices. It is run; a run that is resumed needs it again.
    """

    init: Path | None = None
    variant: str | None = None
    task: tuple[str, ...] = ()
    data: tuple[Path, ...] = ()
    budget: int | None = None
    reward: Path | None = None

    def config(self) -> GrpoConfig:
        """That of the run."""
        from recommit.train.config import load
        from recommit.train.grpo.config import GrpoConfig, of_variant

        values = of_variant(self.recipe, self.variant or "")
        values |= self._changes(**{"tasks": list(self.task) or None, "rollout.budget": self.budget})
        if self.reward and not self.reward.is_file():
            raise ValueError(f"reward: expected a file of Python, got none by the name {self.reward}")
        config: GrpoConfig = load(self.recipe, self.set, GrpoConfig, "grpo", values=values)
        return config


@dataclass(frozen=True)
class FamilyOptions(LaunchOptions):
    """Which variants are trained by GRPO from one warm start, with which seeds, and where.

    Args:
        recipe: A recipe with a stage grpo; its stage family says what kinds of variants change, and names other runs.
        init: A run to start from (its best policy).
        out: The folder of the family; runs are called VARIANT-sSEED, with budgets VARIANT-kBUDGET-sSEED.
        variants: adaptive, fixed-1 to fixed-8, random, depth-only, and runs that the recipe names (paper).
        seeds: Seeds of the runs.
        budgets: Decisions per training episode, each a run of its own (default: that of the recipe).
        task: Which puzzle of a warm start that has several; several are trained jointly.
        set: Any value of the stage grpo, for all variants.
        steps: Rounds of rollout and update (default: those of the recipe).
        threads: Threads of torch; 0 for as many as it likes (default: those of the recipe).
        reward: A file of Python with the reward of all runs; see recommit train grpo.
    """

    recipe: str
    init: Path
    out: Path
    variants: tuple[str, ...] = VARIANTS
    seeds: tuple[int, ...] = (0,)
    budgets: tuple[int, ...] = ()
    task: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    steps: int | None = None
    threads: int | None = None
    reward: Path | None = None

    def jobs_of_family(self) -> list[Job]:
        """The command of every run, in order."""
        from recommit.train import families

        return families.jobs(self)


@dataclass(frozen=True)
class WorldModelOptions:
    """Train a world model of a run's policy, and a depth head that goes by it: by exact labels of training states.

    Args:
        run: A training run: its best policy, and the data whose training starts are used.
        out: The folder of the policy with the world model, which recommit evaluate RUN --agents adaptive@OUT plays. The
            same command goes on where it was interrupted.
        task: Which puzzle of a run that has several: a world model is of one puzzle and size.
        augmentations: Symmetry augmentations of every picture, over which the policy averages; 0 for as many as it
            has. Not for sliding.
        steps: Steps of 256 states.
        starts: Training starts on whose optimal ways, and beside them, states are drawn.
        seed: Of weights and states.
        threads: Threads of torch; 0 for as many as it likes.
    """

    run: Path
    out: Path
    task: str = ""
    augmentations: Literal[0, 1, 2, 4, 8] = 0
    steps: int = 8000
    starts: int = 20_000
    seed: int = 0
    threads: int = 1


@dataclass(frozen=True)
class HeadOptions:
    """Train a depth head for all prices and budgets on the plans of a commitment graph, without a simulator.

    Args:
        graph: A folder that recommit graph build wrote, from training starts.
        out: The folder of a policy with the head, which recommit evaluate RUN --agents adaptive@OUT --price-action 0.01
            --price-observation 0.02 plays for these prices.
        policy: The policy that recommit train world-model wrote, whose plans the graph has.
        features: What the head reads: how sure the plan is of each action, what the world model expects of it, prices
            and observations left; or z of the observation besides, for which the graph needs --features.
        updates: Updates; 80 if neither they nor cpu-seconds are given.
        cpu_seconds: Processor time of the updates instead, or at most.
        hidden: Width of the hidden layer.
        depths: Depths to choose from (default: those of the policy's own head).
        budget: Numbers of observations, of equal parts of the episodes (default: those of the puzzle).
        price_action: What an action costs; reaching the goal is worth 1. The head learns under many prices, and plays
            for these.
        price_observation: What an observation costs.
        one_price: Learn under these two prices alone, to compare.
        held: Share of the starts' groups that no update sees: the best check is chosen there.
        seed: Of weights, prices and draws, and of which starts are held out.
        threads: Threads of torch; 0 for as many as it likes.
    """

    graph: Path
    out: Path
    policy: Path
    features: Literal["conditioned", "z+conditioned"] = "conditioned"
    updates: int = 0
    cpu_seconds: float = 0.0
    hidden: int = 64
    depths: tuple[int, ...] = ()
    budget: tuple[int, ...] = ()
    price_action: float = 0.01
    price_observation: float = 0.01
    one_price: bool = False
    held: float = 0.25
    seed: int = 0
    threads: int = 1

    @property
    def prices(self) -> Prices:
        """Of an action and of an observation."""
        from recommit.prices import Prices

        return Prices(self.price_action, self.price_observation)
