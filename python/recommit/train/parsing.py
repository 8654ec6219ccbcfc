"""Configurations from plain values: nested mappings become frozen classes; what a class does not read is refused."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import types
import typing
from typing import Any

from recommit.storage.recipe_text import brief

#: The field by which a mapping says which of several classes it is of.
KIND = "group"


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
    hints, fields = _hints(cls), field_names(cls)  # type: ignore[arg-type]  # a class can be hashed
    if unknown := [str(key) for key in values if key not in fields]:
        raise ValueError(f"{name or 'recipe'}: expected fields of {', '.join(fields)}, got {', '.join(unknown)[:200]}")
    if absent := [field.name for field in dataclasses.fields(cls) if field.name not in values and _is_needed(field)]:
        raise ValueError(f"{name or 'recipe'}: expected a value of {', '.join(absent)}, got none")
    return cls(**{key: _value(hints[key], value, f"{name}.{key}".lstrip(".")) for key, value in values.items()})


@functools.cache  # which compiles every hint
def _hints(cls: type[Any]) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def field_names(cls: type[Any]) -> list[str]:
    """What a configuration class reads."""
    return [field.name for field in dataclasses.fields(cls)]


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


def listed(words: typing.Sequence[Any], last: str) -> str:
    """Words in a sentence: a, b or c."""
    *first, end = map(str, words)
    return f"{', '.join(first)} {last} {end}" if first else end


def mapping(values: Any, name: str) -> dict[str, Any]:
    """Refuse what is none."""
    if not isinstance(values, dict):
        raise ValueError(f"{name}: expected a mapping, got {type(values).__name__}")  # noqa: TRY004
    return values


def _value(hint: Any, value: Any, name: str) -> Any:
    """One value as its hint wants it; of several hints the one that fits."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if value is None and types.NoneType in options:
        return None
    classes = [option for option in options if dataclasses.is_dataclass(option)]
    if type(value) in classes:
        return value
    if classes:
        return parse(_class_of(classes, value, name), value, name)
    lists = [option for option in options if typing.get_origin(option) is tuple]
    if lists and (isinstance(value, list | tuple) or len(options) == 1):
        return _list(lists[0], value, name)
    (hint,) = [option for option in options if option not in (*lists, types.NoneType)]
    if typing.get_origin(hint) is dict:
        if not isinstance(value, dict):
            raise ValueError(f"{name}: expected a mapping, got {brief(value)}")
        return {key: _value(typing.get_args(hint)[1], each, f"{name}.{key}") for key, each in value.items()}
    return _scalar(hint, value, name)


def _class_of(classes: list[Any], values: Any, name: str) -> Any:
    """The one of several classes whose kind the values name, the first where they name none; refused is what it does
    not read and another does."""
    kinds = {getattr(cls, KIND, ""): cls for cls in classes}
    chosen = mapping(values, name).get(KIND, next(iter(kinds)))
    if not isinstance(chosen, str) or chosen not in kinds:
        raise ValueError(f"{name}.{KIND}: expected {listed(list(kinds), 'or')}, got {brief(chosen)}")
    for field, value in values.items():
        readers = [kind for kind, cls in kinds.items() if field in field_names(cls)]
        if readers and chosen not in readers:
            raise ValueError(
                f"{name}.{field}: expected no such field with {name}.{KIND} {chosen}, which does not read it "
                f"({listed(readers, 'and')} {'do' if readers[1:] else 'does'}), got {brief(value)}"
            )
    return kinds[chosen]


def parse_list(cls: type[Any], values: Any, name: str) -> tuple[Any, ...]:
    """Configurations of one class from a list of mappings."""
    return _list(tuple.__class_getitem__((cls, ...)), values, name)


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
