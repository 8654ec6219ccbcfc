"""What a run plays and asks: everything that decides its answers, written down once in its manifest."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.data import held_out
from recommit.data.spec import DataSpec
from recommit.puzzles import registry
from recommit.puzzles.instances import Instances
from recommit.storage import files, ownership, reading
from recommit.version import VERSION
from recommit.zero_shot import prompt

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.policy.prompt import Prompt
    from recommit.puzzles.puzzle import Puzzle

FORMAT = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Named(Instances):
    """Instances with names of their own, since a test set skips numbers."""

    names: tuple[str, ...] = ()
    #: Which of them are in the same room, where the data keeps rooms apart.
    rooms: NDArray[np.int64] | None = None

    @property
    def ids(self) -> list[str]:
        """As ``recommit evaluate`` names them."""
        return list(self.names)


class WrongSpec(ValueError):
    """A spec that cannot be played, or not in this folder."""


@dataclass(frozen=True)
class ZeroShotSpec:
    """Two runs with equal specs ask the same questions until an answer differs."""

    model: str
    endpoint: str
    task: str
    size: tuple[int, int]
    boxes: int
    #: Shortest and longest; empty: as in the data.
    length: tuple[int, ...]
    instances: int
    seed: int
    budget: int
    lenient: bool
    parameters: dict[str, Any]
    any_model: bool = False
    #: Pixels per cell of the picture.
    cell: int = 56
    extra: dict[str, Any] = field(default_factory=dict)
    #: The recipe of a data set: its test instances are played, those of ``recommit evaluate``.
    data: dict[str, Any] | None = None
    #: What an action of the sliding puzzle moves; see ``prompt.MOVES``.
    moves: str = prompt.MOVES[0]

    def __post_init__(self) -> None:
        prompt.of(self.task, self.moves)

    @property
    def prompts(self) -> tuple[Prompt, Prompt]:
        """What the model is told."""
        return prompt.of(self.task, self.moves)

    def puzzle(self) -> Puzzle:
        """The task."""
        return registry.puzzle(self.task).of(self.size, self.boxes)

    def starts(self) -> Instances:
        """The instances; a larger number begins with the same ones."""
        if self.data is not None:
            return self._of_data()
        seed = rng.derived_seed(self.seed, rng.Purpose.INSTANCES, 0)
        try:
            return self.puzzle().generate(
                self.instances, seed=seed, length=(self.length[0], self.length[-1]), threads=1
            )
        except ValueError as error:
            raise WrongSpec(str(error)) from None

    def _of_data(self) -> Instances:
        data_spec = DataSpec.from_dict(self.data or {})
        drawn = held_out.starts(data_spec, "test", self.instances, self.length)
        states = np.ascontiguousarray(drawn.states)
        names = tuple(data_spec.ids(drawn.difficulty.tolist(), drawn.number.tolist()))
        length, rooms = drawn.length.astype(np.int32), held_out.rooms(data_spec, states)
        return Named(self.task, held_out.name(states), data_spec.seed, 0, states, length, names, rooms)

    @property
    def agent(self) -> str:
        """The name in figures."""
        return self.model

    def manifest(self, starts: Instances) -> dict[str, Any]:
        """Plain values. ``run`` must be the same when a run goes on."""
        prompts = {each.name: each.sha256 for each in self.prompts}
        sha256 = files.sha256(np.ascontiguousarray(starts.states).tobytes())
        played = {"variant": starts.size_name, "seed": starts.seed, "states_sha256": sha256}
        versions = {"recommit": VERSION, "python": platform.python_version(), "numpy": np.__version__}
        if self.data is not None:
            played["test_set"] = held_out.name(starts.states)
        run = {**asdict(self), "agent": self.agent, "prompts": prompts, "played": played}
        if self.moves == prompt.MOVES[0]:
            del run["moves"]  # which older runs do not name
        plain: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, "run": run, "versions": versions}))
        return plain


def keep(manifest: dict[str, Any], folder: Path) -> None:
    """Write the manifest of a new run, or check that the run in ``folder`` has the same spec."""
    path = folder / MANIFEST
    if not path.exists():
        foreign = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
        if foreign:
            raise WrongSpec(f"out: expected an empty folder or a zero-shot run, got {folder} with {foreign[0]}")
        files.replace(files.Files(), path, (json.dumps(manifest, indent=2) + "\n").encode())
        return
    try:
        stored = reading.values(folder, MANIFEST)
        before = dict(stored["run"])
    except (ValueError, KeyError, TypeError):
        raise WrongSpec(f"out: expected the manifest of a zero-shot run, got another {path}") from None
    if stored.get("format") != manifest["format"]:
        raise WrongSpec(f"out: expected format {manifest['format']}, got {stored.get('format')} in {path}")
    ownership.check(folder, before, manifest["run"])
