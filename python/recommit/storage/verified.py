"""Finished files, read by whoever uses them: checked against their digests, and never a surprise in their place.

    FOLDER/DIGESTS    its own sha256, then the sha256 of files of the folder by name

A file that is to change is left out of the list first and comes back into it last: no crash leaves a list that does not
fit. Whatever is wrong -- no file, a pipe, other bytes, no JSON, a field that is missing -- is one sentence that names
the file.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from recommit.storage import errors, files, safe_open

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recommit.storage.files import Files

    #: Expected fields by name, and what each may be: one of some types, or fields again, or a list of such.
    Fields = Mapping[str, Any]

NUMBER = (int, float)
PERHAPS = (int, float, type(None))
DIGESTS = "DIGESTS"
#: Bytes of JSON that are read.
MOST_TEXT = 1 << 30
_ON_PURPOSE = f"if it was changed on purpose, remove {DIGESTS}"


def checkable(text: str) -> bytes:
    """A line with its own sha256 in front, so that ``checked`` notices any other byte."""
    return f"{files.sha256(text.encode())} {text}\n".encode()


def checked(line: bytes) -> bytes | None:
    """The text of a line that ``checkable`` made; None if it is not as it was."""
    digest, _, text = line.partition(b" ")
    return text if digest.decode("ascii", "replace") == files.sha256(text) else None


def digests(folder: Path) -> dict[str, str]:
    """sha256 by name; nothing of a folder that has no digests."""
    path = folder / DIGESTS
    if not os.path.lexists(path):
        return {}
    try:
        text = checked(safe_open.content(path, MOST_TEXT).removesuffix(b"\n"))
    except OSError as error:
        raise errors.Damaged(f"{path}: cannot be read: {error.strerror}") from None
    if text is None:
        raise errors.Damaged(f"{path}: its own sha256 does not fit; without it the folder is read unchecked")
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, dict) or not all(isinstance(digest, str) for digest in listed.values()):
        raise errors.Damaged(f"{path}: expected sha256 by name, got something else")
    if outside := [name for name in listed if leads_out(name)]:
        raise errors.Damaged(f"{path}: expected names of files of the folder, got {outside[0]!r:.80}")
    return listed


def leads_out(name: str) -> bool:
    """Is a name that a file of a folder has for another one no name within the folder?"""
    return PurePath(name).is_absolute() or ".." in PurePath(name).parts


def inside(folder: Path, name: str) -> Path:
    """A folder within another, one of whose files names it. A stranger's might lead elsewhere, by its name or over a
    link, and what is there would be taken for a part of what he gave."""
    path = folder / name
    if leads_out(name) or not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise errors.WrongFolder(f"{folder}: expected a name in it, got {name!r:.80}, which leads elsewhere")
    return path


def write_digests(work: Files, folder: Path, listed: Mapping[str, str]) -> None:
    """Replace the list."""
    files.replace(work, folder / DIGESTS, checkable(json.dumps(listed, sort_keys=True)))


def seal(work: Files, folder: Path, names: Iterable[str]) -> None:
    """List these files as they are."""
    write_digests(work, folder, {name: files.file_sha256(folder / name) for name in names})


def verify(folder: Path, names: Iterable[str] | None = None) -> int:
    """Check the files on the list, or those of ``names`` that are; how many."""
    every = digests(folder)
    listed = every if names is None else {name: every[name] for name in names if name in every}
    for name, wanted in listed.items():
        try:
            same = files.file_sha256(folder / name) == wanted
        except OSError as error:
            raise errors.Damaged(f"{folder / name}: cannot be read: {error.strerror}") from None
        if not same:
            raise another(folder / name)
    return len(listed)


def another(path: Path) -> errors.Damaged:
    """The error for a file that holds something else."""
    return errors.Damaged(f"{path}: expected what was written there, got other bytes; {_ON_PURPOSE}")


def exists(folder: Path, name: str) -> bool:
    """Is anything by this name in the folder, or should it be? Whether it can be read is another question."""
    return os.path.lexists(folder / name) or name in digests(folder)


def content(folder: Path, name: str, most: int = -1) -> bytes:
    """All bytes of a file, of at most so many. A part of its name may be a stranger's word: it leads nowhere else."""
    path = folder / name
    if leads_out(name):
        raise errors.Damaged(f"{folder}: expected names of files of the folder, got {name!r:.80}")
    try:
        data = safe_open.content(path, most)
    except FileNotFoundError:
        raise errors.Damaged(f"{path}: expected a file, got none") from None
    except OSError as error:
        raise errors.Damaged(f"{path}: cannot be read: {error.strerror}") from None
    if digests(folder).get(name, wanted := files.sha256(data)) != wanted:
        raise another(path)
    return data


def values(folder: Path, name: str, fields: Fields | None = None) -> dict[str, Any]:
    """The JSON object of a file, with at least these fields."""
    value = parsed(folder / name, content(folder, name, MOST_TEXT))
    expect(folder / name, value, dict(fields or {}))
    return value  # type: ignore[no-any-return]


def rows(folder: Path, name: str, fields: Fields | None = None) -> list[dict[str, Any]]:
    """The JSON objects in the list of a file, each with at least these fields."""
    listed = parsed(folder / name, content(folder, name, MOST_TEXT))
    expect(folder / name, listed, [dict(fields or {})])
    return listed  # type: ignore[no-any-return]


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    """The JSON objects of a file, one per line; a last line that is being written is left out."""
    path, every = folder / name, content(folder, name, MOST_TEXT).split(b"\n")
    last = every.pop()
    records = [parsed(path, line) for line in every if line]
    records += [parsed(path, last)] if last.endswith(b"}") else []
    for line in records:
        expect(path, line, {})
    return records


def parsed(path: Path, data: bytes) -> Any:
    """What the JSON of a file says."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise errors.Damaged(f"{path}: expected JSON, got another text: {error}") from None


def alike(one: Any, other: Any) -> bool:
    """Are plain values the same, but for the last digits of numbers? Processors add up in other orders."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(value, other[name]) for name, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def expect(path: Path, data: Any, wanted: Any, name: str = "") -> None:
    """Refuse what is not as wanted: an object of at least these fields, a list of these, or one of some types."""
    if isinstance(wanted, dict | list):
        _is(path, data, type(wanted), name)
        inner = (
            ((key, data.get(key, ...), wanted[key]) for key in wanted)
            if isinstance(wanted, dict)
            else ((str(number), each, wanted[0]) for number, each in enumerate(data))
        )
        for key, value, kind in inner:
            expect(path, value, kind, f"{name}.{key}" if name else key)
    else:
        _is(path, data, wanted, name)


def _is(path: Path, data: Any, kinds: type | tuple[type, ...], name: str) -> None:
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(data, allowed) or (isinstance(data, bool) and bool not in allowed):  # true is no number
        words = " or ".join(_WORDS[kind] for kind in allowed)
        raise errors.Damaged(f"{path}: {name + ': ' if name else ''}expected {words}, got {_kind(data)}")
    if isinstance(data, int | float) and not abs(data) <= sys.float_info.max:  # NaN is not, nor what no float holds
        raise errors.Damaged(f"{path}: {name}: expected a finite number, got {data!r:.80}")


_WORDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "nothing",
}


def _kind(value: Any) -> str:
    return "no such field" if value is ... else _WORDS[type(value)]
