"""Register ``gymnasium.make("recommit/...")`` on ``import recommit``, without importing Gymnasium.

Gymnasium 1.x has no plugin entry points: environments exist once ``register`` was called. If Gymnasium is already
imported, register now, otherwise when it is imported.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from typing import TYPE_CHECKING

from recommit.puzzles.registry import PUZZLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: id -> (environment class, vector environment class).
ENVIRONMENTS = {
    f"recommit/{kind.__name__}-v0": (f"recommit.envs:{kind.__name__}Env", f"recommit.envs:{kind.__name__}VectorEnv")
    for kind in PUZZLES
}


def register() -> None:
    """Register our environments with Gymnasium, which must be installed. Idempotent."""
    from gymnasium.envs import registration

    for name, (single, vector) in ENVIRONMENTS.items():
        if name not in registration.registry:
            registration.register(id=name, entry_point=single, vector_entry_point=vector)


class _OnImport(importlib.abc.MetaPathFinder):
    """Import hook: after ``import gymnasium`` by the other finders, register our environments."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """The spec from the other finders, with a loader that calls ``register`` afterwards."""
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)  # the caller may only be checking for the package
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            sys.meta_path.remove(self)
            register()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def register_when_imported() -> None:
    """Register now if Gymnasium is imported, else when it is."""
    if "gymnasium.envs.registration" in sys.modules:
        register()
    elif not any(type(finder).__name__ == _OnImport.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, _OnImport())
