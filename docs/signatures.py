"""What the API pages would not show by themselves: options that are unpacked from a typed dictionary, with the defaults
of the base class, and ``#:`` comments, as the descriptions of what they stand beside."""

from __future__ import annotations

import re
from typing import Any

import griffe

UNPACKED = re.compile(r"Unpack\[(\w+)\]")


class Signatures(griffe.Extension):
    """Runs over the package once it is read, before any page is drawn."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Every module of the package."""
        _walk(pkg)


def _walk(parent: griffe.Module | griffe.Class) -> None:
    for member in parent.members.values():
        if isinstance(member, griffe.Attribute) and member.docstring is None and _comment(member):
            member.docstring = griffe.Docstring(_comment(member), parent=member)
        elif isinstance(member, griffe.Function):
            _unpack(member)
        if isinstance(member, griffe.Module | griffe.Class) and not member.is_alias:
            _walk(member)


def _comment(attribute: griffe.Attribute) -> str:
    """The ``#:`` comment behind an attribute, or above it."""
    lines = attribute.lines_collection[attribute.filepath] if attribute.lineno else []
    if not lines:
        return ""
    behind = lines[attribute.endlineno - 1].partition("#: ")[2]
    above: list[str] = []
    for line in reversed(lines[: attribute.lineno - 1]):
        if not line.strip().startswith("#:"):
            break
        above.insert(0, line.strip().removeprefix("#:").strip())
    text = behind or " ".join(above)
    return text[:1].upper() + text[1:]


def _unpack(function: griffe.Function) -> None:
    """``**options: Unpack[Options]`` as the options themselves."""
    last = function.parameters[-1] if len(function.parameters) else None
    match = UNPACKED.search(str(last.annotation)) if last is not None and last.annotation else None
    if last is None or match is None:
        return
    del function.parameters[last.name]
    if not any(each.kind is griffe.ParameterKind.keyword_only for each in function.parameters):
        raise ValueError(f"{function.path}: expected a parameter by keyword before the options")
    for name, annotation in _options(function, match[1]):
        default = _default(function, name)
        function.parameters.add(
            griffe.Parameter(name, annotation=annotation, kind=griffe.ParameterKind.keyword_only, default=default)
        )


def _options(function: griffe.Function, name: str) -> list[tuple[str, Any]]:
    """Names and types of a typed dictionary, those of its bases first."""
    typed = function.module[name]
    typed = typed.final_target if typed.is_alias else typed
    own = [(each.name, each.annotation) for each in typed.members.values() if each.is_attribute]
    bases = [base for base in map(str, typed.bases) if base.rpartition(".")[2] != "TypedDict"]
    return [*(option for base in bases for option in _options(function, base.rpartition(".")[2])), *own]


def _default(function: griffe.Function, name: str) -> Any:
    """As the nearest base class has it."""
    for base in function.parent.mro():
        constructor = base.members.get("__init__")
        if constructor is not None and name in (each.name for each in constructor.parameters):
            return constructor.parameters[name].default
    return None
