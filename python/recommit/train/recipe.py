"""Recipes: one YAML file per experiment with a section per stage; ``parse`` makes frozen configurations of its values.

``recommit.train.config.load`` does both, with changes as ``--set`` has them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import types
import typing
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.storage import recipe_text
from recommit.storage.recipe_text import brief

if TYPE_CHECKING:
    from collections.abc import Sequence


def recipes() -> list[str]:
    """Names of the recipes in this package."""
    return sorted(p.name.removesuffix(".yaml") for p in folder().iterdir() if p.name.endswith(".yaml"))


def folder() -> Any:
    """Where the recipes of this package lie."""
    return files("recommit") / "recipes"


def section(recipe: str | Path, stage: str) -> dict[str, Any]:
    """What a recipe says of a stage; empty if it says nothing."""
    whole = _whole(recipe)
    if not isinstance(whole, dict) or not isinstance(whole.get(stage) or {}, dict):
        raise ValueError(f"recipe: expected a mapping with the stage {stage}, got {type(whole).__name__} in {recipe}")  # noqa: TRY004
    return whole.get(stage) or {}


def tasks(recipe: str | Path) -> tuple[str, ...]:
    """The puzzles that a recipe was made for; empty if it does not say."""
    whole = _whole(recipe)
    return tuple(whole.get("tasks", ())) if isinstance(whole, dict) else ()


def _whole(recipe: str | Path) -> Any:
    named = folder() / f"{recipe}.yaml"
    if not named.is_file() and not Path(recipe).is_file():
        raise ValueError(f"recipe: expected a file or one of {', '.join(recipes())}, got {recipe}")
    text = named.read_text(encoding="utf-8") if named.is_file() else Path(recipe).read_text(encoding="utf-8")
    try:
        return recipe_text.read(text) or {}
    except ValueError as error:
        raise ValueError(f"recipe: {error} in {recipe}") from None


def plain(config: Any) -> dict[str, Any]:
    """JSON values of a configuration."""
    result: dict[str, Any] = dataclasses.asdict(config)
    return result


def parse(cls: type[Any], values: Any, name: str = "") -> Any:
    """A configuration from plain values: unknown names refused, numbers and lists converted.

    A class may have ``completed``, which makes of the values of a recipe those of its fields. Nested configurations may
    be there already.
    """
    values = mapping(values, name or "recipe")
    if hasattr(cls, "completed"):
        values = cls.completed(values)
    hints, fields = _hints(cls), dataclasses.fields(cls)  # type: ignore[arg-type]  # a class can be hashed
    names = [field.name for field in fields]
    if unknown := [str(key) for key in values if key not in names]:
        raise ValueError(f"{name or 'recipe'}: expected fields of {', '.join(names)}, got {', '.join(unknown)[:200]}")
    if absent := [field.name for field in fields if field.name not in values and _is_required(field)]:
        raise ValueError(f"{name or 'recipe'}: expected a value of {', '.join(absent)}, got none")
    return cls(**{key: _value(hints[key], value, f"{name}.{key}".lstrip(".")) for key, value in values.items()})


def parse_list(cls: type[Any], values: Any, name: str) -> tuple[Any, ...]:
    """Configurations of one class from a list of mappings."""
    return _list(tuple.__class_getitem__((cls, ...)), values, name)


def check_least(owner: str, config: Any, **least: float) -> None:
    """Refuse fields below their ``least`` value."""
    for name, bound in least.items():
        if getattr(config, name) < bound:
            raise ValueError(f"{owner}.{name}: expected at least {bound:g}, got {getattr(config, name)}")


def check_choices(owner: str, config: Any) -> None:
    """Refuse values that a ``Literal`` field does not name."""
    for name, hint in _hints(type(config)).items():  # type: ignore[arg-type]
        choices = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
        if choices and getattr(config, name) not in choices:
            raise ValueError(f"{owner}.{name}: expected {listed(choices, 'or')}, got {getattr(config, name)}")


def listed(words: Sequence[Any], last: str) -> str:
    """Words in a sentence: a, b or c."""
    *first, end = map(str, words)
    return f"{', '.join(first)} {last} {end}" if first else end


def mapping(values: Any, name: str) -> dict[str, Any]:
    """Refuse what is none."""
    if not isinstance(values, dict):
        raise ValueError(f"{name}: expected a mapping, got {type(values).__name__}")  # noqa: TRY004
    return values


@functools.cache  # since every hint is compiled
def _hints(cls: type[Any]) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _value(hint: Any, value: Any, name: str) -> Any:
    """One value as its hint wants it; of several hints the one that fits."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if value is None and types.NoneType in options:
        return None
    hint, *others = [option for option in options if option is not types.NoneType]
    if dataclasses.is_dataclass(hint):
        return value if type(value) is hint else parse(typing.cast("type[Any]", hint), value, name)
    for option in (hint, *others):
        if typing.get_origin(option) is tuple and (isinstance(value, list | tuple) or not others):
            return _list(option, value, name)
    if typing.get_origin(hint) is dict:
        each_hint = typing.get_args(hint)[1]
        return {key: _value(each_hint, each, f"{name}.{key}") for key, each in mapping(value, name).items()}
    return _scalar(hint, value, name)


def _list(hint: Any, value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name}: expected a list, got {brief(value)}")  # noqa: TRY004
    item, *rest = typing.get_args(hint)
    if rest != [...] and len(value) != 1 + len(rest):
        raise ValueError(f"{name}: expected {1 + len(rest)} values, got {brief(value)}")
    return tuple(
        _value(item, each, f"{name}[{i}]" if dataclasses.is_dataclass(item) else name) for i, each in enumerate(value)
    )


def _scalar(hint: Any, value: Any, name: str) -> Any:
    if hint is float and isinstance(value, str | int) and not isinstance(value, bool):
        with contextlib.suppress(ValueError):
            value = float(value)  # YAML reads 1e-3 as text
    if hint is float and isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, got {value}")
    if hint in (int, float, bool, str) and (not isinstance(value, hint) or (hint is int and isinstance(value, bool))):
        raise ValueError(f"{name}: expected {hint.__name__}, got {brief(value)}")
    return value
