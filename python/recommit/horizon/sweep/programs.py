"""Loads the functions that make an environment and a policy, and hashes their sources and weights."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import platform
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.storage import errors, files
from recommit.version import version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

#: Modules whose versions are in a card if they are imported -> their packages.
PACKAGES = {
    "recommit": "recommit",
    "numpy": "numpy",
    "gymnasium": "gymnasium",
    "gymnasium_robotics": "gymnasium-robotics",
    "mujoco": "mujoco",
    "metaworld": "metaworld",
    "torch": "torch",
    "stable_baselines3": "stable-baselines3",
    "lerobot": "lerobot",
    "openpi_client": "openpi-client",
    "jax": "jax",
    "scipy": "scipy",
}
HERE = Path(__file__).resolve().parents[1]
#: The files that were run, by path and hash.
_RUN: dict[tuple[Path, str], ModuleType] = {}


def is_id(name: str) -> bool:
    """True if it is the id of a registered Gymnasium environment, such as Pendulum-v1."""
    return ":" not in name or bool(re.search(r"-v\d+$", name))


def place(what: str, name: str) -> tuple[str, str]:
    """Split a name into file or module, and function."""
    path, _, function = name.rpartition(":")
    if not path or not function.isidentifier():
        raise ValueError(f"{what}: expected file.py:NAME or module:NAME, got {name or 'nothing'}")
    return path, function


def short(name: str) -> str:
    """Name in a card: without the folders of a file."""
    return name if is_id(name) else f"{Path(place('name', name)[0]).name}:{place('name', name)[1]}"


def load(what: str, name: str) -> Any:
    """Load a function from a file or a module. A file is run, with its folder on the import path."""
    path, function = place(what, name)
    if path.endswith(".py"):
        if not Path(path).is_file():
            raise ValueError(f"{what}: expected a file, found no {path}")
        module = _module(Path(path).absolute())
    else:
        module = importlib.import_module(path)
    if not hasattr(module, function):
        raise ValueError(f"{what}: expected what {path} defines, which has no {function}, got {name}")
    return getattr(module, function)


def _module(path: Path) -> ModuleType:
    """Module of a file, which is run once, and again after a change: a policy, an environment and its copies share what
    the file loads."""
    own = path.resolve(), files.file_sha256(path)
    if own not in _RUN:
        if sys.path[:1] != [str(path.parent)]:
            sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        _RUN[own] = module
    return _RUN[own]


def source(what: str, name: str) -> dict[str, Any]:
    """Name and hash of the file that a function is in; a Gymnasium id has none. Nothing is run."""
    if what == "env" and is_id(name):
        return {"name": name, "sha256": None}
    path = place(what, name)[0]
    if not path.endswith(".py"):
        try:
            found = importlib.util.find_spec(path)
        except ImportError:
            found = None
        if found is None or found.origin is None or not Path(found.origin).is_file():
            raise ValueError(f"{what}: expected a module that is installed, got {path}")
        path = found.origin
    if not Path(path).is_file():
        raise ValueError(f"{what}: expected a file, found no {path}")
    return {"name": short(name), "sha256": files.file_sha256(Path(path))}


def of_object(value: Any) -> dict[str, Any]:
    """Name and hash of the source of an object's class, or of a function."""
    own = value if inspect.isroutine(value) or inspect.isclass(value) else type(value)
    try:
        text: str | None = inspect.getsource(own)
    except (OSError, TypeError):
        text = None
    return {"name": own.__qualname__, "sha256": files.sha256(text.encode()) if text else None}


def tree(paths: Sequence[Path]) -> dict[str, str]:
    """sha256 of files, and of all files in folders, by name."""
    found: dict[str, Path] = {}
    for path in paths:
        if not path.exists():
            raise ValueError(f"files: expected files or folders, found no {path}")
        inner = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        for each in inner:
            name = each.relative_to(path.parent).as_posix()
            if found.setdefault(name, each).resolve() != each.resolve():
                raise ValueError(
                    f"files: expected files of different names, got {found[name]} and {each}, both {name} in a card; "
                    "folders keep them apart, since files in a folder have its name too"
                )
    return {name: files.file_sha256(each) for name, each in found.items()}


def code() -> str:
    """A hash of the rules and of the sweep themselves."""
    hashes = {each.relative_to(HERE).as_posix(): files.file_sha256(each) for each in HERE.rglob("*.py")}
    return files.sha256("\n".join(f"{digest} {name}" for name, digest in sorted(hashes.items())).encode())


def state(policy: Any) -> str | None:
    """Hash of the weights of a policy that has a ``state_dict``, or whose attributes have; None without weights."""
    found = {"": policy} if hasattr(policy, "state_dict") else dict(getattr(policy, "__dict__", {}))
    digest, some = hashlib.sha256(), False
    for name, each in sorted(found.items()):
        values = each.state_dict() if callable(getattr(each, "state_dict", None)) and not inspect.isclass(each) else {}
        for key in sorted(values):
            if hasattr(values[key], "shape"):
                array = np.ascontiguousarray(plain(values[key]))
                digest.update(f"{name}.{key} {array.dtype} {array.shape}\n".encode())
                digest.update(array.tobytes())
                some = True
    return digest.hexdigest() if some else None


def plain(value: Any) -> Any:
    """Convert a torch tensor to an array, bfloat16 to float32, which numpy lacks; other values are unchanged."""
    if not hasattr(value, "detach"):
        return value
    value = value.detach().cpu()
    return (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()


def versions() -> dict[str, str]:
    """Versions of Python and of the imported packages, and the machine."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    return found | {name: version_of(name) or "unknown" for module, name in PACKAGES.items() if module in sys.modules}


def made(maker: Any, arguments: dict[str, Any]) -> Any:
    """Call a function or class with the arguments; other objects, such as policies, are returned unchanged."""
    if not callable(maker) or (hasattr(maker, "predict") and not inspect.isclass(maker)):
        return maker
    return maker(**arguments)


def registered(name: str, arguments: dict[str, Any]) -> Any:
    """Make a registered Gymnasium environment."""
    try:
        import gymnasium
    except ImportError:
        raise errors.need("gymnasium", "envs") from None
    try:
        return gymnasium.make(name, **arguments)
    except gymnasium.error.Error as error:  # no such name or version, or a simulator that is not installed
        raise ValueError(f"env: {error}") from None


def maker(name: str, arguments: dict[str, Any]) -> Callable[[], Any]:
    """Function that makes one more such environment at each call."""
    if is_id(name):
        return lambda: registered(name, arguments)
    function = load("env", name)
    return lambda: made(function, arguments)
