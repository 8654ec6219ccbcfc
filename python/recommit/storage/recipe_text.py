"""Parsing of recipes and presets: untrusted YAML, read in bounded time into plain values."""

from __future__ import annotations

import functools
import math
import os
import re
import reprlib
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

from recommit.storage import safe_open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Most characters of a text, and most values with aliases expanded. The largest recipe of this package has a few
#: hundred.
MOST_CHARACTERS, MOST_VALUES = 1 << 18, 10_000
#: Every LONG characters of a value count as one more value; also the most characters of an integer.
LONG = 100
#: Largest nesting depth.
DEEPEST = 32


def of_file(path: str | os.PathLike[str]) -> str:
    """Read a text file, after checking its size."""
    with safe_open.reading(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > 4 * MOST_CHARACTERS:
            raise ValueError(f"expected at most {4 * MOST_CHARACTERS:,} bytes, got {size:,}")
        try:
            return file.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"expected UTF-8, got another text: {error}") from None


def read(text: str) -> Any:
    """Parse YAML into dicts with string keys, lists, strings, numbers, booleans and None; else ``ValueError``."""
    return _apart(_values(text))


@functools.lru_cache(maxsize=256)  # a preset reads one recipe for each of its runs
def _values(text: str) -> Any:
    import yaml

    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"expected at most {MOST_CHARACTERS:,} characters, got {len(text):,}")
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        node = _plainly(loader.get_single_node)
        if node is None:
            return None
        _count(node, {}, ())
        value = _plainly(loader.construct_document, node)
    except RecursionError:
        raise ValueError(f"expected at most {DEEPEST} mappings and lists in each other, got more") from None
    except yaml.YAMLError as error:
        raise ValueError(f"expected YAML, got another text: {cut(str(error))}") from None
    finally:
        if loader is not None:
            loader.dispose()
    _check(value)
    return value


def _apart(value: Any) -> Any:
    """A deep copy, which the caller may modify."""
    if isinstance(value, dict):
        return {key: _apart(each) for key, each in value.items()}
    return [_apart(each) for each in value] if isinstance(value, list) else value


def _plainly(step: Callable[..., Any], *arguments: Any) -> Any:
    """Call a step of the YAML library, turning stray errors (wrong dates, long numbers) into ``ValueError``."""
    try:
        return step(*arguments)
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"expected YAML, got a value that cannot be one: {cut(str(error))}") from None


def cut(text: str, most: int = 2000) -> str:
    """Truncate a message."""
    return text if len(text) <= most else text[:most] + "..."


_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxlist, _SHORT.maxtuple = 4, 8, 8, 8
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 100


def brief(value: object, most: int = 80) -> str:
    """A truncated ``repr``, computed in bounded time."""
    return cut(_SHORT.repr(value), most)


def _count(node: Any, counts: dict[int, int], above: tuple[int, ...]) -> int:
    """Number of values of a node with aliases expanded; memoised per node, so fast for any text."""
    if id(node) in above:
        raise ValueError("expected values that end, got one that holds itself")
    if len(above) > DEEPEST:
        raise ValueError(f"expected at most {DEEPEST} mappings and lists in each other, got more")
    if node.tag.endswith(":int") and len(node.value) > LONG:  # long base-60 integers are slow to parse
        raise ValueError(f"expected whole numbers of at most {LONG} characters, got one of {len(node.value):,}")
    if id(node) not in counts:
        inner = node.value if isinstance(node.value, list) else []
        _refuse_twice([key.value for key, _ in inner if isinstance(key.value, str)] if node.id == "mapping" else [])
        parts = [part for each in inner for part in (each if isinstance(each, tuple) else (each,))]
        own = 1 + len(node.value) // LONG if not inner else 1
        counts[id(node)] = own + sum(_count(part, counts, (*above, id(node))) for part in parts)
    if counts[id(node)] > MOST_VALUES:
        raise ValueError(f"expected at most {MOST_VALUES:,} values, got aliases that make more of them")
    return counts[id(node)]


def _refuse_twice(names: list[str]) -> None:
    """Refuse duplicate keys: YAML would use the last value, while the first misleads a reader."""
    name, often = next(iter(Counter(names).most_common(1)), ("", 1))
    if often > 1:
        raise ValueError(f"expected every name once, got {brief(name)} {often} times")


def _check(value: object) -> None:
    """Refuse values without JSON equivalent: dates, sets, bytes, non-string keys, non-finite numbers."""
    if isinstance(value, dict):
        for key, each in value.items():
            if not isinstance(key, str):
                raise ValueError(f"expected text for keys, got {brief(key)}")  # noqa: TRY004
            _check(each)
    elif isinstance(value, list):
        for each in value:
            _check(each)
    elif isinstance(value, int) and value.bit_length() > 64:
        raise ValueError(f"expected whole numbers of 64 bits, got one of {value.bit_length():,}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"expected finite numbers, got {value}")
    elif not isinstance(value, str | int | float | None):
        raise ValueError(f"expected text, numbers, lists and mappings, got {type(value).__name__}: {brief(value)}")


def expanded(items: Any, values: dict[str, Any] | None = None) -> Iterator[str]:
    """Expand a list of commands; those under ``for`` are repeated for each combination of its values."""
    if not isinstance(items, list):
        raise ValueError(f"expected a list of commands, got {brief(items)}")  # noqa: TRY004
    for item in items:
        if isinstance(item, str):
            yield re.sub(r"\{(\w+)\}", lambda match: str((values or {}).get(match[1], match[0])), item)
            continue
        if not isinstance(item, dict) or set(item) != {"for", "do"} or not isinstance(item["for"], dict):
            wanted = "expected a command, or for: {NAME: [VALUE, ...]} and do: [COMMAND, ...]"
            raise ValueError(f"{wanted}, got {brief(item)}")
        choices = [value if isinstance(value, list) else [value] for value in item["for"].values()]
        for chosen in product(*choices):
            yield from expanded(item["do"], {**(values or {}), **dict(zip(item["for"], chosen, strict=True))})
