"""How a file is damaged: bits, bytes, values of trees and tables, texts that lead elsewhere."""

from __future__ import annotations

import copy
import json
import os
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import yaml

if TYPE_CHECKING:
    import random

#: Bounds are passed where values are strange, not where they are long.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 8, 9, 15, 64, 2**31, 2**63, -(2**63), 10**30, 0.0, -0.0, 0.5, 1e-9, 1e308,
    -1e308, float("nan"), float("inf"), "", " ", "1e-3", "nan", "1e999", "x", "\x1b[2J", "\u202e", "../x", "/",
    "a.b=c", "=", "adaptive", "fixed-4", "fixed-x", "sft", "x" * 5000, "\ud800", [], [[]], {}, {"": 0}, [None],
    [1, "a"], {"x": {"y": 1}}, b"\xff", [0] * 500, "*a", "&a", "!!set", "0x10", "1:30",
)  # fmt: skip
#: Put into the text of a file.
TOKENS = (
    "&a ", "*a", "<<: *a\n", "!!set ", "!!timestamp x", "!!int x", "!!binary x", "!!python/name:os.system ",
    "---\n", "...\n", "? ", ": ", "- ", "[", "]", "{", "}", '"', "'", "|\n", ">\n", "\t", "\n", "%YAML 9.9\n",
    "# ", "\x00", "\ufeff", "\u2028", "2026-99-99", ".nan", "0o9", "1_0", "9" * 5000, f"%YAML 1.{'9' * 5000}\n---\n",
)  # fmt: skip
#: Put into the bytes of one.
PARTS = (b"{", b"}", b'"', b"null", b"1e999", b"NaN", b"\x00", b"\xff\xff\xff\x7f", b"PAR1", b"\n", b"9" * 40, b"../")
#: Names that a program may look for in a folder, and behind whatever a file names.
LOOKED_FOR = (
    *("bashrc", "config.json", "best.json", "metrics.jsonl", "versions.json", "manifest.json", "heads.safetensors"),
    *(f"x{end}" for end in ("", ".txt", ".js", ".yaml", ".json", ".jsonl", ".parquet", ".safetensors", ".npy")),
)


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every mapping or list in a tree with every key of it."""
    inner = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    return [(tree, key) for key, _ in inner] + [place for _, each in inner for place in places(each)]


def texts(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where texts are in a tree."""
    if isinstance(tree, str):
        return [path]
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [found for key, each in inner for found in texts(each, (*path, key))]


def words_of(trees: list[Any]) -> list[str]:
    """All names in some trees."""
    named = (key for tree in trees for holder, key in places(tree) if isinstance(holder, dict))
    return sorted({key for key in named if isinstance(key, str)})


def elsewhere(victim: Any, folder: Any) -> dict[str, str]:
    """What a text becomes: places of the user's, in both ways to write them, and a repository."""
    near = os.path.relpath(victim, folder)
    places = {"folder": str(victim), "file": f"{victim}/x", "near": near, "near file": f"{near}/x"}
    return {**places, "repository": "evil/repository"}


def mutated(rng: random.Random, tree: Any, words: list[str]) -> Any:
    """A tree with a few changes that keep it a tree: values, names, places and depths."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        where = places(tree)
        if not where:
            return rng.choice(VALUES)
        holder, key = rng.choice(where)
        kind = rng.choice(["value", "value", "value", "neighbour", "lose", "name", "deeper", "twice", "up", "number"])
        if kind == "value":
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        elif kind == "neighbour":
            other, name = rng.choice(where)
            holder[key] = copy.deepcopy(other[name])
        elif kind == "lose":
            del holder[key]
        elif kind == "name" and isinstance(holder, dict):
            holder[rng.choice([*words, "", 1, None, True, f"{key}s", "x" * 300])] = holder.pop(key)
        elif kind == "deeper":
            for _ in range(rng.choice([1, 2, 40])):
                holder[key] = rng.choice([[holder[key]], {rng.choice(words): holder[key]}])
        elif kind == "twice" and isinstance(holder, list):
            holder += holder[: rng.randrange(1, 40)]
        elif kind == "up":
            tree = holder[key]
        elif kind == "number" and isinstance(holder[key], int | float):
            number = holder[key]
            holder[key] = rng.choice([-number, number * 1000, number / 3, str(number), [number]])
    return tree


def written(rng: random.Random, tree: Any, *, as_yaml: bool) -> bytes:
    """As YAML or JSON; sometimes with damage in the text, too."""
    try:
        text = yaml.safe_dump(tree, allow_unicode=True) if as_yaml and rng.random() < 0.7 else json.dumps(tree)
    except (yaml.YAMLError, TypeError, ValueError, RecursionError):
        text = repr(tree)
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(TOKENS) + text[at + rng.choice([0, 0, 1, 8]) :]
    whole = rng.random() < 0.97
    return (text if whole else text[: rng.randrange(len(text) + 1)]).encode("utf-8", "surrogatepass")


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Some bytes that are not quite the given ones: flipped, cut, doubled, joined with parts of the format."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, length = rng.randrange(len(found) + 1), rng.choice([1, 2, 8, 64])
        part = found[at : at + length]
        other = bytes(byte ^ (1 << rng.randrange(8)) for byte in part)
        found[at : at + length] = rng.choice([other, other, b"", part + part, rng.choice(PARTS), bytes(len(part))])
    return bytes(found[: rng.randrange(len(found) + 1)] if rng.random() < 0.1 else found)


def flipped(data: bytes, bit: int) -> bytes:
    """With another bit."""
    found = bytearray(data)
    found[bit >> 3] ^= 1 << (bit & 7)
    return bytes(found)


def table(rng: random.Random, whole: pa.Table) -> pa.Table:
    """A table with other values, types, columns or rows, as a stranger might have written it."""
    at = rng.randrange(whole.num_columns)
    field, values = whole.schema.field(at), whole.column(at).to_pylist()
    kind = rng.choice(["value", "value", "value", "values", "type", "lose", "again", "nothing", "rows"])
    if kind in ("value", "values"):
        some = range(len(values)) if kind == "values" else rng.sample(range(len(values)), min(len(values), 1))
        for i in some:
            values[i] = _another(rng, values[i])
        try:
            return whole.set_column(at, field.name, pa.array(values, field.type))
        except (pa.ArrowInvalid, OverflowError):  # beyond its numbers
            return whole
    if kind == "type":
        others = [list(map(str, values)), [0.5] * len(values), [b"x"] * len(values), [2**62] * len(values)]
        return whole.set_column(at, field.name, pa.array(rng.choice([*others, [[each] for each in values]])))
    if kind == "nothing":
        return whole.set_column(at, field.name, pa.nulls(len(values), field.type))
    if kind == "rows":
        many = pa.concat_tables([whole] * (1 + 20_000 // max(len(whole), 1)))
        return rng.choice([whole.slice(0, 0), whole.slice(0, 1), many])
    return whole.remove_column(at) if kind == "lose" else whole.append_column(field.name, whole.column(at))


def _another(rng: random.Random, value: Any) -> Any:
    """Of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([0, 1, 4, 8, 9, 15, 16, 100, -1, -3, 2**31 - 1, 2**62])
    if isinstance(value, float):
        return rng.choice([-1.0, 2.0, float("nan"), float("inf"), 1e30])
    if isinstance(value, str):
        return rng.choice(["", "x", "a/b", "a/-1", f"a/{'9' * 30}", f"a/{'9' * 5000}", "\x1b[2J", value * 2])
    if isinstance(value, list) and len(value) == 8:
        return rng.choice([[], [-1] * 8, [0] * 8, [4] * 8, [-2] * 8, [0] * 9, [-1, *value[1:]], value[::-1]])
    if isinstance(value, bytes):
        return rng.choice([b"", value[:-1], b"\xff" * len(value), bytes(len(value)), value[::-1]])
    return value
