"""What a run plays and asks: everything that decides its answers, written down once in its manifest."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.data.spec import DataSpec
from recommit.data.starts import held_out
from recommit.puzzles import registry
from recommit.puzzles.instances import Instances
from recommit.storage import errors, files, ownership, verified
from recommit.version import VERSION
from recommit.zero_shot import prompt

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.policy.prompt import Prompt
    from recommit.puzzles.puzzle import Puzzle
    from recommit.zero_shot.endpoints import Endpoint
    from recommit.zero_shot.options import ZeroShotOptions

FORMAT = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class HeldOutInstances(Instances):
    """Instances of a data set's test split, named as ``recommit evaluate`` names them, since a test set skips
    numbers."""

    names: tuple[str, ...] = ()
    #: Which of them are in the same room, where the data keeps rooms apart.
    rooms: NDArray[np.int64] | None = None

    @property
    def ids(self) -> list[str]:
        """As ``recommit evaluate`` names them."""
        return list(self.names)


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

    @classmethod
    def of(cls, options: ZeroShotOptions, endpoint: Endpoint) -> ZeroShotSpec:
        """From the flags of a run; what they leave open is the puzzle's or the endpoint's usual."""
        data = DataSpec.read(options.data / "recipe.json") if options.data else None
        task = data.task if data else options.task or "sliding"
        usual = registry.puzzle(task).usual
        length = options.length * 2 if len(options.length) == 1 else options.length
        if data is None:
            size = (options.size[0], options.size[-1]) if options.size else usual.size
            wanted = 2 if options.boxes is None else options.boxes
            boxes, length = wanted if registry.puzzle(task).most_boxes else 0, length or usual.length
        else:
            _refuse_beside(data, options)
            size, boxes = data.size, max((difficulty.boxes for difficulty in data.difficulties), default=0)
        return cls(
            options.model,
            endpoint.name,
            task,
            size,
            boxes,
            length,
            options.instances,
            options.seed,
            usual.budgets["loose"] if options.budget is None else options.budget,
            options.lenient,
            options.sampling | {"answer_tokens": options.answer_tokens or endpoint.answer_tokens},
            options.any_model,
            options.cell,
            options.fields,
            data.to_dict() if data else None,
            options.moves,
        )

    @property
    def prompts(self) -> tuple[Prompt, Prompt]:
        """What the model is told."""
        return prompt.of(self.task, self.moves)

    def puzzle(self) -> Puzzle:
        """The task."""
        return registry.puzzle(self.task).of(self.size, self.boxes)

    def starts(self) -> Instances:
        """The instances; a larger number begins with the same ones."""
        if self.data is None:
            seed = rng.derived_seed(self.seed, rng.Purpose.INSTANCES, 0)
            return self.puzzle().generate(
                self.instances, seed=seed, length=(self.length[0], self.length[-1]), threads=1
            )
        data = DataSpec.from_dict(self.data)
        sampled = held_out.starts(data, "test", self.instances, self.length)
        states = np.ascontiguousarray(sampled.states)
        names = tuple(data.ids(sampled.difficulty.tolist(), sampled.number.tolist()))
        length, rooms = sampled.length.astype(np.int32), held_out.rooms(data, states)
        return HeldOutInstances(self.task, held_out.name(states), data.seed, 0, states, length, names, rooms)

    def manifest(self, starts: Instances) -> dict[str, Any]:
        """Plain values. ``run`` must be the same when a run goes on."""
        prompts = {each.name: each.sha256 for each in self.prompts}
        sha256 = files.sha256(np.ascontiguousarray(starts.states).tobytes())
        played = {"variant": starts.size_name, "seed": starts.seed, "states_sha256": sha256}
        versions = {"recommit": VERSION, "python": platform.python_version(), "numpy": np.__version__}
        if self.data is not None:
            played["test_set"] = held_out.name(starts.states)
        run = {**asdict(self), "prompts": prompts, "played": played}
        plain: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, "run": run, "versions": versions}))
        return plain


def _refuse_beside(data: DataSpec, options: ZeroShotOptions) -> None:
    """Refuse what the data decide."""
    if options.task not in (None, data.task):
        raise ValueError(f"task: expected {data.task}, that of the data, got {options.task}")
    for name, value in (("size", options.size), ("boxes", options.boxes), ("seed", options.seed)):
        if value not in ((), None, 0):
            raise ValueError(f"{name}: expected none beside data, which decides it, got {value}")


def keep(manifest: dict[str, Any], folder: Path) -> None:
    """Write the manifest of a new run, or check that the run in ``folder`` has the same spec."""
    if not (folder / MANIFEST).exists():
        foreign = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
        if foreign:
            raise errors.WrongFolder(
                f"out: expected an empty folder or a zero-shot run, got {folder} with {foreign[0]}"
            )
        write(manifest, folder)
        return
    try:
        stored = verified.values(folder, MANIFEST, {"format": int, "run": dict})
    except ValueError as error:
        raise errors.WrongFolder(f"out: expected the manifest of a zero-shot run, got another: {error}") from None
    if stored["format"] != manifest["format"]:
        raise errors.WrongFolder(f"out: expected format {manifest['format']}, got {stored['format']} in {folder}")
    ownership.check(folder, stored["run"], manifest["run"])


def write(manifest: dict[str, Any], folder: Path) -> None:
    """Replace the manifest."""
    files.replace(files.Files(), folder / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
