"""Files and records that show whether they are what was written: the one checker of all JSON that the package reads.

A line has its own sha256 in front (``checkable``), a record has that of its other fields among them (``sealed``), and a
folder those of its files:

    FOLDER/DIGESTS    a checkable line, the sha256 of files of the folder by name

A file that is to change is left out of the list first and comes back into it last: no crash leaves a list that does not
fit. Whatever is wrong -- no file, a pipe, other bytes, no JSON, a field that is missing or out of bounds -- is one
sentence that names the file.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from recommit.storage import errors, files, safe_open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from recommit.storage.files import Files

    #: Expected fields by name, and what each may be: see ``expect``.
    Fields = Mapping[Any, Any]

NUMBER = (int, float)
PERHAPS = (int, float, type(None))
DIGESTS = "DIGESTS"
#: Bytes of JSON that are read.
MOST_TEXT = 1 << 30
_ON_PURPOSE = f"if it was changed on purpose, remove {DIGESTS}"


class Where(NamedTuple):
    """A value of some kind that passes a test, whose ``words`` follow "expected"."""

    kind: Any
    test: Callable[[Any], object]
    words: str


def exactly(value: Any) -> Where:
    """This value alone."""
    return Where(type(value), value.__eq__, repr(value))


def within(low: float, high: float = math.inf, kind: Any = int) -> Where:
    """A number from ``low`` to ``high``, both included."""
    words = f"{low:,}..{high:,}" if high < math.inf else f"{low:,} or more"
    return Where(kind, lambda value: low <= value <= high, words)


def expect(path: Path, data: Any, wanted: Any, name: str = "") -> None:
    """Refuse what is not as wanted: a value of one of some types (an int is no bool, and numbers are finite), an object
    of at least these fields, a list of one kind, or ``Where``. The key ``...`` stands for all other fields of an
    object, and ``()`` for no type at all."""
    kind = wanted.kind if isinstance(wanted, Where) else wanted
    types = type(kind) if isinstance(kind, dict | list) else kind
    types = types if isinstance(types, tuple) else (types,)
    words, inner = " or ".join(_WORDS[each] for each in types) or "no such field", list[tuple[str, Any, Any]]()
    if right := type(data) in types:
        if isinstance(data, int | float):  # NaN is not finite, nor what no float holds
            words, right = "a finite number", abs(data) <= sys.float_info.max
        elif isinstance(kind, dict):
            inner = [(key, data.get(key, ...), each) for key, each in kind.items() if key is not ...]
            inner += [(key, data[key], kind[...]) for key in data if ... in kind and key not in kind]
        elif isinstance(kind, list):
            inner = [(str(number), each, kind[0]) for number, each in enumerate(data)]
        for key, value, each in inner:
            expect(path, value, each, f"{name}.{key:.80}".removeprefix("."))
        if right and isinstance(wanted, Where):
            words, right = wanted.words, bool(wanted.test(data))
    if not right:
        got = f"{data!r:.80}" if type(data) in types else "no such field" if data is ... else _WORDS[type(data)]
        raise errors.Damaged(f"{path}: {name + ': ' if name else ''}expected {words}, got {got}")


_WORDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "nothing",
}


def parsed(path: Path, data: bytes) -> Any:
    """The value in the JSON of a file."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise errors.Damaged(f"{path}: expected JSON, got another text: {error}") from None


def alike(one: Any, other: Any, slack: float = 1e-9) -> bool:
    """True if plain values are the same but for the last digits of numbers: processors add up in other orders."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=slack, abs_tol=slack / 1000) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(value, other[name], slack) for name, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(alike(*pair, slack) for pair in zip(one, other, strict=True))
    return bool(one == other)


def digest(values: Mapping[str, Any], name: str = "sha256") -> str:
    """sha256 of a record's fields but the one that holds it."""
    rest = {key: value for key, value in values.items() if key != name}
    return files.sha256(json.dumps(rest, sort_keys=True).encode())


def record(
    path: Path, data: bytes, fields: Fields, text: Callable[[Any], str] | None = None, name: str = "sha256"
) -> dict[str, Any]:
    """The record in the bytes of a file: its digest fits, it has these fields, and where ``text`` spells records it is
    spelled like that."""
    values = parsed(path, data)
    expect(path, values, {name: str})
    try:
        whole = digest(values, name) == values[name] and (text is None or text(values).encode() == data)
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise errors.Damaged(f"{path}: expected what was written there, got other bytes: its {name} does not fit")
    expect(path, values, fields)
    return values


def checkable(text: str) -> bytes:
    """A line with its own sha256 in front, so that ``checked`` notices any other byte."""
    return f"{files.sha256(text.encode())} {text}\n".encode()


def checked(line: bytes) -> bytes | None:
    """The text of a line that ``checkable`` made; None if it is not as it was."""
    front, _, text = line.partition(b" ")
    return text if front.decode("ascii", "replace") == files.sha256(text) else None


def digests(folder: Path) -> dict[str, str]:
    """sha256 by name; nothing of a folder that has no digests."""
    path = folder / DIGESTS
    if not os.path.lexists(path):
        return {}
    text = checked(_content(path, MOST_TEXT).removesuffix(b"\n"))
    if text is None:
        raise errors.Damaged(f"{path}: its own sha256 does not fit; without it the folder is read unchecked")
    listed: dict[str, str] = parsed(path, text)
    expect(path, listed, {...: str})
    if outside := [name for name in listed if leads_out(name)]:
        raise errors.Damaged(f"{path}: expected names of files of the folder, got {outside[0]!r:.80}")
    return listed


def leads_out(name: str) -> bool:
    """True if the path escapes the folder (absolute, or contains ``..``)."""
    return PurePath(name).is_absolute() or ".." in PurePath(name).parts


def inside(folder: Path, name: str) -> Path:
    """A folder within another, named by one of its files; a name or a link that leads elsewhere is refused."""
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
    """True if something by this name is in the folder or on its list, readable or not."""
    return os.path.lexists(folder / name) or name in digests(folder)


def content(folder: Path, name: str, most: int = -1) -> bytes:
    """All bytes of a file within the folder, at most ``most``."""
    path = folder / name
    if leads_out(name):
        raise errors.Damaged(f"{folder}: expected names of files of the folder, got {name!r:.80}")
    data = _content(path, most)
    if digests(folder).get(name, wanted := files.sha256(data)) != wanted:
        raise another(path)
    return data


def _content(path: Path, most: int) -> bytes:
    try:
        return safe_open.content(path, most)
    except FileNotFoundError:
        raise errors.Damaged(f"{path}: expected a file, got none") from None
    except OSError as error:
        raise errors.Damaged(f"{path}: cannot be read: {error.strerror}") from None


def values(folder: Path, name: str, fields: Fields | None = None) -> dict[str, Any]:
    """The JSON object of a file, with at least these fields."""
    value = parsed(folder / name, content(folder, name, MOST_TEXT))
    expect(folder / name, value, dict(fields or {}))
    return value


def rows(folder: Path, name: str, fields: Fields | None = None) -> list[dict[str, Any]]:
    """The JSON objects in the list of a file, each with at least these fields."""
    listed = parsed(folder / name, content(folder, name, MOST_TEXT))
    expect(folder / name, listed, [dict(fields or {})])
    return listed


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    """The JSON objects of a file, one per line; a last line that is being written is left out."""
    path, every = folder / name, content(folder, name, MOST_TEXT).split(b"\n")
    last = every.pop()
    records = [parsed(path, line) for line in every if line]
    records += [parsed(path, last)] if last.endswith(b"}") else []
    for line in records:
        expect(path, line, {})
    return records
