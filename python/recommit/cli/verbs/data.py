"""``recommit data build|show|export|verify``: each command is a function whose signature is its command line."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

from recommit.cli.flags import usual
from recommit.cli.requests import SIZE, check_place
from recommit.cli.verbs.data_answers import BuildLine, answer, answer_each, sentence, summary
from recommit.puzzles.registry import Task
from recommit.storage.terminal_text import say

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")


def _status(command: Callable[P, int]) -> Callable[P, int]:
    """Turn what a command raises into its status: 1 failed while working, 2 the call was wrong, 130 interrupted."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> int:
        from recommit.storage.errors import DataError

        try:
            return command(*args, **kwargs)
        except DataError as error:
            say(f"recommit: {error}")
            return error.exit_status
        except MemoryError as error:
            say(f"recommit: out of memory: {error}")
            return 1
        except KeyboardInterrupt:
            say("recommit: interrupted; the same command goes on where it was")
            return 130

    return run


#: Endings of pictures that are drawn of a data set.
PICTURES = (".png", ".svg", ".pdf")
#: What a build takes where neither a flag nor a recipe says it; a test compares it with ``DataSpec``.
USUAL = {
    "size": SIZE,
    "boxes": "2 of sokoban",
    "length": "8 to 24 of sliding, 8 to 32 of sokoban, 3 to 8 of ice",
    "validation": "0",
    "test": "0",
    "seed": "0",
    "epoch": "0",
    "ties": "first",
    "perturbed": "0",
    "deviation": "4",
    "strict_states": "False",
    "disjoint": "starts",
    "generator": "the first of these for the puzzle",
    "shard": "4096",
    "recipe": "none: the flags say everything",
    "states": "generated instances",
}


@usual(task="that of the recipe", count="that of the recipe", **USUAL)
@_status
def build(
    out: Path,
    task: Task | None = None,
    size: tuple[int, ...] = (),
    boxes: tuple[int, ...] = (),
    length: tuple[int, ...] | None = None,
    count: int | None = None,
    validation: int | None = None,
    test: int | None = None,
    seed: int | None = None,
    epoch: int | None = None,
    ties: Literal["first", "random"] | None = None,
    perturbed: int | None = None,
    deviation: int | None = None,
    strict_states: bool | None = None,
    disjoint: Literal["starts", "layouts"] | None = None,
    generator: str | None = None,
    shard: int | None = None,
    recipe: Path | None = None,
    states: Path | None = None,
    workers: int = 1,
    threads: int = 1,
    engine: Literal["local", "ray"] = "local",
    json: bool = False,
) -> int:
    """Build a data set, or finish one that was interrupted.

    Args:
        out: folder of the data set.
        task: the puzzle.
        size: rows and columns, or one number for both.
        boxes: boxes per level; several numbers make a variant each.
        length: shortest and longest optimal length of an instance, or one number for both.
        count: instances to train on.
        validation: instances to validate on.
        test: instances to test on.
        seed: other seeds give other instances.
        epoch: other epochs give other paths and perturbations for the same instances.
        ties: which of several optimal paths.
        perturbed: states off the path, per instance.
        deviation: how many random actions off the path, at most.
        strict_states: no test start may lie on a training path.
        disjoint: what two splits never share up to symmetry: starts, or (where walls stay) layouts of walls and goals.
        generator: how instances are made: rooms or reverse (Sokoban); uniform, walk or walk_nobacktrack (sliding).
        shard: instances per file.
        recipe: a YAML or JSON recipe; the flags above change it.
        states: label the states in this .npy file, uint8[N, rows, columns], instead of generated ones.
        workers: processes (with Ray and no cluster: cores).
        threads: threads of each.
        engine: local processes, or a Ray cluster that shares the folder.
        json: print the result as JSON.
    """
    from recommit.cli import data_request
    from recommit.data.building.builder import build as make
    from recommit.data.sizes import build as make_each

    flags = {
        "task": task,
        "size": list(size),
        "count": count,
        "validation": validation,
        "test": test,
        "seed": seed,
        "epoch": epoch,
        "ties": ties,
        "perturbed": perturbed,
        "deviation": deviation,
        "strict_states": strict_states,
        "disjoint": disjoint,
        "generator": generator,
        "shard": shard,
    }
    changes = {k: v for k, v in flags.items() if v not in (None, [])}
    progress = None if json else BuildLine()
    options: dict[str, Any] = {"workers": workers, "threads": threads, "engine": engine, "progress": progress}
    if specs := data_request.several(recipe, changes, others=bool(boxes or length or states)):
        manifests = {out / name: manifest for name, manifest in make_each(specs, out, **options).items()}
    else:
        spec = data_request.one(recipe, changes, boxes, length, states)
        manifests = {out: make(spec, out, states=states, **options)}
    if progress:
        progress.end()
    text = summary if json else sentence
    answer_each([text(folder, manifest) for folder, manifest in manifests.items()])
    return 0


@_status
def show(folder: Path, /, split: str = "all", picture: Path | None = None, json: bool = False) -> int:
    """Print what is in a data set; draw it.

    Args:
        folder: the data set.
        split: train, validation, test or all.
        picture: also draw into this file, .png, .svg or .pdf (default: nothing is drawn).
        json: print as JSON.
    """
    from recommit.data.showing import show as shown
    from recommit.data.sizes import open_all

    if picture:
        _check_picture(picture)
    described = {data: shown.describe(data) for data in open_all(folder, None if split == "all" else split)}
    answer_each([statistics if json else shown.text(statistics) for statistics in described.values()])
    if picture:
        for data, statistics in described.items():
            own = picture.with_stem(f"{picture.stem}-{data.folder.name}") if len(described) > 1 else picture
            shown.picture(data, own, statistics)
    return 0


def _check_picture(picture: Path) -> None:
    """Refuse a picture that cannot be written, before anything is printed."""
    from recommit.storage.errors import WrongDataSpec

    if picture.suffix.lower() not in PICTURES:
        raise WrongDataSpec(f"picture: expected a name that ends in {', '.join(PICTURES)}, got {picture}")
    check_place(picture)


@_status
def export(
    folder: Path,
    /,
    out: Path,
    form: Literal["parquet", "tensors", "webdataset", "chat"] = "parquet",
    split: str = "all",
    cell: int = 28,
    states_per_file: int = 4096,
    json: bool = False,
) -> int:
    """Write a data set, with pictures, in a format that other trainers read.

    Args:
        folder: the data set.
        out: where the files go.
        form: Parquet with an Image column, Parquet of fixed-length numbers, WebDataset tars, or JSON lines of chat
            messages.
        split: train, validation, test or all.
        cell: pixels per cell.
        states_per_file: at most so many states in one file.
        json: print as JSON.
    """
    from recommit.cli import data_request
    from recommit.data.showing.exports import export as write
    from recommit.data.sizes import open_all

    data_request.at_least_one(cell=cell, states_per_file=states_per_file)
    every, written = open_all(folder, None if split == "all" else split), []
    for data in every:
        place = out / data.folder.name if every[1:] else out
        names = write(data, place, form, cell=cell, states_per_file=states_per_file)
        written.append({"folder": str(place), "files": len(names)} if json else f"{place}: {len(names)} files")
    answer_each(written)
    return 0


@_status
def push(folder: Path, /, repo: str, hub: Path | None = None, send: bool = False) -> int:
    """Put a data set on a hub, with a card that loads it back. Nothing is sent without --send.

    Args:
        folder: the data set.
        repo: OWNER/NAME of the repository.
        hub: a local folder that stands in for the hub.
        send: upload it, with the login of huggingface_hub; the repository is private.
    """
    from recommit.data.manifest import read
    from recommit.data.showing.card import card
    from recommit.storage import hub as hubs

    upload = hubs.Upload(repo, "dataset", folder.absolute(), {"README.md": card(read(folder.absolute()), repo)})
    answer(hubs.push(upload, hub, send))
    return 0


@_status
def verify(folder: Path, /, labels: bool = False, json: bool = False) -> int:
    """Check a data set: files against the manifest, rows against the rules of the puzzle.

    Args:
        folder: the data set.
        labels: also solve every state again.
        json: print as JSON.
    """
    from recommit.data.sizes import open_all
    from recommit.data.verification import verify as check

    checked = sum(check(dataset, labels=labels) for dataset in open_all(folder, None))
    right = {"folder": str(folder), "rows": checked, "labels": labels, "right": True}
    answer(right if json else f"{folder}: {checked:,} rows, all as they should be")
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "build": build,
    "show": show,
    "export": export,
    "push": push,
    "verify": verify,
}


def main(arguments: list[str] | None = None) -> int:
    """``python -m recommit.data``."""
    import tyro

    status = tyro.extras.subcommand_cli_from_dict(
        COMMANDS, prog="recommit data", args=arguments, config=(tyro.conf.FlagCreatePairsOff,)
    )
    return int(status)
