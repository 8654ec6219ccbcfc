"""Heads that are trained on the plans of a preset's runs: a world model of every seed, and a conditioned head on a
graph of its plans.

Every step is a command: ``recommit train world-model``, ``graph build`` or ``train head``. What it was made
of stands beside the recipes of the runs; a step that is there is skipped, and one made of something else is refused.
"""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.storage import files, ownership, verified
from recommit.storage.terminal_text import say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: What a graph of plans takes of what a preset says of a conditioned head; the rest is the head's own.
_OF_GRAPHS = ("starts", "length")
#: What is written down of a step.
_RECORD = {"command": str, "options": dict, "sources": list}


@dataclass(frozen=True)
class HeadStep:
    """One command: which, on what, and what it writes."""

    verb: str
    #: What it begins with: a run or a graph, and the policy whose plans the graph has.
    sources: tuple[Path, ...]
    out: Path
    options: dict[str, Any]
    #: Where it is written down what it was made of.
    record: Path

    @property
    def command(self) -> list[str]:
        """As a person would call it."""
        words = [*self.verb.split(), str(self.sources[0])]
        for name, value in {**self._paths, **self.options}.items():
            values = value if isinstance(value, list) else [] if value is True else [value]
            words += [f"--{name.replace('_', '-')}", *map(str, values)]
        return ["recommit", *words]

    @property
    def _paths(self) -> dict[str, Path]:
        return {**dict(zip(("policy",), self.sources[1:], strict=False)), "out": self.out}

    @property
    def there(self) -> bool:
        """Was it written, whole?"""
        return self.record.is_file() and (self.out / verified.DIGESTS).is_file()

    def run(self, quiet: bool) -> None:
        """Do it unless it is there."""
        from recommit.runs.process import preserved_torch_state

        now = {"command": self.verb, "options": self.options, "sources": [_digest(each) for each in self.sources]}
        if self.there:
            ownership.check(self.out, verified.values(self.record.parent, self.record.name, _RECORD), now)
            return
        options = {name: tuple(value) if isinstance(value, list) else value for name, value in self.options.items()}
        with preserved_torch_state(), contextlib.redirect_stdout(sys.stderr):  # whose last line is the report's path
            _do(self.verb, {**self._paths, **options}, self.sources[0], (lambda _: None) if quiet else say)
        files.replace(files.Files(), self.record, (json.dumps(now, indent=2) + "\n").encode())


def _do(verb: str, flags: dict[str, Any], source: Path, tell: Callable[[str], None]) -> None:
    """The function behind a command, whose flags a preset has by name."""
    from recommit.graph.build import build_graph
    from recommit.graph.options import GraphBuildOptions
    from recommit.train.heads.conditioned import train_head
    from recommit.train.heads.world_model import train_world_model
    from recommit.train.options import HeadOptions, WorldModelOptions

    if verb == "graph build":
        build_graph(GraphBuildOptions(source, **flags))
    elif verb == "train world-model":
        train_world_model(WorldModelOptions(source, **flags), tell)
    else:
        train_head(HeadOptions(source, **flags), tell)


def _digest(source: Path) -> str:
    """Digest what a step begins with: a run's best policy, a saved one, or a graph."""
    from recommit.graph.files import MANIFEST
    from recommit.policy.checkpoint import local_folder, weights_of

    graph = source / MANIFEST
    return files.file_sha256(graph) if graph.is_file() else weights_of(local_folder(source))


def steps(wishes: dict[str, Any], run: Path, folder: Path, seed: int, task: str = "") -> list[HeadStep]:
    """Those of one seed, in order, on the plans of a ``run``; none of a preset that says nothing of heads. ``task`` is
    needed where the run has learned several puzzles."""
    if not wishes:
        return []
    shared = {name: value for name, value in (("augmentations", wishes.get("augmentations")), ("task", task)) if value}
    world_model, graph, conditioned = (folder / part for part in _parts(seed))

    def step(verb: str, sources: tuple[Path, ...], out: Path, options: dict[str, Any]) -> HeadStep:
        return HeadStep(verb, sources, out, options, folder / "launch" / f"{out.name}.json")

    result = [step("train world-model", (run,), world_model, {**wishes["world_model"], **shared, "seed": seed})]
    if "conditioned" in wishes:
        plans = {name: wishes["conditioned"][name] for name in _OF_GRAPHS if name in wishes["conditioned"]}
        learning = {name: value for name, value in wishes["conditioned"].items() if name not in plans}
        plans |= {"features": True} if learning.get("features", "").startswith("z") else {}
        result.append(step("graph build", (run,), graph, {"split": "train", **plans, **shared}))
        result.append(step("train head", (graph, world_model), conditioned, {**learning, "seed": seed}))
    return result


def _parts(seed: int) -> tuple[str, str, str]:
    """Where the world model, the graph of its plans and the conditioned head lie."""
    return f"family/world-model-s{seed}", f"graph-s{seed}", f"family/conditioned-s{seed}"


def train(every: Sequence[HeadStep], quiet: bool) -> int:
    """All steps of a seed; 0."""
    for step in every:
        step.run(quiet)
    return 0
