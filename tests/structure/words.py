"""Which words the package's source uses for what: names of data, of classes, of parameters, how docstrings begin."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

#: Words that say that something is at hand, and not what it is.
EMPTY = ("found", "given", "made", "told", "said", "kept", "known", "asked")

#: Words that ``docs/concepts.md`` reserves, alone or as a plural, and what a parameter or field of that name may be.
RESERVED = {
    "depth": r"int|integer|u?int\d+|Ints|Depths|Tensor|Callable|None",
    "plan": r"int|str|uint8|int64|Tensor|Plans|Solutions|None",
    "look": r"int|int\d+|uint8|float|Tensor|Callable|None",
    "budget": r"int|integer|int\d+|str|None",
    "variant": r"str|Variant|None",
    "recipe": r"str|Path|None",
    "preset": r"str|Path|Preset|None",
    "price": r"float|float\d+|floating|Prices?|None",
}
#: Containers and arrays, which say nothing of what is in them.
AROUND = {"NDArray", "np", "Sequence", "Collection", "Iterable", "Mapping", "tuple", "list", "dict", "set", "Any"}


@dataclass(frozen=True)
class Finding:
    """One word in a wrong place."""

    module: str  #: relative to the package
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.text}"


def sources(package: Path) -> dict[str, str]:
    return {path.relative_to(package).as_posix(): path.read_text(encoding="utf-8") for path in package.rglob("*.py")}


def shared_class_names(modules: dict[str, str]) -> list[Finding]:
    where = defaultdict[str, list[tuple[str, int]]](list)
    for module, text in modules.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                where[node.name].append((module, node.lineno))
    return [
        Finding(module, line, f"class {name}: expected a name of its own, got that of {', '.join(others)}")
        for name, places in where.items()
        for module, line in places
        if (others := [other for other, at in places if (other, at) != (module, line)])
    ]


def empty_names(modules: dict[str, str]) -> list[Finding]:
    return [
        Finding(module, line, f"{name}: expected the name of what it is, got one of {', '.join(EMPTY)}")
        for module, text in modules.items()
        for name, line in _bound(ast.parse(text))
        if name.strip("_") in EMPTY
    ]


def _bound(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that the source binds: variables, arguments, attributes, functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def docstrings_of_nothing(modules: dict[str, str]) -> list[Finding]:
    return [
        Finding(module, getattr(node, "lineno", 1), f"docstring: expected a verb or a noun first, got {text[:40]!r}")
        for module, source in modules.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and (text := ast.get_docstring(node))
        and text.startswith("Of ")
    ]


def reserved_words(modules: dict[str, str]) -> list[Finding]:
    """Parameters of public functions and fields of public classes that have a reserved name and are something else."""
    return [
        Finding(module, line, f"{name}: expected {RESERVED[word]}, which the glossary reserves it for, got {kind}")
        for module, text in modules.items()
        for name, kind, line in _public(ast.parse(text).body)
        if (word := _reserved(name)) and not _fits(kind, RESERVED[word])
    ]


def _public(body: Iterable[ast.stmt]) -> Iterator[tuple[str, str, int]]:
    for node in body:
        if isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__"):
            arguments = node.args
            for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                if each.annotation is not None:
                    yield each.arg, ast.unparse(each.annotation), each.lineno
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public(node.body)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, ast.unparse(node.annotation), node.lineno


def _reserved(name: str) -> str | None:
    word = name.removesuffix("s")
    return word if word in RESERVED else None


def _fits(kind: str, allowed: str) -> bool:
    """Is every name in the annotation a container or one of those ``allowed``?"""
    words = set(re.findall(r"[A-Za-z_]\w*", kind)) - AROUND
    return all(re.fullmatch(allowed, word) for word in words)
