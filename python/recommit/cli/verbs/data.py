"""``recommit data build|show|export|push|verify``."""

from __future__ import annotations

import json as jsons
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.cli.flags import overriding, usual
from recommit.cli.requests import BOXES, SIZE, WrongCall, check_place, span
from recommit.data.spec import DataSpec, by_size, has_sizes, read_plain
from recommit.puzzles.registry import TASKS, Task
from recommit.storage.errors import NotEnough, WrongDataSpec
from recommit.storage.terminal_text import StatusLine, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.data.builder import BuildProgress
    from recommit.data.manifest import Manifest

#: Optimal lengths of a data set where nobody says them: those of the pages' examples.
LENGTHS = {"sliding": (8, 24), "sokoban": (8, 32)}
#: Endings of pictures that are drawn of a data set.
PICTURES = (".png", ".svg", ".pdf")
#: What a build takes where neither a flag nor a recipe says it.
USUAL = {
    "task": "that of the recipe",
    "size": SIZE,
    "boxes": f"{BOXES} of sokoban",
    "length": "8 to 24 of sliding, 8 to 32 of sokoban, 3 to 8 of ice",
    "generator": "the first of these for the puzzle",
    "recipe": "none: the flags say everything",
    "states": "generated instances",
}

#: Fields of a ``DataSpec`` that are flags as they are.
FLAGS = ("count", "validation", "test", "seed", "ties", "perturbed", "strict_states", "disjoint", "generator", "shard")


@usual(**USUAL)
@overriding(DataSpec, *FLAGS)
def build(
    out: Path,
    task: Task | None = None,
    size: tuple[int, ...] = (),
    boxes: tuple[int, ...] = (),
    length: tuple[int, ...] | None = None,
    recipe: Path | None = None,
    states: Path | None = None,
    workers: int = 1,
    threads: int = 1,
    engine: Literal["local", "ray"] = "local",
    json: bool = False,
    **changes: Any,
) -> int:
    """Build a data set, or finish one that was interrupted.

    Args:
        out: folder of the data set.
        task: the puzzle.
        size: rows and columns, or one number for both.
        boxes: boxes per level; several numbers make a difficulty each.
        length: shortest and longest optimal length of an instance, or one number for both.
        recipe: a YAML or JSON recipe, which other flags change.
        states: label the states in this .npy file, uint8[N, rows, columns], instead of generated ones.
        workers: processes (with Ray and no cluster: cores).
        threads: threads of each.
        engine: local processes, or a Ray cluster that shares the folder.
        json: print the result as JSON.
    """
    from recommit.data import builder

    changes |= {name: value for name, value in (("task", task), ("size", list(size))) if value}
    specs, many = requested(recipe, changes, boxes, length, states)
    progress = None if json else BuildLine()
    options: dict[str, Any] = {"workers": workers, "threads": threads, "engine": engine, "progress": progress}
    try:
        if many:
            manifests = {out / name: each for name, each in builder.build_all(specs, out, **options).items()}
        else:
            manifests = {out: builder.build(specs[0], out, states=states, **options)}
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on where it was") from None
    finally:
        if progress:
            progress.end()
    text = summary if json else sentence
    _answer_each([text(folder, manifest) for folder, manifest in manifests.items()])
    return 0


def requested(
    recipe: Path | None,
    changes: dict[str, Any],
    boxes: tuple[int, ...] = (),
    length: tuple[int, ...] | None = None,
    states: Path | None = None,
) -> tuple[list[DataSpec], bool]:
    """The data sets that a recipe and flags, or flags alone, ask for; and whether they are of several sizes."""
    plain = read_plain(recipe) if recipe else {}
    if has_sizes(plain):
        if boxes or length or states or "size" in changes:
            raise WrongDataSpec(f"expected none of --size --boxes --length --states with the sizes of {recipe}")
        return by_size({**plain, **changes}), True
    if recipe:
        plain = DataSpec.from_dict(plain).to_dict()
    plain.update(changes)
    if states is not None:
        from recommit.data import labels

        array = labels.load_states(states)
        named = {"states": labels.states_sha256(array), "count": len(array), "size": list(array.shape[1:])}
        plain.update(named, difficulties=[])
    elif length or boxes or not recipe:
        plain["difficulties"] = _difficulties(plain, boxes, _span(length))
    if missing := [name for name in ("task", "count") if name not in plain]:
        raise WrongDataSpec(f"expected --recipe or --{' --'.join(missing)}")
    size = plain.get("size") or (list(TASKS[plain["task"]].usual.size) if plain["task"] in TASKS else [1])
    plain["size"] = [*size, *size] if len(size) == 1 else list(size)
    spec = DataSpec.from_dict(plain)
    _check_boards(spec)
    return [spec], False


def _span(length: tuple[int, ...] | None) -> tuple[int, ...]:
    try:
        return span(length)
    except WrongCall as error:
        raise WrongDataSpec(str(error)) from None


def _difficulties(plain: dict[str, Any], boxes: tuple[int, ...], lengths: tuple[int, ...]) -> list[dict[str, Any]]:
    """A difficulty for each number of boxes; what no flag says is as in the recipe, or usual for the puzzle."""
    kind, before = TASKS.get(plain.get("task", "")), plain.get("difficulties", [{}])
    if kind is None:
        return []
    most = list(lengths or before[0].get("length") or LENGTHS.get(kind.task, kind.usual.length))
    many = boxes or tuple(each.get("boxes", min(BOXES, kind.most_boxes)) for each in before)
    return [{"length": most, "boxes": number} for number in many]


def _check_boards(spec: DataSpec) -> None:
    """Refuse more instances than there are boards, where these can be counted."""
    task, wanted = spec.puzzle(), sum(spec.counts.values())
    counts = task.counts_by_length
    if counts is None or not spec.difficulties:
        return
    lengths = {length for each in spec.difficulties for length in range(each.length[0], each.length[1] + 1)}
    there = sum(count for length, count in enumerate(counts) if length in lengths)
    if wanted > there:
        raise NotEnough(
            f"count: expected at most {there:,} instances, as many as there are {task.size_name} boards of these "
            f"lengths, got {wanted:,}"
        )


def summary(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """What was built, as JSON says it."""
    return {
        "folder": str(folder),
        "content_sha256": manifest.content,
        "rows": manifest.total("rows"),
        "overlap": manifest.overlap,
    }


def sentence(folder: Path, manifest: Manifest) -> str:
    """What was built, in words."""
    text, seen = f"{folder}: {manifest.total('rows'):,} rows, content {manifest.content[:16]}", manifest.overlap
    if not seen:
        return text
    return (
        f"{text}\noverlap: {seen['test_starts_on_training_paths']} of {seen['test_starts']} test starts and "
        f"{seen['test_states_on_training_paths']} of {seen['test_states']} test states lie on training paths"
    )


class BuildLine(StatusLine):
    """How far a build is."""

    def __call__(self, now: BuildProgress) -> None:
        """Show it."""
        remaining = f"{now.remaining:.0f} s left" if now.remaining < 1e9 else ""
        self.show(f"{now.shards}/{now.all_shards} shards, {now.rows:,} rows, {now.rate:,.0f} rows/s, {remaining}")


def show(folder: Path, /, split: str = "all", picture: Path | None = None, json: bool = False) -> int:
    """Print what is in a data set; draw it.

    Args:
        folder: the data set.
        split: train, validation, test or all.
        picture: also draw into this file, .png, .svg or .pdf (default: nothing is drawn).
        json: print as JSON.
    """
    from recommit.data import show as shown
    from recommit.data.dataset import open_all

    if picture:
        _check_picture(picture)
    described = {data: shown.describe(data) for data in open_all(folder, None if split == "all" else split)}
    _answer_each([statistics if json else shown.text(statistics) for statistics in described.values()])
    if picture:
        for data, statistics in described.items():
            own = picture.with_stem(f"{picture.stem}-{data.folder.name}") if len(described) > 1 else picture
            shown.picture(data, own, statistics)
    return 0


def _check_picture(picture: Path) -> None:
    """Refuse a picture that cannot be written, before anything is printed."""
    if picture.suffix.lower() not in PICTURES:
        raise WrongDataSpec(f"picture: expected a name that ends in {', '.join(PICTURES)}, got {picture}")
    check_place(picture)


def export(
    folder: Path,
    /,
    out: Path,
    form: Literal["parquet", "chat"] = "parquet",
    split: str = "all",
    cell: int = 28,
    states_per_file: int = 4096,
    json: bool = False,
) -> int:
    """Write a data set, with pictures, in a format that other trainers read.

    Args:
        folder: the data set.
        out: where the files go.
        form: Parquet with an Image column, or JSON lines of chat messages.
        split: train, validation, test or all.
        cell: pixels per cell.
        states_per_file: at most so many states in one file.
        json: print as JSON.
    """
    from recommit.data.dataset import open_all
    from recommit.data.exports import export as write

    for name, value in (("cell", cell), ("states_per_file", states_per_file)):
        if value < 1:
            raise WrongDataSpec(f"{name}: expected at least 1, got {value}")
    every, written = open_all(folder, None if split == "all" else split), []
    for data in every:
        place = out / data.folder.name if every[1:] else out
        names = write(data, place, form, cell=cell, states_per_file=states_per_file)
        written.append({"folder": str(place), "files": len(names)} if json else f"{place}: {len(names)} files")
    _answer_each(written)
    return 0


def push(folder: Path, /, repo: str, hub: Path | None = None, send: bool = False) -> int:
    """Put a data set on a hub, with a card that loads it back. Nothing is sent without --send.

    Args:
        folder: the data set.
        repo: OWNER/NAME of the repository.
        hub: a local folder that stands in for the hub.
        send: upload it, with the login of huggingface_hub; the repository is private.
    """
    from recommit.data.card import card
    from recommit.data.manifest import read
    from recommit.storage import hub as hubs

    upload = hubs.Upload(repo, "dataset", folder.absolute(), {"README.md": card(read(folder.absolute()), repo)})
    _answer(hubs.push(upload, hub, send))
    return 0


def verify(folder: Path, /, labels: bool = False, json: bool = False) -> int:
    """Check a data set: files against the manifest, rows against the rules of the puzzle.

    Args:
        folder: the data set.
        labels: also solve every state again.
        json: print as JSON.
    """
    from recommit.data.dataset import open_all
    from recommit.data.verification import verify as check

    checked = sum(check(dataset, labels=labels) for dataset in open_all(folder, None))
    right = {"folder": str(folder), "rows": checked, "labels": labels, "right": True}
    _answer(right if json else f"{folder}: {checked:,} rows, all as they should be")
    return 0


def _answer_each(parts: Sequence[Any]) -> None:
    """Print what there is to say of every data set of a folder; JSON of several is one list."""
    if all(isinstance(part, str) for part in parts):
        _answer("\n".join(parts))
    else:
        _answer(parts[0] if len(parts) == 1 else list(parts))


def _answer(what: object) -> None:
    """Print a sentence as it is, anything else as JSON."""
    tell(what if isinstance(what, str) else jsons.dumps(what, indent=2))


COMMANDS: dict[str, Callable[..., int]] = {
    "build": build,
    "show": show,
    "export": export,
    "push": push,
    "verify": verify,
}
