"""What is kept of a finished job of bench.robots.campaign: what each test episode came to."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.robots.policies import loaded
from bench.robots.tasks import DEPTHS, PRICE

from recommit.storage import files

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def utility(rows: Floats) -> Floats:
    """Of episodes [..., 2]: success less the price of the queries."""
    return rows[..., 0] - PRICE * rows[..., 1]


@dataclass(frozen=True)
class Played:
    """What one policy came to under one condition: success and queries of every episode."""

    task: str
    seed: int
    condition: str
    #: The constant that was best on validation episodes, and what the best candidate of each rule was worth there.
    depth: int
    values: dict[str, float]
    rows: dict[str, Floats]
    #: Of the constants: how long every episode took.
    ticks: dict[str, Floats]
    oracles: dict[str, Floats]
    #: Of each row the mean regret at the visited states, and that of the best constant.
    states: dict[str, tuple[float, float]]
    #: The digest of what it was played by.
    code: str

    @property
    def constant(self) -> str:
        """The row of the best constant."""
        return f"fixed-{self.depth}"

    @property
    def rule(self) -> str:
        """The rule that was best on validation episodes."""
        return max(self.values, key=self.values.__getitem__)

    @property
    def head(self) -> str:
        """The row of the last head."""
        return max((name for name in self.rows if name.startswith("head ")), key=last_number)

    @classmethod
    def of(cls, folder: Path) -> Played:
        """From the pieces of a finished job."""
        chosen = json.loads((folder / "validation.json").read_text())
        best = {name: max(values) for name, values in chosen["values"].items()}
        whole = {path.stem[5:]: episodes(path) for path in sorted(folder.glob("test-*.json"))}
        rows = {name: each[:, :2] for name, each in whole.items()}
        ticks = {name: whole[name][:, 3] for name in (f"fixed-{depth}" for depth in DEPTHS)}
        oracles = {}
        for kind in kinds(folder.name):
            parts = sorted(folder.glob(f"{kind}-*.json"), key=lambda path: last_number(path.stem))
            oracles[kind] = np.concatenate([episodes(path)[:, :2] for path in parts])
        depth = int(chosen["constant"])
        states = visited(folder, depth) if (folder / "visited.npz").exists() else {}
        task, seed = folder.parents[1].name, int(folder.parent.name)
        code = json.loads((folder.parents[2] / "code.json").read_text())["code"]
        return cls(task, seed, folder.name, depth, best, rows, ticks, oracles, states, code)

    @classmethod
    def read(cls, path: Path) -> Played:
        """From what is kept of a job."""
        values = json.loads(path.read_text())
        arrays = lambda rows: {name: np.array(row, np.float64).T for name, row in rows.items()}
        return cls(**{**values, **{name: arrays(values[name]) for name in ("rows", "ticks", "oracles")}})

    def keep(self, folder: Path) -> None:
        """Success and queries of every row, a line each."""
        lists = lambda rows: {name: row.T.astype(int).tolist() for name, row in rows.items()}
        values = {**vars(self), **{name: lists(getattr(self, name)) for name in ("rows", "ticks", "oracles")}}
        told = lambda rows: "{\n" + ",\n".join(f'"{key}": {json.dumps(row)}' for key, row in rows.items()) + "}"
        parts = {name: told(each) if isinstance(each, dict) else json.dumps(each) for name, each in values.items()}
        lines = ",\n".join(f'"{name}": {each}' for name, each in parts.items())
        path = folder / f"{self.task}-{self.seed}-{self.condition}.json"
        files.replace(files.Files(), path, f"{{{lines}}}\n".encode())


def visited(folder: Path, depth: int) -> dict[str, tuple[float, float]]:
    """See ``Played.states``."""
    kept = loaded(folder / "visited.npz")
    values = kept["success"] - PRICE * kept["queries"]
    regrets = values.max(axis=1, keepdims=True) - values
    constant = float(regrets[:, DEPTHS.index(depth)].mean())
    own = np.take_along_axis(regrets, np.searchsorted(DEPTHS, kept["chosen"]), axis=1).T
    return {name: (float(each.mean()), constant) for name, each in zip(kept["names"].tolist(), own, strict=True)}


def episodes(path: Path) -> Floats:
    """[episodes, 4] success, queries, actions and ticks."""
    return np.array(json.loads(path.read_text())["episodes"], np.float64)


def kinds(condition: str) -> tuple[str, ...]:
    """The oracles of a condition."""
    return ("oracle",) if condition != "bumps" else ("oracle", "oracle resampled")


def finished(folder: Path, settings: dict[str, Any]) -> bool:
    """Is everything there? The oracle is what comes last."""
    return (folder / f"{kinds(folder.name)[-1]}-{(settings['oracle'] - 1) // 10}.json").exists()


def keep(out: Path, kept: Path) -> None:
    """Add the finished jobs of a campaign to those that are kept."""
    settings = json.loads((out / "settings.json").read_text())
    files.make_folders(files.Files(), kept.absolute())
    path = kept / "settings.json"
    if path.exists() and json.loads(path.read_text()) != settings:
        raise SystemExit(f"{out}: expected a campaign with the settings of {path}, got others")
    files.replace(files.Files(), path, (json.dumps(settings, indent=2) + "\n").encode())
    for folder in sorted(out.glob("*/*/*")):  # the task, the policy's seed, the condition
        if finished(folder, settings):
            Played.of(folder).keep(kept)


def keep_learners(out: Path, kept: Path) -> None:
    """Add the finished jobs of bench.robots.learners; what they have no figures of is empty."""
    files.make_folders(files.Files(), kept.absolute())
    code = json.loads((out / "code.json").read_text())["code"]
    for path in sorted(out.glob("*/*/*/validation.json")):
        folder, values = path.parent, json.loads(path.read_text())
        rows = {each.stem[5:]: episodes(each)[:, :2] for each in sorted(folder.glob("test-*.json"))}
        depth = max(last_number(name) for name in rows)
        where = (folder.parents[1].name, int(folder.parent.name), folder.name)
        Played(*where, depth, values, rows, {}, {}, {}, code).keep(kept)


def last_number(name: str) -> int:
    """That a name ends with, or 0."""
    last = re.split("[- ]", name)[-1]
    return int(last) if last.isdigit() else 0
