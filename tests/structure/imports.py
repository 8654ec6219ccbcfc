"""Which file of the package imports which, read from the source: deferred imports, those for types and dynamic ones
count.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Launched modules start the command line, which stands above them.
LAUNCHED = "__main__"


def module_name(path: Path, package: Path) -> str:
    parts = (package.name, *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def graph(package: Path) -> dict[str, set[str]]:
    paths = {module_name(path, package): path for path in sorted(package.rglob("*.py"))}
    return {name: set(imported(path.read_text(encoding="utf-8"), paths)) - {name} for name, path in paths.items()}


def with_packages(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same, and who imports a file imports what its packages import first, the one at the top left out."""
    return {
        name: {each for to in to_all for each in (to, *above(to)) if each in edges} - {name, *above(name)}
        for name, to_all in edges.items()
    }


def above(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(2, len(parts))]


def imported(source: str, modules: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                # The compiled module is no Python file: to import it is not to import the package.
                if alias.name != "_core" and (whole in modules or node.module in modules):
                    yield whole if whole in modules else node.module
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__") and node.args[0].value in modules:
                yield node.args[0].value


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of files each of which can be reached from each other (what Kahn's rule leaves, cut at both ends)."""
    remaining = {
        name: {to for to in to_all if to in edges} for name, to_all in edges.items() if not name.endswith(LAUNCHED)
    }
    while True:
        reached = {to for to_all in remaining.values() for to in to_all}
        ends = {name for name, to_all in remaining.items() if not to_all or name not in reached}
        if not ends:
            return [sorted(remaining)] if remaining else []
        remaining = {name: to_all - ends for name, to_all in remaining.items() if name not in ends}
