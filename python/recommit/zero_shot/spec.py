"""Specification of a zero-shot run: everything that decides its answers, stored in its manifest."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.data import held_out, leaderboard_splits
from recommit.data.spec import DataSpec
from recommit.puzzles.puzzle import Instances
from recommit.storage import errors, files, jsonl, ownership, verified
from recommit.version import VERSION
from recommit.zero_shot.game import GameSpec, prompts

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.zero_shot.options import ZeroShotOptions

FORMAT = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class HeldOutInstances(Instances):
    """Instances of a data set's test split. They need explicit names, since a test set skips numbers."""

    names: tuple[str, ...] = ()
    #: [instances] number of the room; None unless the data keeps rooms apart.
    rooms: NDArray[np.int64] | None = None

    @property
    def ids(self) -> list[str]:
        """Names, as in ``recommit evaluate``."""
        return list(self.names)


@dataclass(frozen=True)
class ZeroShotSpec:
    """Games, requests to the model, and the recipe of the data set whose test instances are played, if any. Two runs
    with equal specs send the same requests until an answer differs."""

    options: ZeroShotOptions
    game: GameSpec
    recipe: DataSpec | None

    @classmethod
    def of(cls, options: ZeroShotOptions) -> ZeroShotSpec:
        """Fill in open options: from the data, or with the puzzle's usual values."""
        recipe = _recipe(options.data) if options.data else None
        if recipe is not None and options.task not in (None, recipe.task):
            raise ValueError(f"task: expected {recipe.task}, that of the data, got {options.task}")
        if recipe is not None and options.size:
            raise ValueError(f"size: expected none beside data, which decides it, got {options.size}")
        game = GameSpec(
            recipe.task if recipe else options.task or "sliding",
            recipe.size if recipe else options.size,
            max((each.boxes for each in recipe.difficulties), default=0) if recipe else 0,
            options.length,
            options.budget or 0,
            count=options.instances,
            cell=options.cell,
            moves=options.moves,
        )
        return cls(options, game, recipe)

    def starts(self) -> Instances:
        """The instances; a larger ``instances`` option begins with the same ones, unless windows of lengths overlap."""
        game, window = self.game, (self.game.length[0], self.game.length[1])
        if self.recipe is None:
            seed = rng.derived_seed(game.seed, rng.Purpose.INSTANCES, 0)
            return game.puzzle.generate(game.count, seed=seed, length=window, threads=1)
        sampled = held_out.starts(self.recipe, "test", game.count, window if self.options.length else ())
        states = np.ascontiguousarray(sampled.states)
        names = tuple(self.recipe.ids(sampled.difficulty.tolist(), sampled.number.tolist()))
        lengths, rooms = sampled.length.astype(np.int32), held_out.rooms(self.recipe, states)
        name, seed = held_out.name(states), self.recipe.seed
        return HeldOutInstances(game.task, name, seed, 0, states, lengths, names, rooms)

    def manifest(self, starts: Instances) -> dict[str, Any]:
        """Manifest as plain values. ``run`` must not change when a run is resumed."""
        options, game = self.options, self.game
        sha256 = files.sha256(np.ascontiguousarray(starts.states).tobytes())
        played = {"variant": starts.size_name, "seed": starts.seed, "states_sha256": sha256}
        if self.recipe is not None:
            played["test_set"] = held_out.name(starts.states)
        run = {
            "model": options.model,
            "endpoint": options.server.name,
            **asdict(game),
            "parameters": options.parameters | {"answer_tokens": options.server.answer_tokens},
            "data": self.recipe.to_dict() if self.recipe else None,
            "prompts": {each.name: each.sha256 for each in prompts(game.task, game.moves)},
            "played": played,
        }
        versions = {"recommit": VERSION, "python": platform.python_version(), "numpy": np.__version__}
        return json.loads(json.dumps({"format": FORMAT, "run": run, "versions": versions}))


def _recipe(folder: Path) -> DataSpec:
    """Recipe of a data set, checked against its manifest if it is finished; or of a frozen split, given by its name."""
    if str(folder) in leaderboard_splits.names() and not folder.exists():
        return leaderboard_splits.read(str(folder)).recipe
    path = folder / "recipe.json"
    recipe = DataSpec.read(path)
    if verified.exists(folder, MANIFEST):
        finished = verified.values(folder, MANIFEST, {"recipe": dict})["recipe"]
        if finished != json.loads(recipe.to_json()):
            raise errors.Damaged(f"{path}: expected the recipe in {MANIFEST}, got another")
    return recipe


def keep(manifest: dict[str, Any], folder: Path) -> None:
    """Write the manifest of a new run, or of one without any answer yet; else check that the run in ``folder`` has the
    same spec."""
    ownership.refuse_foreign(folder, (MANIFEST,), "a zero-shot run")
    if (folder / MANIFEST).exists():
        try:
            stored = verified.values(folder, MANIFEST, {"format": int, "run": dict})
        except ValueError as error:
            raise errors.WrongFolder(f"out: expected the manifest of a zero-shot run, got another: {error}") from None
        if jsonl.read(folder / "decisions.jsonl"):
            ownership.check(
                folder, {"format": stored["format"], **stored["run"]}, {"format": FORMAT, **manifest["run"]}
            )
            return
    files.replace(files.Files(), folder / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
