"""What the page asks of the scores of a puzzle: rows of a setting, and the best rule that validation chooses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from recommit.reproduce.compare.played import FIXED, HEAD, MEMORY, SHARED
from recommit.reproduce.compare.sources import OURS

Row = dict[str, Any]


@dataclass(frozen=True)
class ScoredSetting:
    """A number of looks at most, and the prices."""

    budget: int
    price_action: float
    price_observation: float

    @property
    def looks(self) -> float:
        """The price of a look, in actions; 0 where nothing has a price."""
        return self.price_observation / self.price_action if self.price_action else 0.0

    def label(self) -> str:
        """In a table."""
        return f"K = {self.budget}, {f'{self.looks:g}' if self.looks else 'no prices'}"

    def of(self, rows: list[Row]) -> list[Row]:
        """Those under this setting."""
        own = (self.budget, self.price_action, self.price_observation)
        return [row for row in rows if (row["budget"], row["price_action"], row["price_observation"]) == own]


def settings(scores: dict[str, Any]) -> list[ScoredSetting]:
    """All of a puzzle."""
    return [ScoredSetting(**each) for each in scores["settings"]]


def has_memory(row: Row) -> bool:
    """Is it a rule with a memory?"""
    return str(row["rule"]).endswith(MEMORY)


def is_head(row: Row) -> bool:
    """Is it a policy's own depth head?"""
    return str(row["rule"]).removesuffix(MEMORY) == HEAD


def head(rows: list[Row], *, memory: bool = False) -> Row:
    """Our head on our own plans."""
    name = HEAD + (MEMORY if memory else "")
    own = [row for row in rows if row["source"] == OURS and row["rule"] == name]
    if not own:
        raise ValueError(f"rows: expected one of {name} on plans of {OURS}, got none")
    return own[0]


def untrained(rows: list[Row], *, memory: bool = False, source: str = "") -> list[Row]:
    """All rules that are no head, with thresholds of their own budget; of one source or of all."""
    return [
        row
        for row in rows
        if not is_head(row) and row["chosen"] != SHARED and has_memory(row) == memory and source in ("", row["source"])
    ]


def best(rows: list[Row], *, memory: bool = False, source: str = "") -> Row | None:
    """The rule without training that is worth most on validation instances; the first of equals."""
    return max(untrained(rows, memory=memory, source=source), key=lambda row: row["validation"], default=None)


def same_rule(rows: list[Row], wanted: Row) -> Row | None:
    """The row of the same rule on the same plans, as in another setting or with a shared threshold."""
    alike = [row for row in rows if (row["source"], row["rule"]) == (wanted["source"], wanted["rule"])]
    return next(iter(alike), None)


def rule_words(row: Row) -> str:
    """The rule with its parameters, which may differ by seed."""
    name = str(row["rule"])
    if row["parameters"] is None:
        return name
    numbers = ", ".join(f"{each:.3g}" for each in dict.fromkeys(row["parameters"]))
    return name.replace(FIXED, f"always {numbers}") if name.startswith(FIXED) else f"{name} ({numbers})"


def as_json(scores: dict[str, Any]) -> str:
    """Scores as text: the rows of a table as lists below the names of their columns, null where a row has none."""
    tables = {f"rows.{name}": rows for name, rows in scores["rows"].items()} | {"split": scores["split"]}
    rest = {name: value for name, value in scores.items() if name not in ("rows", "split")}
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in rest.items()]
    for name, rows in tables.items():
        columns = list(dict.fromkeys(key for row in rows for key in row))
        lines = [json.dumps([row.get(key) for key in columns], separators=(",", ":")) for row in rows]
        parts.append(f"{json.dumps(name)}: [\n" + ",\n".join([json.dumps(columns), *lines]) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def of_json(text: str) -> dict[str, Any]:
    """The scores of such a text."""
    values, rows = json.loads(text), {}
    for name in [name for name in values if name.startswith("rows.")]:
        rows[name.removeprefix("rows.")] = _dicts(values.pop(name))
    return {**values, "rows": rows, "split": _dicts(values["split"])}


def _dicts(table: list[list[Any]]) -> list[Row]:
    columns, *rows = table
    return [dict(zip(columns, row, strict=True)) for row in rows]
