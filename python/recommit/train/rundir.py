"""A run directory: what was run, with what, and everything it said; only ever appended to.

config.json      the whole configuration          versions.json   of everything that computes
metrics.jsonl    one line per logged step         timing.jsonl    what depends on the machine
samples.jsonl    a few decisions per validation
checkpoints/     see ``recommit.train.checkpoints``
best.json        names the best checkpoint so far
tensorboard/     the same figures as curves
"""

from __future__ import annotations

import io
import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recommit.data import files
from recommit.data.lock import Lock
from recommit.data.mixture import names
from recommit.data.recipe import Recipe
from recommit.train.checkpoints import Checkpoints

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

PACKAGES = ("recommit", "numpy", "torch", "transformers", "peft", "safetensors", "deepspeed", "pyarrow")


#: Fields of ``EngineConfig`` that decide where numbers lie, not which they are.
PLACEMENT = ("kind", "stage", "offload", "checkpointing", "settings")


class RunDirectory:
    """Opens or makes a run's folder, alone: a second run in the same folder is refused. Only the lead writes."""

    def __init__(self, folder: str | Path, *, lead: bool = True) -> None:
        self.folder, self.lead = Path(folder).absolute(), lead
        self.checkpoints = Checkpoints(self.folder / "checkpoints")
        self._lock: Lock | None = None

    def __enter__(self) -> Self:
        if not self.lead:
            return self
        disk = files.Files()
        files.make_folders(disk, self.folder)
        self._lock = Lock(self.folder, work="training run")
        self._lock.__enter__()
        try:
            files.sweep(disk, self.folder)
            self.checkpoints.sweep()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.__exit__(kind, error, trace)

    def begin(self, config: dict[str, Any], defaults: dict[str, Any] | None = None) -> None:
        """Write down what runs; going on with another configuration is refused. A run that an older version began does not
        say what it did not know of: its values are the ``defaults``."""
        if not self.lead:
            return
        before = self.read("config.json")
        now, usual = json.loads(json.dumps([config, defaults or {}]))
        if before is not None and (changed := differences(_lasting(_completed(before, usual)), _lasting(now))):
            raise ValueError(f"{self.folder}: expected the configuration of its run, got another: {changed}")
        if before != now:
            self.write("config.json", now)
        self.write("versions.json", versions())

    def read(self, name: str) -> Any:
        """A JSON file of the run, None if there is none."""
        path = self.folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def write(self, name: str, value: Any) -> None:
        """Replace a JSON file of the run, whole or not at all."""
        if self.lead:
            files.replace(files.Files(), self.folder / name, (json.dumps(value, indent=2) + "\n").encode())


class Log:
    """One JSON object per line. ``size`` is what a checkpoint notes, ``cut`` what a resumed run goes back to."""

    def __init__(self, path: Path, *, lead: bool = True) -> None:
        self.path, self.lead = path, lead
        self._file: IO[bytes] = path.open("ab") if lead else io.BytesIO()

    def add(self, values: dict[str, Any]) -> None:
        """Append a line."""
        self._file.write((json.dumps(values) + "\n").encode())
        self._file.flush()

    def size(self) -> int:
        """Bytes so far, all of them on the disk when this returns."""
        self._file.flush()
        if self.lead:
            os.fsync(self._file.fileno())
        return self._file.tell()

    def cut(self, size: int) -> None:
        """Forget what was said after a checkpoint that is taken up again."""
        if not self.lead:
            return
        have = self.path.stat().st_size
        if have < size:
            raise ValueError(f"{self.path}: expected at least the {size} bytes of the checkpoint, got {have}")
        self._file.truncate(size)
        self._file.seek(0, os.SEEK_END)

    def close(self) -> None:
        """No more lines."""
        self._file.close()


def versions() -> dict[str, Any]:
    """Of Python, the machine and every package that can change a result."""
    found: dict[str, Any] = {"python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def _lasting(config: dict[str, Any]) -> dict[str, Any]:
    """Without what may change when a run goes on, since it says who computes and not what: ranks, and how ZeRO splits."""
    engine = {name: value for name, value in config.get("engine", {}).items() if name not in PLACEMENT}
    return {**{name: value for name, value in config.items() if name != "ranks"}, "engine": engine}


def _completed(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """With defaults of what it does not say, at any depth."""
    inner = {
        k: _completed(v, defaults[k])
        for k, v in values.items()
        if isinstance(v, dict) and isinstance(defaults.get(k), dict)
    }
    return {**defaults, **values, **inner}


def differences(known: Any, now: Any, name: str = "") -> str:
    """Which fields differ, with both values."""
    if isinstance(known, dict) and isinstance(now, dict):
        keys = sorted(known.keys() | now.keys())
        return ", ".join(filter(None, (differences(known.get(k), now.get(k), f"{name}.{k}".lstrip(".")) for k in keys)))
    return "" if known == now else f"{name} was {known!r}, is {now!r}"


def best_policy(folder: str | Path) -> Path:
    """The best policy of a run so far."""
    pointer = Path(folder) / "best.json"
    if not pointer.is_file():
        raise ValueError(f"{folder}: expected a run with a checkpoint, got none")
    return Path(folder) / str(json.loads(pointer.read_text(encoding="utf-8"))["policy"])


def recipe_of(run: str | Path, task: str = "") -> Recipe:
    """What a run's data were made from; of a run from several data sets those of ``task``, a puzzle with or without its
    size."""
    recipes = recipes_of(run)
    chosen = of_tasks(recipes, (task,)) if task else recipes
    if len(chosen) != 1:
        raise ValueError(f"task: expected one of {', '.join(names(recipes))} for {run}, got {task or 'none'}")
    return chosen[0]


def of_tasks(recipes: list[Recipe], tasks: tuple[str, ...]) -> list[Recipe]:
    """Those of the named puzzles, each of which may be said with its size."""
    return [recipe for recipe, name in zip(recipes, names(recipes), strict=True) if {recipe.task, name} & set(tasks)]


def recipes_of(run: str | Path) -> list[Recipe]:
    """What each of a run's data sets was made from."""
    path = Path(run) / "config.json"
    content = json.loads(path.read_text(encoding="utf-8")).get("data", {}) if path.is_file() else {}
    every = content if isinstance(content, list) else [content]
    if not all("recipe" in each for each in every):
        raise ValueError(f"run: expected the folder of a training run, whose data say what to play, got {run}")
    return [Recipe.from_dict(each["recipe"]) for each in every]
