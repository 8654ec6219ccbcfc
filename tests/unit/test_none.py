"""No argument of any function of the compiled core ends the process where it is None: every signature, every place."""

from __future__ import annotations

import contextlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import recommit
from recommit import _core

TASKS = {"ice": recommit.Ice(6), "sliding": recommit.Sliding(2, 3), "sokoban": recommit.Sokoban(6, 1)}


def parameters(function: Any) -> list[str]:
    """Names of the arguments, from the signature that pybind11 writes into the docstring."""
    first = next(line for line in function.__doc__.splitlines() if line.startswith(f"{function.__name__}("))
    inside, depth, names, word = first[len(function.__name__) + 1 :], 0, [], ""
    for letter in inside:
        if depth == 0 and letter in ",)":
            names.append(word.split(":")[0].strip())
            word = ""
            if letter == ")":
                break
            continue
        depth += (letter in "[(") - (letter in "])")
        word += letter
    return [name for name in names if name and name not in "*/"]


def values(module: Any, task: Any) -> dict[str, Any]:
    """A good value for every name of an argument; ``self`` and ``bank`` are made by the module."""
    states = task.generate(2, seed=0).states
    bank = module.make_bank(states)
    made = {"slots": 2, "max_steps": 9, "autoreset": _core.Autoreset.NEXT_STEP}
    running = module.make_episodes(bank, **made)
    running.reset([0, 1])
    saved = dict(zip(("states", "seeds", "episodes", "steps", "over"), running.save(), strict=True))
    images = module.render(states, cell=4, theme="light", crop=False)
    small = {"rows": 2, "cols": 3} if module is _core.sliding else {"rows": 6, "cols": 6, "boxes": 1}
    return {
        **made,
        **small,
        **saved,
        "self": running,
        "bank": bank,
        "states": states,
        "levels": states,
        "drawn": states.copy(),
        "images": images,
        "actions": np.zeros(2, np.uint8),
        "depths": np.ones(2, np.int32),
        "mask": np.ones(2, bool),
        "action": 0,
        "grids": True,
        "masks": True,
        "cell": 4,
        "theme": "light",
        "crop": False,
        "out": None,
        "stop": True,
        "threads": 1,
        "progress": None,
        "nodes": 1000,
        "bytes": 1 << 20,
        "seconds": 1.0,
        "random": False,
        "seed": 0,
        "start": 0,
        "count": 2,
        "shortest": 2,
        "longest": 8,
        "walked": False,
        "database": "small",
        "budget": 1 << 20,
        "clear": False,
        "text": b"#####\n#@$.#\n#####\n",
        "task": "sliding",
        "cells": np.zeros(6, np.uint8),
        "shapes": np.array([[2, 3]]),
        "titles": [""],
        "format": "plain",
        "state": states[0],
        "value": 0,
        "other": 0,
    }


def functions() -> Iterator[tuple[str, Any, Any]]:
    """Name, function and module of everything that can be called, methods and properties included."""
    for module in (_core.sliding, _core.ice, _core.sokoban):
        for name, each in inspect.getmembers(module, callable):
            yield f"{module.__name__}.{name}", each, module
    for name, each in inspect.getmembers(_core, inspect.isbuiltin):
        yield name, each, _core.sliding
    for kind in (_core.Episodes, _core.LevelBank):
        for name, each in vars(kind).items():
            read = each.fget if isinstance(each, property) else each
            if callable(read) and not name.startswith("__init") and "(" in (read.__doc__ or ""):
                yield f"{kind.__name__}.{name}", read, _core.sliding


def call_everything() -> None:
    """One call per function and argument, that argument None, the others good; its name is printed before."""
    known = {module: values(module, TASKS[module.__name__.rpartition(".")[2]]) for _, _, module in functions()}
    for name, function, module in functions():
        names = parameters(function) if f"{function.__name__}(" in function.__doc__ else ["self"]  # of a property
        for empty in names:
            print(f"{name}({empty}=None)", flush=True)
            given = {each: None if each == empty else known[module][each] for each in names}
            if name.endswith("execute") and empty != "actions":
                given["actions"] = np.zeros((2, 3), np.uint8)
            own = [given.pop("self")] if "self" in given else []
            with contextlib.suppress(TypeError, ValueError, RuntimeError):
                function(*own, **given)


def test_none_is_refused_or_taken_and_never_followed() -> None:
    command = [sys.executable, "-c", "from tests.unit.test_none import call_everything; call_everything()"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    called = done.stdout.split()
    assert done.returncode == 0, (called[-1:], done.stderr[-2000:])
    assert "Episodes.draw_from(bank=None)" in called
    assert len(called) > 200, len(called)
