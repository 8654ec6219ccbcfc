"""Training runs as values, and a family of them: every variant with every seed, each skipped when it is finished."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.policy import pretrained
from recommit.rollout.variants import variant
from recommit.runs import parallel
from recommit.runs.checkpoints import Checkpoints
from recommit.runs.directory import lasting
from recommit.runs.progress import named
from recommit.storage import files, ownership, recipe_text, verified
from recommit.storage.recipe_text import brief
from recommit.train.config import load, mapping, plain, section
from recommit.train.grpo.config import GrpoConfig

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recommit.train.config import SftConfig

#: Names the best policy; see ``recommit.runs.directory``.
BEST = "best.json"
#: Runs name folders.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
#: Between a variant's name and the decisions of its training episodes, where these are not the recipe's.
BUDGET = "-k"


@dataclass(frozen=True)
class Run:
    """One warm start from data sets, or one GRPO run from a warm start."""

    verb: Literal["sft", "grpo"]
    config: SftConfig | GrpoConfig
    #: Data sets, or the run (or saved policy) to start from.
    source: str | Path | tuple[str | Path, ...]
    folder: Path
    #: Whose recipes make the instances, where the warm start has learned several puzzles.
    data: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """That of its folder."""
        return self.folder.name

    @property
    def flags(self) -> list[str]:
        """Flags of ``recommit train``, but for the recipe."""
        words = ["--data" if self.verb == "sft" else "--init", *map(str, self.sources), "--out", str(self.folder)]
        words += ["--data", *map(str, self.data)] if self.data else []
        return words

    @property
    def sources(self) -> tuple[Path, ...]:
        """``source``, one or several."""
        return tuple(map(Path, self.source if isinstance(self.source, tuple) else (self.source,)))

    @property
    def step(self) -> int:
        """Step of its newest whole checkpoint; 0 if there is none."""
        newest = Checkpoints(self.folder / "checkpoints").newest(lambda _text: None) if self.folder.is_dir() else None
        return 0 if newest is None else newest.step

    @property
    def finished(self) -> bool:
        """Has it taken all its steps, kept the last one whole, and written what follows from that?"""
        return self.step >= self.config.optim.steps and self._settled

    @property
    def _settled(self) -> bool:
        """Is the best policy named, everything sealed, and no checkpoint left that should have gone? A run that died
        after its last checkpoint, or while it was begun again, goes on to that."""
        if not os.path.lexists(self.folder / verified.DIGESTS) or BEST not in verified.digests(self.folder):
            return False
        best = verified.values(self.folder, BEST, {"step": int})["step"]
        return not Checkpoints(self.folder / "checkpoints").surplus(self.config.run.keep, {best})

    @property
    def state(self) -> str:
        """In words; unlike ``finished`` it does not read checkpoints to see that they are whole."""
        sealed = sorted(self.folder.glob(f"checkpoints/step-*/{verified.DIGESTS}"))
        step = int(sealed[-1].parent.name.removeprefix("step-")) if sealed else 0
        if step >= self.config.optim.steps and (self.folder / BEST).is_file():
            return "finished"
        return f"can go on after step {step}" if step else "missing"

    def recipe(self) -> bytes:
        """The whole configuration as a recipe file."""
        import yaml

        return str(yaml.safe_dump({self.verb: json.loads(json.dumps(plain(self.config)))}, sort_keys=False)).encode()

    def skipped(self) -> bool:
        """Is it finished? With another configuration or from another start it is refused, not mixed in."""
        if not self.finished:
            return False
        begun = verified.values(self.folder, "config.json")
        now = json.loads(json.dumps(plain(self.config)))
        ownership.check(self.folder, lasting({name: begun.get(name) for name in now}), lasting(now))
        if all((pretrained.find(source) if self.verb == "grpo" else source).is_dir() for source in self.sources):
            ownership.check(self.folder, *self._starts(begun))
        return True

    def _starts(self, begun: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the finished run started from, and what its sources hold now, by content."""
        if self.verb == "grpo":
            return {"init": begun["init"]}, {"init": _weights(self.sources[0])}
        from recommit.train.sft.trainer import described, opened

        return {"data": _contents(begun["data"])}, {"data": _contents(described(opened(self.sources)))}

    def train(self, quiet: bool) -> int:
        """Run, or go on with it, in this process."""
        from recommit.train import grpo, sft

        with named(self.name):
            if self.verb == "sft":
                return sft.train(self.config, self.sources, self.folder, quiet=quiet)  # type: ignore[arg-type]
            start = self.sources[0]
            return grpo.train(self.config, start, self.folder, data=self.data or None, quiet=quiet)  # type: ignore[arg-type]


def family_configs(
    recipe: str, names: Sequence[str], changes: Sequence[str], flags: dict[str, Any]
) -> dict[str, GrpoConfig]:
    """The configuration of each run: the stage grpo of a recipe, what its stage family says of fixed depths or of a run
    of this name, ``flags`` that are not None, and ``changes``, of which those of ``family.NAME`` change that stage. A
    run that is not called like its variant has it among its values."""
    of_family = section(recipe, "family")
    special = {name: dict(mapping(values, f"family.{name}")) for name, values in of_family.items()}
    for change in changes:
        path, _, text = change.partition("=")
        if path.startswith("family."):
            _, name, *field = path.strip().split(".", 2)
            if not field:
                raise ValueError(f"set: expected family.NAME.FIELD=VALUE, got {change!r}")
            special.setdefault(name, {})[field[0]] = recipe_text.read(text)
    changes = [change for change in changes if not change.startswith("family.")]
    own = {name: {"variant": name, **special.get(name, {})} for name in names}
    fixed = {name: special.get("fixed", {}) if variant(values["variant"]).depth else {} for name, values in own.items()}
    flags = {name: value for name, value in flags.items() if value is not None}
    values = {name: {**fixed[name], **own[name], **flags} for name in names}
    return {name: load(recipe, changes, GrpoConfig, "grpo", values=values[name]) for name in names}


def member(out: str | Path, name: str, seed: int) -> Path:
    """Where a run of the family lies: ``name`` is its variant, or also its training budget, as in ``adaptive-k5``. A
    recipe may give runs names of its own, and a stranger's would lead elsewhere."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"variants: expected names of letters, digits, dots and dashes, got {brief(name)}")
    return Path(out) / f"{name}-s{seed}"


def members(
    configs: dict[str, GrpoConfig],
    init: str | Path | Mapping[int, str | Path],
    out: str | Path,
    seeds: tuple[int, ...],
    once: Collection[str] = (),
    data: tuple[Path, ...] = (),
) -> list[Run]:
    """All runs, in order. ``init`` is a warm start, or one per seed; ``data`` says which puzzle, where it has
    several. ``configs`` has one configuration per name (see ``member``), usually that of its variant; those of
    ``once`` come last, with the first seed alone."""
    order = [(seed, name) for seed in seeds for name in configs if name not in once]
    order += [(seed, name) for seed in seeds[:1] for name in configs if name in once]
    starts = init if isinstance(init, Mapping) else dict.fromkeys(seeds, init)
    return [
        Run("grpo", seeded(configs[name], seed), starts[seed], member(out, name, seed), data) for seed, name in order
    ]


def seeded(config: GrpoConfig, seed: int) -> GrpoConfig:
    """The same with another seed."""
    return replace(config, run=replace(config.run, seed=seed))


def refuse_foreign(out: Path, runs: Sequence[Run]) -> None:
    """A family may lie beside its data and its warm start, and nowhere among somebody's files. The folder of a run that
    died at once has nothing but its name."""
    entries = list(out.iterdir()) if out.is_dir() else []
    ours = [each.name for each in entries if any((each / mark).exists() for mark in ("config.json", "manifest.json"))]
    ownership.refuse_foreign(out, (*ours, *(run.name for run in runs), "launch"), "a family of runs")


def train(runs: Sequence[Run], *, jobs: int = 1, quiet: bool = False) -> int:
    """Train what is missing in processes of this machine, ``jobs`` at a time; 0 when all are finished."""
    for run in runs:
        files.own_folder(run.folder)
    missing = [run for run in runs if not run.skipped()]
    if jobs == 1 or len(missing) < 2:
        return next((status for run in missing if (status := run.train(quiet))), 0)
    return parallel.run_parallel(Run.train, [(run, quiet) for run in missing], jobs)


def _contents(data: Any) -> list[str]:
    """Content hashes in what a configuration says of its data."""
    return [each["content_sha256"] for each in (data if isinstance(data, list) else [data])]


def _weights(init: str | Path) -> str:
    from recommit.policy.checkpoint import local_folder, weights_of

    return weights_of(local_folder(init))
