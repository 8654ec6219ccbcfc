"""Finished folders of every kind, tiny, and everything that the package reads of them."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from tests.unit.train.runs import FINISHED, TINY, plan_of

from recommit.cli import main
from recommit.data import DataSpec, Difficulty, build
from recommit.data.dataset import open_folder
from recommit.evaluate import EvaluateOptions, EvaluationStore, evaluate, seeds
from recommit.graph import files as graph_files
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.policy import CommitPolicy
from recommit.report.reading import Folder
from recommit.runs.checkpoints import Checkpoints
from recommit.runs.directory import LOGS, best_policy, recipes_of
from recommit.storage import verified
from recommit.train.config import SftConfig, parse, plain
from recommit.train.grpo import trainer as grpo
from recommit.train.heads import fitted
from recommit.train.sft import trainer as sft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

AGENTS = ("adaptive", "fixed-4", "solver")
#: A data set that is built in no time.
SMALL = (
    *("--task", "sliding", "--size", "2", "3", "--length", "4", "14", "--count", "40", "--validation", "6"),
    *("--test", "6", "--ties", "random"),
)
FAST = ("--device", "cpu", "--quiet")
#: What makes a folder of what ``make`` leaves: "./" is where that lies, ./new what is made.
COMMANDS = {
    "data build": ("data", "build", *SMALL, "--out", "./new"),
    "train sft": ("train", "sft", "--recipe", "./plan.yaml", "--data", "./data", "--out", "./new", "--quiet"),
    "train grpo": ("train", "grpo", "--recipe", "./plan.yaml", "--init", "./sft", "--out", "./new", "--quiet"),
    "train world-model": (
        *("train", "world-model", "./sft", "--out", "./new", "--steps", "1", "--starts", "5", "--quiet"),
    ),
    "evaluate": (
        *("evaluate", "./sft", "--out", "./new", "--agents", "fixed-4", "--budgets", "2", "--instances", "4"),
        *("--validation", "2", *FAST),
    ),
    "graph build": ("graph", "build", "./sft", "--out", "./new", "--every-state", "--features", *FAST),
    "train head": (
        *("train", "head", "./graph", "--method", "exact", "--updates", "2", "--budget", "2"),
        *("--out", "./new", "--quiet"),
    ),
    "train head, conditioned": (
        *("train", "head", "./graph", "--policy", "./world-model", "--updates", "2", "--budget", "2"),
        *("--out", "./new", "--quiet"),
    ),
}
#: What a use may say of a file that is not what was written: ``DataError`` is a RuntimeError, the others ValueErrors.
NOTICED = (ValueError, RuntimeError)


def make(place: Path, *, reinforced: bool = False) -> Path:
    """A data set, a run (two with ``reinforced``), and of the last an evaluation, a graph with a head and a world
    model, in folders of ``place``."""
    build(
        DataSpec("sliding", (2, 3), (Difficulty((4, 14)),), count=40, validation=6, test=6, ties="random"),
        place / "data",
    )
    plans = {"sft": plain(warm()), "grpo": plain(plan_of(**FINISHED))}
    (place / "plan.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(plans))))
    assert sft.train(warm(), place / "data", place / "sft", quiet=True) == 0
    run = place / "sft"
    if reinforced:
        run = place / "grpo"
        assert grpo.train(plan_of(), place / "sft", run, quiet=True) == 0
    evaluate(EvaluateOptions(run, place / "eval", AGENTS, (3, 2), instances=6, validation=4))
    _plans(place, run)
    return place


def _plans(place: Path, run: Path) -> None:
    """The commitment graph of a run, a head that was fitted on it, and a world model."""
    words = ["--every-state", "--features", "--device", "cpu", "--quiet"]
    assert main(["graph", "build", str(run), "--out", f"{place}/graph", *words]) == 0
    words = ["--method", "exact", "--updates", "2", "--budget", "2", "--quiet"]
    assert main(["train", "head", f"{place}/graph", "--out", f"{place}/head", *words]) == 0
    words = ["--steps", "1", "--starts", "5", "--quiet"]
    assert main(["train", "world-model", str(run), "--out", f"{place}/world-model", *words]) == 0


def warm() -> SftConfig:
    """A warm start of two steps."""
    plan = parse(SftConfig, TINY)
    validation = replace(plan.validation, every=1, instances=2)
    return replace(plan, optim=replace(plan.optim, steps=2), validation=validation)


def words_of(words: Iterable[str], place: Path) -> list[str]:
    """Of a command, with the folder that its paths are in."""
    return [f"{place}/{word[2:]}" if word.startswith("./") else word for word in words]


@dataclass(frozen=True)
class Use:
    """Something that the package does with a finished folder, and all that it learns from it, as text."""

    name: str
    call: Callable[[Path], Any]

    def __call__(self, place: Path) -> str:
        return told(self.call(place))


def told(value: Any) -> str:
    """The same text for the same content, to the bit."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{told(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(told, value)) + "]"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    return repr(value)


def _data(place: Path) -> list[Any]:
    data = open_folder(place / "data", None)
    return [data.spec.to_json(), data.manifest.to_json(), [rows.sha256() for rows in data.shards()]]


def weights(module: Any) -> list[Any]:
    return [(name, tensor.float().numpy()) for name, tensor in module.state_dict().items()]


def _policy(folder: Path) -> list[Any]:
    policy = CommitPolicy.from_pretrained(folder)
    return [policy.config, weights(policy)]


def _run(folder: Path) -> list[Any]:
    """What a start of the same command, an evaluation and a page read."""

    def torn(text: str) -> None:
        raise ValueError(text)

    verified.verify(folder, LOGS)
    newest = Checkpoints(folder / "checkpoints").newest(torn)
    assert newest is not None
    begun = [verified.values(folder, name) for name in ("config.json", "versions.json", "best.json")]
    kept = [verified.values(newest.folder, "state.json"), verified.lines(folder, "metrics.jsonl")]
    best = best_policy(folder).relative_to(folder).as_posix()
    return [[recipe.to_json() for recipe in recipes_of(folder)], best, newest.step, begun, kept]


def _evaluation(place: Path) -> list[Any]:
    """What a page, a table of several seeds and the same command read."""
    folder = Folder(place / "eval")
    figures = [folder.spec, folder.summary, folder.comparisons, folder.curves, folder.instances, folder.outcomes]
    decided = [[vars(each) for each in folder.decisions(agent)] for agent in folder.agents]
    seen = [(key, vars(each)) for key, each in seeds.read(place / "eval").items()]
    names = sorted(path.stem for path in (place / "eval" / "decisions").iterdir())
    with EvaluationStore(place / "eval") as store:
        kept = [(name, _columns(store.rows(name))) for name in names]
    played = verified.values(place / "eval", "policies.json")
    return [figures, decided, played, folder.training, folder.run_json("versions.json"), seen, kept]


def _graph(place: Path) -> list[Any]:
    graph = graph_files.read(place / "graph")
    return [graph_files.describe(graph), vars(graph)]


def _columns(rows: Any) -> list[Any]:
    return [getattr(rows, field.name) for field in fields(rows)]


def uses(place: Path) -> list[Use]:
    """Of every folder that is there."""
    runs = [folder for folder in sorted(place.iterdir()) if (folder / "checkpoints").is_dir()]
    found = [Use("data", _data), Use("evaluation", _evaluation)]
    found += [Use("graph", _graph), Use("head", lambda here: vars(fitted.read(here / "head")))]
    found.append(Use("world model", lambda here: _policy(here / "world-model")))
    for run in runs:
        name = run.name
        found.append(Use(name, lambda here, name=name: _run(here / name)))
        found.append(Use(f"policy of {name}", lambda here, name=name: _policy(best_policy(here / name))))
        if (run / "init").is_dir():
            found.append(Use(f"init of {name}", lambda here, name=name: _policy(here / name / "init")))
        if (run / "backbone").is_dir():
            found.append(
                Use(
                    f"backbone of {name}",
                    lambda here, name=name: weights(load_backbone(here / name / "backbone").model),
                )
            )
    return found


class Ear:
    """Which files below a folder are opened: the interpreter tells of every one that it opens."""

    def __init__(self) -> None:
        self.folder, self.names = "", set[str]()
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self.folder and isinstance(arguments[0], str | os.PathLike):
            path = os.fspath(arguments[0])
            if isinstance(path, str) and path.startswith(self.folder + os.sep):
                self.names.add(os.path.relpath(path, self.folder))

    def during(self, use: Use, place: Path) -> tuple[str, set[str]]:
        """What a use learns, and the names of the files that it opens."""
        self.folder, self.names = str(place), set()
        try:
            return use(place), self.names
        finally:
            self.folder = ""


def every_file(place: Path) -> list[str]:
    """All of them, but locks and what TensorBoard reads."""
    files = (path for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path.relative_to(place).as_posix() for path in files if path.name != ".lock"]
