"""Checks that a folder is ours and is resumed with the configuration that began it, with error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.storage import errors, verified

if TYPE_CHECKING:
    from pathlib import Path


#: Most differences named in a message, and most characters of a value.
SHOWN, LONGEST = 4, 60
_REMEDY = "; take another --out, or the flags of before"


def check(folder: Path, before: Any, now: Any) -> None:
    """Refuse to resume a folder that was begun with ``before`` with a different ``now``."""
    if changed := differences(before, now):
        shown = ", ".join(changed[:SHOWN]) + (f" and {len(changed) - SHOWN} more" if changed[SHOWN:] else "")
        raise errors.WrongFolder(f"{folder}: the folder belongs to another run: {shown}{_REMEDY}")


def refuse_foreign(folder: Path, marks: tuple[str, ...], work: str) -> None:
    """Refuse a folder with foreign files, or a file, before ``work`` begins.

    Our folders contain one of the ``marks``. Hidden files and digests do not count: a killed command may have written
    nothing else.
    """
    if not folder.is_dir():
        if folder.exists():
            raise errors.WrongFolder(f"{folder}: expected a folder or nothing there, got a file")
        return
    shown = (entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    names = sorted(name for name in shown if name != verified.DIGESTS)
    if names and not set(names) & set(marks):
        raise errors.WrongFolder(
            f"{folder}: expected a new or empty folder, or that of {work}; got one with {names[0]}"
        )


def differences(before: Any, now: Any, name: str = "") -> list[str]:
    """Descriptions of the fields that differ, with both values; a missing field equals None."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = sorted(before.keys() | now.keys())
        each = (differences(before.get(key), now.get(key), f"{name}.{key}".lstrip(".")) for key in keys)
        return [one for several in each for one in several]
    if before == now:
        return []
    words = [_word(before), _word(now)]
    begins = [word if len(word) <= LONGEST else f"{word[:LONGEST]}..." for word in words]
    was, is_ = words if begins[0] == begins[1] else begins
    return [f"{name} was {was}, is {is_}"]


def _word(value: Any) -> str:
    return "unset" if value is None else repr(value)
