"""The data set that ``recommit data build`` was asked for: a recipe, changed by flags, or flags alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.cli.requests import BOXES, WrongCall, span
from recommit.storage import errors

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.data.spec import DataSpec

#: Optimal lengths of a data set where nobody says them: those of the pages' examples.
LENGTHS = {"sliding": (8, 24), "sokoban": (8, 32)}


def several(path: Path | None, flags: dict[str, Any], *, others: bool) -> list[DataSpec]:
    """The specs of a recipe file whose variants have sizes of their own; none if they do not. ``others``: are flags
    set that say the same for all sizes?"""
    from recommit.data import sizes
    from recommit.data import spec as specs

    plain = specs.plain(path) if path else {}
    if not sizes.several(plain):
        return []
    if others or "size" in flags:
        raise errors.WrongDataSpec(f"expected none of --size --boxes --length --states with the sizes of {path}")
    return sizes.specs({**plain, **flags})


def one(
    path: Path | None,
    flags: dict[str, Any],
    boxes: tuple[int, ...],
    length: tuple[int, ...] | None,
    states: Path | None,
) -> DataSpec:
    """The spec of a recipe file, changed by flags, or of the flags alone."""
    from recommit.data.building import own_states
    from recommit.data.spec import DataSpec

    plain: dict[str, Any] = DataSpec.read(path).to_dict() if path else {}
    plain.update(flags)
    if states is not None:
        array = own_states.load(states)
        plain.update(states=own_states.sha256(array), count=len(array), size=list(array.shape[1:]), variants=[])
    elif length or boxes or not path:
        plain["variants"] = _difficulties(plain, boxes, _span(length))
    if missing := [name for name in ("task", "count") if name not in plain]:
        raise errors.WrongDataSpec(f"expected --recipe or --{' --'.join(missing)}")
    plain["size"] = _size(plain)
    spec = DataSpec.from_dict(plain)
    _check_boards(spec)
    return spec


def _span(length: tuple[int, ...] | None) -> tuple[int, ...]:
    try:
        return span(length)
    except WrongCall as error:
        raise errors.WrongDataSpec(str(error)) from None


def _size(plain: dict[str, Any]) -> list[int]:
    """Rows and columns; the usual ones of the puzzle if nothing says them."""
    from recommit.puzzles.registry import TASKS

    size = plain.get("size") or (list(TASKS[plain["task"]].usual.size) if plain["task"] in TASKS else [1])
    return [*size, *size] if len(size) == 1 else list(size)


def _difficulties(plain: dict[str, Any], boxes: tuple[int, ...], lengths: tuple[int, ...]) -> list[dict[str, Any]]:
    """A difficulty for each number of boxes; what no flag says is as in the recipe, or usual for the puzzle."""
    from recommit.puzzles.registry import TASKS

    kind, before = TASKS.get(plain.get("task", "")), plain.get("variants", [{}])
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
        raise errors.NotEnough(
            f"count: expected at most {there:,} instances, as many as there are {task.size_name} boards of these "
            f"lengths, got {wanted:,}"
        )


def at_least_one(**values: int) -> None:
    """Refuse numbers below 1."""
    for name, value in values.items():
        if value < 1:
            raise errors.WrongDataSpec(f"{name}: expected at least 1, got {value}")
