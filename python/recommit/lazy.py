"""Lazy imports of a package's names whose dependencies are heavy or optional."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def attach(
    package: str, homes: Mapping[str, str], *, also: Iterable[str] = (), packages: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: Name of the package.
        homes: Modules, and the names in each, separated by blanks; ``open_folder:open`` renames to ``open``.
        also: Further names for ``dir``.
        packages: Subpackages that are also imported lazily.
    """
    words = [(module, *word.partition(":")[::2]) for module, names in homes.items() for word in names.split()]
    found = {here or there: (module, there) for module, there, here in words}
    packages, listed = tuple(packages), sorted({*found, *also, *packages})

    def get(name: str) -> Any:
        if name in found:
            module, there = found[name]
            value = getattr(import_module(module), there)
            setattr(sys.modules[package], name, value)
            return value
        if name in packages:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: listed
