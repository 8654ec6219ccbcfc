"""Makes ``gymnasium.make("recommit/...")`` work after ``import recommit``, without importing Gymnasium for it.

Gymnasium 1.x has no entry points for plugins: an environment exists once ``register`` was called. If Gymnasium
is there already we call it now, else at the moment when it is imported.
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

#: id -> (class of one environment, class of many).
ENVIRONMENTS = {
    f"recommit/{kind.__name__}-v0": (f"recommit.envs:{kind.__name__}Env", f"recommit.envs:{kind.__name__}VectorEnv")
    for kind in PUZZLES
}


def register() -> None:
    """Tell Gymnasium, which must be installed, about our environments. Calling it again does nothing."""
    from gymnasium.envs import registration

    for name, (single, vector) in ENVIRONMENTS.items():
        if name not in registration.registry:
            registration.register(id=name, entry_point=single, vector_entry_point=vector)


class _OnImport(importlib.abc.MetaPathFinder):
    """Waits for ``import gymnasium``, lets the other finders load it, and registers right afterwards."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """The spec that the other finders give; its loader calls ``register`` when it is done."""
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)  # the caller may only ask whether it is installed
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
    """Register now if Gymnasium is loaded, else as soon as it is."""
    if "gymnasium.envs.registration" in sys.modules:
        register()
    elif not any(type(finder).__name__ == _OnImport.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, _OnImport())
