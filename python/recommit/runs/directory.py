"""The run directory: configuration, versions, logs and results of a run.

config.json      the whole configuration          versions.json   of everything that computes
metrics.jsonl    one line per logged step         timing.jsonl    what depends on the machine
init/            the policy that it started from, where it started from one
backbone/        a backbone of random weights, where it made one
checkpoints/     see ``recommit.runs.checkpoints``
best.json        names the best checkpoint so far
tensorboard/     the same figures as curves
DIGESTS          of what does not change any more, of a finished run all of it, see ``recommit.storage.verified``
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.data.spec import DataSpec, set_names
from recommit.policy import pretrained
from recommit.runs.checkpoints import Checkpoints
from recommit.storage import errors, files, ownership, verified
from recommit.storage.lock import Lock
from recommit.storage.terminal_text import say
from recommit.version import version_of

if TYPE_CHECKING:
    from typing_extensions import Self

PACKAGES = ("recommit", "numpy", "torch", "transformers", "peft", "safetensors", "deepspeed", "pyarrow")


#: Files with digests in a started, and in a finished run; ``timing.jsonl`` and curves depend on the machine.
LOGS = ("metrics.jsonl",)
BEGUN = ("config.json", "versions.json")
SEALED = (*BEGUN, "best.json", *LOGS)
#: Folders that a run may write to.
FOLDERS = ("checkpoints", "tensorboard", "wandb")
#: Entries that identify a run's folder.
MARKS = ("config.json", "versions.json", *FOLDERS)
#: Fields of ``EngineConfig`` that do not affect results.
PLACEMENT = ("kind", "stage", "offload", "checkpointing")
#: Fields of ``RunConfig`` that only affect reporting.
WATCHING = ("tensorboard",)


class RunDirectory:
    """Opens or creates a run's folder and locks it against a second run. Only the main process writes."""

    def __init__(self, folder: str | Path, *, is_main_process: bool = True) -> None:
        self.folder, self.is_main_process = Path(folder).absolute(), is_main_process
        self.checkpoints = Checkpoints(self.folder / "checkpoints")
        self._lock: Lock | None = None

    def __enter__(self) -> Self:
        if not self.is_main_process:
            return self
        disk = files.Files()
        ownership.refuse_foreign(self.folder, MARKS, "a training run")
        files.make_folders(disk, self.folder)
        self._lock = Lock(self.folder, work="training run")
        self._lock.__enter__()
        try:
            for name in FOLDERS:
                files.own_folder(self.folder / name)
            files.sweep(disk, self.folder)
            files.sweep(disk, self.checkpoints.folder)
            if not any(os.path.lexists(self.folder / name) for name in MARKS):
                self.write("versions.json", versions())  # marks the folder as ours, even if this start fails
        except BaseException:
            self._lock.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.__exit__()

    def begin(self, config: dict[str, Any]) -> None:
        """Record the configuration; a run with a checkpoint refuses a different one."""
        if not self.is_main_process:
            return
        before, now = self.read("config.json"), json.loads(json.dumps(config))
        if before is not None:
            self._go_on(lasting(before), lasting(now))
        verified.verify(self.folder, LOGS)
        if verified.digests(self.folder):
            verified.write_digests(files.Files(), self.folder, {})
        self.write("config.json", now)
        self.write("versions.json", versions())
        self._seal(BEGUN)  # it names the data of a resumed run

    def _go_on(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        """Refuse a different configuration, unless nothing was trained with the previous one."""
        if not ownership.differences(before, now):
            return
        if self.checkpoints.any() or "kind" not in before:
            ownership.check(self.folder, before, now)
        say(f"{self.folder}: nothing was trained here yet; the configuration of the earlier start is replaced")
        if "init" not in now and (self.folder / "backbone").is_dir():  # created by the earlier configuration
            files.Files().remove_folder(self.folder / "backbone")

    def seal(self) -> None:
        """Write the digests of a finished run; ``begin`` checks and removes them. Raises if the best policy is
        missing."""
        if not self.is_main_process:
            return
        if not (best := best_policy(self.folder)).is_dir():
            raise errors.Damaged(f"{best}: expected the best policy of the run, got none: it was removed")
        self._seal(SEALED)

    def _seal(self, names: tuple[str, ...]) -> None:
        verified.seal(files.Files(), self.folder, [name for name in names if (self.folder / name).is_file()])

    def log_digests(self) -> dict[str, str]:
        """Digests of the logs, recorded in checkpoints."""
        return {name: files.file_sha256(self.folder / name) for name in LOGS}

    def check_logs(self, digests_by_name: dict[str, str], checkpoint: Path) -> None:
        """Refuse logs, already truncated to the checkpoint's length, that differ from its digests."""
        for name in LOGS:
            if self.is_main_process and files.file_sha256(self.folder / name) != digests_by_name.get(name):
                raise errors.Damaged(
                    f"{self.folder / name}: expected the lines that {checkpoint.name} was saved with, got others; "
                    f"without {checkpoint} the run goes on from the checkpoint before"
                )

    def read(self, name: str) -> Any:
        """Read a JSON file of the run; None if missing."""
        return verified.values(self.folder, name) if verified.exists(self.folder, name) else None

    def write(self, name: str, value: Any) -> None:
        """Atomically replace a JSON file of the run, unless unchanged."""
        data = (json.dumps(value, indent=2) + "\n").encode()
        if self.is_main_process:
            files.keep(files.Files(), self.folder / name, data)


def versions() -> dict[str, Any]:
    """Versions of Python, the platform and all packages that can affect results; None for missing ones."""
    about = {"python": platform.python_version(), "platform": platform.platform()}
    return {**about, **{name: version_of(name) for name in PACKAGES}}


def lasting(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration without fields that may change on resume: ranks, ZeRO sharding, reporting."""
    kept = {name: value for name, value in config.items() if name != "ranks"}
    for section, left_out in (("engine", PLACEMENT), ("run", WATCHING)):
        kept[section] = {name: each for name, each in (config.get(section) or {}).items() if name not in left_out}
    return kept


def best_policy(folder: str | Path) -> Path:
    """The best policy of a run so far."""
    if not verified.exists(Path(folder), "best.json"):
        raise ValueError(f"{folder}: expected a run with a checkpoint, got none")
    return verified.inside(Path(folder), verified.values(Path(folder), "best.json", {"policy": str})["policy"])


def recipe_of(run: str | Path, task: str = "") -> DataSpec:
    """The data spec of a run; with several data sets that of ``task``, a puzzle with or without its size."""
    recipes = recipes_of(run)
    chosen = of_tasks(recipes, (task,)) if task else recipes
    if len(chosen) != 1:
        raise ValueError(f"task: expected one of {', '.join(set_names(recipes))} for {run}, got {task or 'none'}")
    return chosen[0]


def of_tasks(specs: list[DataSpec], tasks: tuple[str, ...]) -> list[DataSpec]:
    """The specs of the named puzzles, with or without sizes."""
    return [spec for spec, name in zip(specs, set_names(specs), strict=True) if {spec.task, name} & set(tasks)]


def recipes_of(run: str | Path) -> list[DataSpec]:
    """The specs of a run's data sets, also for a packaged policy."""
    run = pretrained.find(run)
    if not Path(run).is_dir():
        raise pretrained.unknown(run, "a training run")
    there = verified.exists(Path(run), "config.json")
    content = verified.values(Path(run), "config.json").get("data", {}) if there else {}
    every = content if isinstance(content, list) else [content]
    if not all(isinstance(each, dict) and "recipe" in each for each in every):
        raise ValueError(f"run: expected the folder of a training run, whose data say what to play, got {run}")
    return [DataSpec.from_dict(each["recipe"]) for each in every]
