"""What an environment remembers, found by walking its attributes, and put back in place.

Every object that can be reached from it and that can change is written down: attributes, lists, dicts, sets, arrays,
random generators, and MuJoCo's model and data. Numbers and texts are held by whoever has them. What is put back are
contents, so that objects stay who they are and two names of one array stay two names of one array.

Arrays that are views of MuJoCo's own memory (``env._target_pos`` of Meta-World's basketball) follow the data, and are
left to it. What cannot be looked into (an object of compiled code, one with slots) is ``left_out``.
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

#: More objects than this are refused: an environment that holds a data set would be copied at every decision.
MOST_OBJECTS = 100_000
#: What never changes, or is no state.
FIXED = (
    *(type(None), bool, int, float, complex, str, bytes, range, frozenset, Enum, np.generic, np.dtype, type),
    *(FunctionType, BuiltinFunctionType, ModuleType, property, staticmethod, classmethod),
)
#: Bytes of an object that has attributes and weak references and nothing else; one with more is of compiled code.
WITH_ATTRIBUTES = object.__basicsize__ + 16
#: What has a content besides its attributes.
CONTAINERS = (dict, list, tuple, set, deque, np.ndarray)
#: Arrays of a MuJoCo model that are large and that no environment changes.
LARGE = ("mesh_", "tex_", "hfield_", "skin_", "names", "text_", "bvh_", "oct_")


@dataclass(frozen=True, eq=False)
class Memory:
    """Contents of everything that can change; ``restore`` puts them back."""

    restores: list[Restore]
    #: The random generators of numpy among it.
    generators: list[np.random.Generator]
    #: Types of what could not be looked into.
    left_out: tuple[str, ...]

    def restore(self) -> None:
        """Everything as it was."""
        for restore in self.restores:
            restore()


@dataclass(eq=False)
class Walker:
    """Writes memories; it keeps what it has found out about MuJoCo's arrays."""

    _views: dict[int, tuple[Any, Arrays]] = field(default_factory=dict)

    def memory(self, *roots: Any) -> Memory:
        """Of everything that can be reached from the roots."""
        restores: list[Restore] = []
        simulations: list[Restore] = []  # after all else: the data are made from the model
        generators: list[np.random.Generator] = []
        left: set[str] = set()
        for thing in reachable(roots):
            kind = type(thing).__name__
            if kind == "MjModel" or kind == "MjData":
                (restores if kind == "MjModel" else simulations).append(self._mujoco(thing))
            elif isinstance(thing, np.random.Generator):
                generators.append(thing)
                restores.append(_generator(thing))
            else:
                restore = _restore(thing)
                if restore is not None:
                    restores.append(restore)
                own: Any = type(thing)
                if _holds_more(own) if restore else not isinstance(thing, (*CONTAINERS, MethodType, partial)):
                    left.add(f"{type(thing).__module__}.{kind}")
            if isinstance(thing, CONTAINERS) and hasattr(thing, "__dict__"):  # of a class of somebody's own
                restores.append(_names(_attributes(thing)))
        return Memory(restores + simulations, generators, tuple(sorted(left)))

    def _mujoco(self, thing: Any) -> Restore:
        views = self.views(thing)
        arrays = [(view, view.copy()) for view in views.values()]

        def restore() -> None:
            for view, content in arrays:
                np.copyto(view, content)

        return restore if type(thing).__name__ == "MjModel" else _data(thing, restore)

    def views(self, thing: Any) -> Arrays:
        """The arrays of a model or of data; of data those that keep their place, without constraints and contacts."""
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
    """Every object from the roots on that is not ``FIXED``, each once."""
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
        waiting += _attributes(thing).values()


def _attributes(thing: Any) -> dict[str, Any]:
    found = None if isinstance(thing, MethodType) else getattr(thing, "__dict__", None)
    return found if isinstance(found, dict) else {}


def _restore(thing: Any) -> Restore | None:
    """Puts back the content of one object; None where there is none that it could."""
    if isinstance(thing, np.ndarray):
        return _array(thing)
    if isinstance(thing, np.random.RandomState | random.Random):
        return _legacy(thing)
    if isinstance(thing, _tensors()):
        return _torch(thing)
    if isinstance(thing, list):
        return _filled(thing, list(thing), lambda target, content: target.__setitem__(slice(None), content))
    if isinstance(thing, set | deque):
        return _filled(thing, list(thing), lambda target, content: (target.clear(), _more(target)(content)))
    if isinstance(thing, MethodType) or not isinstance(getattr(thing, "__dict__", thing), dict):
        return None
    return _names(thing if isinstance(thing, dict) else _attributes(thing))


@cache
def _holds_more(kind: type) -> bool:
    """Do objects of this kind hold more than attributes: in slots, or where only compiled code looks?"""
    if issubclass(kind, (*CONTAINERS, partial, np.random.RandomState, random.Random, *_tensors())):
        return False
    slots = (name for each in kind.__mro__ for name in np.atleast_1d(vars(each).get("__slots__", ())).tolist())
    return kind.__basicsize__ > WITH_ATTRIBUTES or bool({*slots} - {"__dict__", "__weakref__"})


def _tensors() -> tuple[type, ...]:
    torch = sys.modules.get("torch")
    return () if torch is None else (torch.Tensor, torch.Generator)


def _names(values: dict[Any, Any]) -> Restore:
    return _filled(values, dict(values), lambda target, content: (target.clear(), target.update(content)))


def _more(target: Any) -> Callable[[Any], Any]:
    more: Callable[[Any], Any] = target.update if isinstance(target, set) else target.extend
    return more


def _filled(target: Any, content: Any, fill: Callable[[Any, Any], Any]) -> Restore:
    return lambda: fill(target, content)


def _array(array: NDArray[Any]) -> Restore | None:
    """None of an array that cannot be written, and of a view of MuJoCo's memory."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    if not array.flags.writeable or type(owner).__name__ == "PyCapsule":
        return None
    content = array.copy()
    return lambda: np.copyto(array, content)


def _generator(generator: np.random.Generator) -> Restore:
    state = generator.bit_generator.state
    return lambda: setattr(generator.bit_generator, "state", state)


def _legacy(source: Any) -> Restore:
    if isinstance(source, random.Random):
        numbers = source.getstate()
        return lambda: source.setstate(numbers)
    state = source.get_state()
    return lambda: source.set_state(state)


def _torch(thing: Any) -> Restore:
    if hasattr(thing, "get_state"):
        return _filled(thing, thing.get_state(), lambda target, state: target.set_state(state))
    content = thing.detach().clone()
    return lambda: thing.detach().copy_(content)


def _data(data: Any, arrays: Restore) -> Restore:
    """The state, what follows from it, and the state again, since ``mj_forward`` changes its own warm start; then every
    array as it was, since some environments read what the last step left there."""
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
