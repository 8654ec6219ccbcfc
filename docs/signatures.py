"""What the API pages would not show by themselves: ``#:`` comments, as the descriptions of what they stand beside."""

from __future__ import annotations

from typing import Any

import griffe


class Signatures(griffe.Extension):
    """Runs over the package once it is read, before any page is drawn."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Every module of the package."""
        _walk(pkg)


def _walk(parent: griffe.Module | griffe.Class) -> None:
    for member in parent.members.values():
        if isinstance(member, griffe.Attribute) and member.docstring is None and _comment(member):
            member.docstring = griffe.Docstring(_comment(member), parent=member)
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
