"""Files and records with checksums, and the validation of all JSON that the package reads.

A line is prefixed by its sha256 (``checkable``), a record contains that of its other fields (``record``), and a folder
has those of its files:

    FOLDER/DIGESTS    a checkable line, the sha256 of files of the folder by name

A file that will change is removed from the list first and added again last, so that no crash leaves a wrong digest. Any
defect (a missing file, a pipe, other bytes, no JSON, a missing or out-of-range field) raises one sentence that names
the file.
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

    #: Expected fields and their kinds: see ``expect``.
    Fields = Mapping[Any, Any]

NUMBER = (int, float)
PERHAPS = (int, float, type(None))
DIGESTS = "DIGESTS"
#: Largest JSON file that is read.
MOST_TEXT = 1 << 30
_ON_PURPOSE = f"if it was changed on purpose, remove {DIGESTS}"


class Where(NamedTuple):
    """A value of some kind that passes a test; ``words`` follow "expected" in the error message."""

    kind: Any
    test: Callable[[Any], object]
    words: str


def exactly(value: Any) -> Where:
    """Expect exactly this value."""
    return Where(type(value), value.__eq__, repr(value))


def within(low: float, high: float = math.inf, kind: Any = int) -> Where:
    """Expect a number from ``low`` to ``high``, both inclusive."""
    words = f"{low:,}..{high:,}" if high < math.inf else f"{low:,} or more"
    return Where(kind, lambda value: low <= value <= high, words)


def expect(path: Path, data: Any, wanted: Any, name: str = "") -> None:
    """Raise ``Damaged`` unless ``data`` matches ``wanted``: a type or tuple of types (a bool is not an int, and numbers
    must be finite), a dict of at least these fields, a list of one kind, or ``Where``. The key ``...`` stands for all
    other fields, and the kind ``()`` allows none."""
    kind = wanted.kind if isinstance(wanted, Where) else wanted
    types = type(kind) if isinstance(kind, dict | list) else kind
    types = types if isinstance(types, tuple) else (types,)
    words, inner = " or ".join(_WORDS[each] for each in types) or "no such field", list[tuple[str, Any, Any]]()
    if right := type(data) in types:
        if isinstance(data, int | float):  # excludes NaN, and integers beyond floats
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
    """Parse a file's JSON; ``path`` is for the error message."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise errors.Damaged(f"{path}: expected JSON, got another text: {error}") from None


def alike(one: Any, other: Any, slack: float = 1e-9) -> bool:
    """True if plain values are equal up to rounding: processors sum in different orders."""
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
    """sha256 of a record's fields, without the field that holds it."""
    rest = {key: value for key, value in values.items() if key != name}
    return files.sha256(json.dumps(rest, sort_keys=True).encode())


def record(
    path: Path, data: bytes, fields: Fields, text: Callable[[Any], str] | None = None, name: str = "sha256"
) -> dict[str, Any]:
    """Parse a record and check its digest and fields; with ``text``, also that its bytes are the canonical
    ``text(record)``."""
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
    """A line prefixed by its sha256, for ``checked``."""
    return f"{files.sha256(text.encode())} {text}\n".encode()


def checked(line: bytes) -> bytes | None:
    """The text of a line made by ``checkable``; None if it was changed."""
    front, _, text = line.partition(b" ")
    return text if front.decode("ascii", "replace") == files.sha256(text) else None


def digests(folder: Path) -> dict[str, str]:
    """The sha256 of listed files by name; empty for a folder without digests."""
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
    """A subfolder by a name from an untrusted file; refuses names and links that lead out of ``folder``."""
    path = folder / name
    if leads_out(name) or not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise errors.WrongFolder(f"{folder}: expected a name in it, got {name!r:.80}, which leads elsewhere")
    return path


def write_digests(work: Files, folder: Path, listed: Mapping[str, str]) -> None:
    """Replace the list of digests."""
    files.replace(work, folder / DIGESTS, checkable(json.dumps(listed, sort_keys=True)))


def seal(work: Files, folder: Path, names: Iterable[str]) -> None:
    """Write the digests of these files."""
    write_digests(work, folder, {name: files.file_sha256(folder / name) for name in names})


def verify(folder: Path, names: Iterable[str] | None = None) -> int:
    """Check the listed files, or those among ``names``; returns their number."""
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
    """The error for a file with changed content."""
    return errors.Damaged(f"{path}: expected what was written there, got other bytes; {_ON_PURPOSE}")


def exists(folder: Path, name: str) -> bool:
    """True if the name exists in the folder or on its list, readable or not."""
    return os.path.lexists(folder / name) or name in digests(folder)


def content(folder: Path, name: str, most: int = -1) -> bytes:
    """The content of a file in the folder, at most ``most`` bytes, checked against its digest if listed."""
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
    """Read a JSON object with at least these fields from a file."""
    value = parsed(folder / name, content(folder, name, MOST_TEXT))
    expect(folder / name, value, dict(fields or {}))
    return value


def rows(folder: Path, name: str, fields: Fields | None = None) -> list[dict[str, Any]]:
    """Read a JSON list of objects, each with at least these fields, from a file."""
    listed = parsed(folder / name, content(folder, name, MOST_TEXT))
    expect(folder / name, listed, [dict(fields or {})])
    return listed


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    """Read JSON objects from a file, one per line; an incomplete last line is dropped."""
    path, every = folder / name, content(folder, name, MOST_TEXT).split(b"\n")
    last = every.pop()
    records = [parsed(path, line) for line in every if line]
    records += [parsed(path, last)] if last.endswith(b"}") else []
    for line in records:
        expect(path, line, {})
    return records
