"""Parquet tables as a stranger might have written them: well-formed, with other values, types, columns or rows."""

from __future__ import annotations

import pyarrow as pa


def changed(rng, table):
    """The same table with other values, types, columns or rows."""
    at = rng.randrange(table.num_columns)
    field, values = table.schema.field(at), table.column(at).to_pylist()
    name = field.name
    kind = rng.choice(["value", "value", "value", "values", "type", "lose", "again", "nothing", "rows"])
    if kind in ("value", "values"):
        some = range(len(values)) if kind == "values" else rng.sample(range(len(values)), min(len(values), 1))
        for i in some:
            values[i] = another(rng, values[i])
        try:
            return table.set_column(at, name, pa.array(values, field.type))
        except (pa.ArrowInvalid, OverflowError):  # beyond its numbers
            return table
    if kind == "type":
        others = [list(map(str, values)), [0.5] * len(values), [b"x"] * len(values), [2**62] * len(values)]
        return table.set_column(at, name, pa.array(rng.choice([*others, [[each] for each in values]])))
    if kind == "nothing":
        return table.set_column(at, name, pa.nulls(len(values), field.type))
    if kind == "rows":
        return rng.choice(
            [table.slice(0, 0), table.slice(0, 1), pa.concat_tables([table] * (1 + 20_000 // max(len(table), 1)))]
        )
    return table.remove_column(at) if kind == "lose" else table.append_column(name, table.column(at))


def another(rng, value):
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
