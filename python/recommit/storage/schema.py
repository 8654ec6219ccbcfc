"""Frozen dataclasses as schemas for values from a file or the command line.

A schema lists all allowed fields with their types; anything else raises an error with the field, the expected and the
actual value.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import types
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.storage.recipe_text import brief, cut

if TYPE_CHECKING:
    from collections.abc import Sequence


def parse(cls: type[Any], values: Any, name: str = "", owner: str = "recipe", *, base: Any = None) -> Any:
    """Construct a dataclass from plain values, converting numbers and lists and refusing unknown names. Nested values
    may be dataclasses already. Missing fields come from ``base``, nested ones from their field's default."""
    values = mapping(values, name or owner)
    hints = hints_of(cls)  # type: ignore[arg-type] # classes are hashable
    fields = [field for field in dataclasses.fields(cls) if field.init]
    names = [field.name for field in fields]
    if unknown := [str(key) for key in values if key not in names]:
        raise ValueError(f"{name or owner}: expected fields of {', '.join(names)}, got {', '.join(unknown)[:200]}")
    if absent := [field.name for field in fields if field.name not in values and _is_required(field)]:
        raise ValueError(f"{name or owner}: expected a value of {', '.join(absent)}, got none")
    found = {}
    for field in fields:
        if field.name in values:
            path, default = f"{name}.{field.name}".lstrip("."), field.default_factory
            own = None if default is dataclasses.MISSING else default()
            found[field.name] = convert(hints[field.name], values[field.name], path, base=own)
    return cls(**found) if base is None else dataclasses.replace(base, **found)


def refuse(*rules: tuple[object, str, str, object]) -> None:
    """Raise for the first rule (violated, field, expected, actual) that is violated."""
    for holds, name, expected, got in rules:
        if holds:
            raise ValueError(f"{name}: expected {expected}, got {got}")


def check(owner: str, config: Any, **least: float) -> None:
    """Refuse values outside a ``Literal`` field's choices, and fields below their ``least`` value."""
    for name, hint in hints_of(type(config)).items():  # type: ignore[arg-type]
        if typing.get_origin(hint) is Literal:
            _choice(hint, getattr(config, name), f"{owner}.{name}")
    for name, bound in least.items():
        if getattr(config, name) < bound:
            raise ValueError(f"{owner}.{name}: expected at least {bound:g}, got {getattr(config, name)}")


def listed(words: Sequence[Any], last: str) -> str:
    """Join words as in a sentence: a, b or c."""
    *first, end = map(str, words)
    return f"{', '.join(first)} {last} {end}" if first else end


def mapping(values: Any, name: str) -> dict[str, Any]:
    """Refuse values that are not a mapping."""
    if not isinstance(values, dict):
        raise ValueError(f"{name}: expected a mapping, got {type(values).__name__}")  # noqa: TRY004
    return values


@functools.cache  # type hints are compiled on every call
def hints_of(cls: type[Any]) -> dict[str, Any]:
    """The types of a dataclass's fields by name."""
    return typing.get_type_hints(cls)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def convert(hint: Any, value: Any, name: str, *, base: Any = None) -> Any:
    """Convert a value to its type hint; for unions, to the first option that fits."""
    options = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    if type(value) in (types.NoneType, int, str) and type(value) in options:
        return value
    hint, *others = [option for option in options if option is not types.NoneType]
    if dataclasses.is_dataclass(hint):
        return value if type(value) is hint else parse(typing.cast("type[Any]", hint), value, name, base=base)
    for option in (hint, *others):
        if typing.get_origin(option) is tuple and (isinstance(value, list | tuple) or not others):
            return _list(option, value, name)
    if typing.get_origin(hint) is dict:
        each_hint = typing.get_args(hint)[1]
        return {key: convert(each_hint, each, f"{name}.{key}") for key, each in mapping(value, name).items()}
    return _choice(hint, value, name) if typing.get_origin(hint) is Literal else _scalar(hint, value, name)


def _list(hint: Any, value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name}: expected a list, got {brief(value)}")  # noqa: TRY004
    item, *rest = typing.get_args(hint)
    if rest != [...] and len(value) != 1 + len(rest):
        raise ValueError(f"{name}: expected {1 + len(rest)} values, got {brief(value)}")
    return tuple(
        convert(item, each, f"{name}[{i}]" if dataclasses.is_dataclass(item) else name) for i, each in enumerate(value)
    )


def _choice(hint: Any, value: Any, name: str) -> Any:
    choices = typing.get_args(hint)
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        got = cut(value, 80) if isinstance(value, str) and value else brief(value)
        raise ValueError(f"{name}: expected {listed(choices, 'or')}, got {got}")
    return value


def _scalar(hint: Any, value: Any, name: str) -> Any:
    if hint is float and isinstance(value, str | int) and not isinstance(value, bool):
        with contextlib.suppress(ValueError, OverflowError):
            value = float(value)  # YAML reads 1e-3 as text
    if hint is float and isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, got {value}")
    if hint in (int, float, bool, str, Path) and (
        not isinstance(value, hint) or (hint is int and isinstance(value, bool))
    ):
        raise ValueError(f"{name}: expected {hint.__name__}, got {brief(value)}")
    return value
