"""Save and restore the mutable state of any Python environment, found by walking its attributes.

All reachable mutable objects are saved: attributes, lists, dicts, sets, arrays, random generators, and MuJoCo's model
and data. Contents are restored in place, so that objects keep their identity and aliases stay aliases.

Arrays that are views of MuJoCo's memory (``env._target_pos`` of Meta-World's basketball) are restored with MuJoCo's
data. Opaque objects (of compiled code, or with slots) are listed in ``left_out``.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]
    Restore = Callable[[], None]

#: Limit on reachable objects: an environment that holds a data set would copy it at every decision.
MOST_OBJECTS = 100_000
#: Types that are immutable or hold no state.
FIXED = (
    *(type(None), bool, int, float, complex, str, bytes, range, frozenset, Enum, np.generic, np.dtype, type),
    *(FunctionType, BuiltinFunctionType, ModuleType, property, staticmethod, classmethod),
)
#: Size of an object with only attributes and weak references; larger ones hold compiled state.
WITH_ATTRIBUTES = object.__basicsize__ + 16
#: Prefixes of large arrays of a MuJoCo model that no environment changes.
LARGE = ("mesh_", "tex_", "hfield_", "skin_", "names", "text_", "bvh_", "oct_")


def refill(target: Any, content: Any) -> None:
    """Replace the content of a dict, set or deque in place."""
    target.clear()
    (target.extend if isinstance(target, deque) else target.update)(content)


#: Types with content besides attributes: (type, how to copy the content, how to restore it).
CONTENTS: tuple[tuple[type, Callable[[Any], Any], Callable[[Any, Any], Any]], ...] = (
    (dict, dict, refill),
    (set, set, refill),
    (deque, list, refill),
    (list, list, lambda target, content: target.__setitem__(slice(None), content)),
    (np.random.Generator, lambda g: g.bit_generator.state, lambda g, state: setattr(g.bit_generator, "state", state)),
    (np.random.RandomState, np.random.RandomState.get_state, np.random.RandomState.set_state),
    (random.Random, random.Random.getstate, random.Random.setstate),
)


@dataclass(frozen=True, eq=False)
class Memory:
    """Saved contents of all mutable objects; ``restore`` puts them back."""

    restores: list[Restore]
    #: The numpy generators among the saved objects.
    generators: list[np.random.Generator]
    #: Types of opaque objects that were not saved.
    left_out: tuple[str, ...]

    def restore(self) -> None:
        for restore in self.restores:
            restore()


@dataclass(eq=False)
class Walker:
    """Creates ``Memory`` objects; caches the arrays of MuJoCo's model and data."""

    _views: dict[int, tuple[Any, Arrays]] = field(default_factory=dict)

    def memory(self, *roots: Any) -> Memory:
        restores: list[Restore] = []
        simulations: list[Restore] = []  # last, since the data depend on the model
        generators: list[np.random.Generator] = []
        left: set[str] = set()
        for thing in reachable(roots):
            kind: Any = type(thing)
            if kind.__name__ == "MjModel":
                restores.append(self._arrays(thing))
            elif kind.__name__ == "MjData":
                simulations.append(_data(thing, self._arrays(thing)))
            else:
                restores += _restores(thing)
                generators += [thing] if isinstance(thing, np.random.Generator) else []
                left |= {f"{kind.__module__}.{kind.__name__}"} if _opaque(kind) else set()
        return Memory(restores + simulations, generators, tuple(sorted(left)))

    def _arrays(self, thing: Any) -> Restore:
        arrays = [(view, view.copy()) for view in self.views(thing).values()]

        def restore() -> None:
            for view, content in arrays:
                np.copyto(view, content)

        return restore

    def views(self, thing: Any) -> Arrays:
        """The arrays of a model or of data; of data only those at a fixed address, without constraints and contacts."""
        known = self._views.get(id(thing))
        if known is None or known[0] is not thing:
            found = {name: getattr(thing, name) for name in dir(thing) if not name.startswith(("_", *LARGE))}
            arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray) and value.size}
            if type(thing).__name__ == "MjData":
                begin = thing.qpos.__array_interface__["data"][0]
                within = range(begin, begin + thing.nbuffer)
                arrays = {n: a for n, a in arrays.items() if a.__array_interface__["data"][0] in within}
            known = self._views[id(thing)] = (thing, arrays)
        return known[1]


def reachable(roots: tuple[Any, ...]) -> Iterator[Any]:
    """All objects reachable from the roots that are not ``FIXED``, each once."""
    waiting, seen = list(roots), {}
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, FIXED) or id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if len(seen) > MOST_OBJECTS:
            raise ValueError(
                f"env: expected at most {MOST_OBJECTS:,} objects in it, got more; keep data sets elsewhere"
            )
        yield thing
        if isinstance(thing, dict):
            waiting += thing.values()
        elif isinstance(thing, list | tuple | set | deque):
            waiting += thing
        elif isinstance(thing, np.ndarray) and thing.dtype.hasobject:
            waiting += thing.ravel().tolist()
        elif isinstance(thing, MethodType):
            waiting.append(thing.__self__)
        elif isinstance(thing, partial):
            waiting += [thing.func, *thing.args, *thing.keywords.values()]
        waiting += (_attributes(thing) or {}).values()


def _attributes(thing: Any) -> dict[str, Any] | None:
    found = None if isinstance(thing, MethodType) else getattr(thing, "__dict__", None)
    return found if isinstance(found, dict) else None


def _restores(thing: Any) -> Iterator[Restore]:
    """Functions that restore the content and the attributes of one object."""
    kind: Any = type(thing)
    if isinstance(thing, np.ndarray):
        owner: Any = thing
        while isinstance(owner, np.ndarray) and owner.base is not None:
            owner = owner.base
        if thing.flags.writeable and type(owner).__name__ != "PyCapsule":  # not MuJoCo's memory
            yield _filled(thing, thing.copy(), np.copyto)
    elif (content := _content(kind)) is not None:
        yield _filled(thing, content[0](thing), content[1])
    if (attributes := _attributes(thing)) is not None:
        yield _filled(attributes, dict(attributes), refill)


def _filled(target: Any, content: Any, fill: Callable[[Any, Any], Any]) -> Restore:
    return lambda: fill(target, content)


@cache
def _content(kind: type) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]] | None:
    """Functions that copy and restore the content of objects of this type; None if it has none."""
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(kind, torch.Tensor):
        return lambda tensor: tensor.detach().clone(), lambda tensor, content: tensor.detach().copy_(content)
    if torch is not None and issubclass(kind, torch.Generator):
        return kind.get_state, kind.set_state  # type: ignore[attr-defined]
    return next(((take, put) for base, take, put in CONTENTS if issubclass(kind, base)), None)


@cache
def _opaque(kind: type) -> bool:
    """True if objects of this type have state besides content and attributes: slots, or memory of compiled code."""
    if _content(kind) is not None or issubclass(kind, (tuple, np.ndarray, MethodType, partial)):
        return False
    slots = (name for each in kind.__mro__ for name in np.atleast_1d(vars(each).get("__slots__", ())).tolist())
    plain = WITH_ATTRIBUTES if kind.__dictoffset__ else object.__basicsize__
    return kind.__basicsize__ > plain or bool({*slots} - {"__dict__", "__weakref__"})


def _data(data: Any, arrays: Restore) -> Restore:
    """Restore the state, run ``mj_forward``, and restore the state again, since ``mj_forward`` changes its warm start;
    then restore all arrays, since some environments read leftovers of the last step."""
    mujoco, model = sys.modules["mujoco"], data.model
    every = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(model, every))
    mujoco.mj_getState(model, data, state, every)

    def restore() -> None:
        mujoco.mj_setState(model, data, state, every)
        mujoco.mj_forward(model, data)
        mujoco.mj_setState(model, data, state, every)
        arrays()

    return restore
