"""What ``recommit train`` is asked for: a dataclass per verb. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.train.family.launch import Launcher

if TYPE_CHECKING:
    from recommit.train.config import SftConfig
    from recommit.train.family.launch import Fleet
    from recommit.train.family.runs import Run
    from recommit.train.grpo.config import GrpoConfig

VARIANTS = ("adaptive", "fixed-1", "fixed-2", "fixed-4", "fixed-8", "random", "depth-only")


@dataclass(frozen=True)
class TrainOptions:
    """What every run takes.

    Args:
        recipe: quick-sliding, laptop-sliding, laptop-sokoban, laptop-joint, laptop-ice, qwen7b-sliding, qwen7b-sokoban,
            paper-sliding, paper-sokoban, paper-joint, or a YAML file.
        out: The folder of the run.
        set: Any value of the recipe, for example --set optim.lr=3e-4 model.shape.width=192, or of GRPO
            advantage.estimator=episode prices.observation=0.02 (what an observation costs, in solved episodes).
        steps: Steps of the optimizer; of GRPO, rounds of rollout and update (default: those of the recipe).
        seed: Other seeds, other runs (default: that of the recipe).
        threads: Threads of torch; 0 for as many as it likes (default: those of the recipe).
        device: cpu, cuda, or auto (default: that of the recipe).
        zero: Train with DeepSpeed, ZeRO stage 0, 1, 2 or 3, on the ranks that a launcher started (default: no
            DeepSpeed).
        deepspeed: The same by a configuration file: zero1, zero2, zero3, these with -offload, or a JSON file of
            DeepSpeed.
        vision_cache: A folder that keeps the features of a frozen vision encoder for other runs.
        anyway: Train on data of puzzles that the recipe was not made for.
    """

    recipe: str
    out: Path
    set: tuple[str, ...] = ()
    steps: int | None = None
    seed: int | None = None
    threads: int | None = None
    device: str | None = None
    zero: int | None = None
    deepspeed: str | None = None
    vision_cache: Path | None = None
    anyway: bool = False

    def __post_init__(self) -> None:
        if self.zero is not None and self.deepspeed is not None:
            raise ValueError(
                "deepspeed: expected one of --zero and --deepspeed, "
                f"got --zero {self.zero} --deepspeed {self.deepspeed}"
            )

    @property
    def tasks(self) -> tuple[str, ...]:
        """The puzzles that may be trained on; any if there are none."""
        from recommit.train.recipe import tasks

        return () if self.anyway else tasks(self.recipe)

    def _config(self, cls: type[Any], stage: str, own: dict[str, Any]) -> Any:
        """The stage of the recipe with what the flags change."""
        from recommit.train.config import changed

        common = {
            "optim.steps": self.steps,
            "run.seed": self.seed,
            "run.threads": self.threads,
            "run.device": self.device,
            "run.vision_cache": None if self.vision_cache is None else str(self.vision_cache.absolute()),
        }
        values = {name: value for name, value in {**common, **own}.items() if value is not None}
        return changed(self.recipe, {**values, **self._engine()}, self.set, cls, stage)

    def _engine(self) -> dict[str, Any]:
        if self.deepspeed is not None:
            from recommit.train.engine.deepspeed_config import changes

            return changes(self.deepspeed)
        return {} if self.zero is None else {"engine.kind": "deepspeed", "engine.stage": self.zero}


@dataclass(frozen=True, kw_only=True)
class SftOptions(TrainOptions):
    """What imitation takes besides.

    Args:
        data: A data set (see recommit data build), or several, also of different puzzles: batches mix them.
        init: A run to go on from (its best policy), or a saved policy, instead of new weights; model of the recipe does
            not count.
        batch: States per step (default: those of the recipe).
        backbone: A folder or hub repository (Qwen2.5-VL, Qwen3-VL, InternVL3), or random: and a name (tiny, small,
            7b) (default: that of the recipe).
        single_commitment: Imitate samples of this depth alone (default: all depths of the recipe).
    """

    data: tuple[Path, ...]
    init: Path | None = None
    batch: int | None = None
    backbone: str | None = None
    single_commitment: int | None = None

    def config(self) -> SftConfig:
        """That of the run."""
        from recommit.train.config import SftConfig

        own = {
            "optim.batch": self.batch,
            "model.backbone": self.backbone,
            "targets.depths": None if self.single_commitment is None else [self.single_commitment],
        }
        config: SftConfig = self._config(SftConfig, "sft", own)
        return config


@dataclass(frozen=True, kw_only=True)
class GrpoOptions(TrainOptions):
    """What GRPO takes besides.

    Args:
        init: A run to start from (its best policy), or a saved policy (then with --data).
        variant: adaptive, fixed-1 to fixed-8, random or depth-only (default: adaptive).
        task: Which puzzle of a warm start that has several (sliding, or sliding-3x3 with its size); several are
            trained jointly.
        data: Data sets whose recipes make the instances (default: those of the warm start).
        budget: Decisions per training episode (default: that of the recipe).
    """

    init: Path
    variant: str | None = None
    task: tuple[str, ...] = ()
    data: tuple[Path, ...] = ()
    budget: int | None = None

    def config(self) -> GrpoConfig:
        """That of the run."""
        from recommit.train.grpo.config import GrpoConfig

        own = {
            "variant": self.variant,
            "tasks": list(self.task) or None,
            "rollout.budget": self.budget,
        }
        config: GrpoConfig = self._config(GrpoConfig, "grpo", own)
        return config


@dataclass(frozen=True)
class FamilyOptions:
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
        jobs: Runs at a time, in processes of this machine.
        gpus: Launch every run as processes of its own, a rank for each of so many GPUs (of every machine) (default:
            runs in this machine's processes).
        gpus_per_run: So many for each run, several of which then go on side by side (default: all of them).
        hostfile: Machines that this one reaches by pdsh and ssh, as DeepSpeed's launcher reads them (default: this one
            alone).
        launcher: deepspeed, torchrun, or srun in a SLURM job.
        device: cpu, cuda, or auto (default: that of the recipe).
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
    jobs: int = 1
    gpus: int | None = None
    gpus_per_run: int | None = None
    hostfile: Path | None = None
    launcher: Launcher = "deepspeed"
    device: str | None = None

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ValueError(f"jobs: expected at least 1, got {self.jobs}")

    def fleet(self) -> Fleet | None:
        """What launched runs may use; None without ``gpus``."""
        from recommit.train.family import launch

        return launch.requested(self.gpus, self.gpus_per_run, self.hostfile, self.launcher, self.device)

    def runs(self) -> list[Run]:
        """All of them, in order."""
        from recommit.train.family import runs

        flags = {
            "tasks": list(self.task) or None,
            "optim.steps": self.steps,
            "run.threads": self.threads,
            "run.device": self.device,
        }
        configs: dict[str, GrpoConfig] = {}
        for budget in self.budgets or (None,):
            own = runs.family_configs(self.recipe, self.variants, self.set, {**flags, "rollout.budget": budget})
            suffix = "" if budget is None else f"{runs.BUDGET}{budget}"
            configs |= {f"{name}{suffix}": config for name, config in own.items()}
        return runs.members(configs, self.init, self.out, self.seeds)
