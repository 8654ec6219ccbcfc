"""Does any call of the package change what belongs to the whole process of its user?

Commands and Python blocks of the pages run in ``watched``. ``python -m tests.invariant.test_global_state FOLDER``
imports everything, then plants careless functions, and prints what each has changed, as JSON.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import locale
import logging
import os
import pkgutil
import random
import signal
import socket
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]


def snapshot() -> dict[str, str]:
    """What a process has once, as text."""
    import matplotlib as mpl
    import numpy as np
    import torch

    mask = os.umask(0o22)
    os.umask(mask)
    backends = torch.backends
    state: dict[str, Any] = {
        "matplotlib": dict(mpl.rcParams),
        "figures": sys.modules["matplotlib.pyplot"].get_fignums(),
        "torch threads": (torch.get_num_threads(), torch.get_num_interop_threads()),
        "torch seeds": torch.get_rng_state().tolist(),
        "torch defaults": (torch.get_default_dtype(), torch.get_default_device(), torch.is_grad_enabled()),
        "torch determinism": (
            torch.are_deterministic_algorithms_enabled(),
            backends.cudnn.benchmark,
            backends.cudnn.deterministic,
        ),
        "torch precision": (torch.get_float32_matmul_precision(), backends.mkldnn.matmul.fp32_precision),
        "torch attention": (backends.cuda.flash_sdp_enabled(), backends.cuda.math_sdp_enabled()),
        "numpy": (np.geterr(), np.get_printoptions()),
        "numpy seeds": repr(np.random.mtrand._rand.get_state(legacy=False)),
        "random": random.getstate(),
        "warnings": (warnings.filters, warnings.showwarning),
        "signals": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "environment": sorted(os.environ.items()),
        "folder and mask": (Path.cwd(), mask),
        "locale": locale.setlocale(locale.LC_ALL),
        "logging": (logging.root.handlers, logging.root.level, logging.root.manager.disable),
        "imports": (sys.path, [type(finder).__name__ for finder in sys.meta_path], sys.path_hooks),
        "hooks": (sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook, sys.breakpointhook),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "interpreter": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled(), gc.get_threshold()),
        "sockets": socket.getdefaulttimeout(),
        "threads": sorted(each.name for each in threading.enumerate() if not each.daemon),
    }
    return {name: repr(value) for name, value in state.items()}


@contextlib.contextmanager
def watched(name: str, found: dict[str, list[str]]) -> Iterator[None]:
    """Enter into ``found`` what has changed inside."""
    before = snapshot()
    yield
    after = snapshot()
    changed = [f"{what}: {_difference(before[what], after[what])}" for what in before if before[what] != after[what]]
    if changed:
        found[name] = changed


def _difference(before: str, after: str) -> str:
    at = next((i for i, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
    return f"{before[max(at - 60, 0) : at + 60]} -> {after[max(at - 60, 0) : at + 60]}"


@functools.cache
def libraries() -> None:
    """What others do at import is not ours."""
    for name in (
        "gymnasium", "matplotlib.pyplot", "numpy", "peft", "PIL.Image", "pyarrow.parquet", "safetensors.torch", "tyro",
        "torch.utils.tensorboard", "torch.utils.flop_counter", "torch._dynamo", "transformers", "yaml", "jinja2",
        "urllib3", "deepspeed",
    ):  # fmt: skip
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with contextlib.suppress(ImportError):
        from transformers import AutoModel, AutoTokenizer, Qwen2_5_VLModel  # noqa: F401


def modules() -> Iterator[str]:
    """Every module of the package that can be imported here; what a launcher starts is no module to import."""
    import recommit

    for each in pkgutil.walk_packages(recommit.__path__, "recommit."):
        if each.name.endswith(("__main__", "._core")):
            continue
        try:
            importlib.import_module(each.name)
        except ImportError as error:
            if (error.name or "recommit").startswith("recommit"):
                raise
            continue
        yield each.name


def planted() -> dict[str, Callable[[], object]]:
    """What a careless function does."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    import numpy as np
    import torch

    return {
        "a backend": lambda: mpl.use("svg"),
        "a figure left open": lambda: plt.figure(),
        "threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
        "seeds": lambda: (torch.manual_seed(3), np.random.mtrand.seed(3), random.seed(3)),
        "a filter of warnings": lambda: warnings.simplefilter("ignore"),
        "determinism": lambda: setattr(torch.backends.cudnn, "deterministic", True),
        "errors of numbers": lambda: np.seterr(all="ignore"),
        "a signal": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
        "the environment": lambda: os.environ.update(PLANTED="1"),
        "a path of imports": lambda: sys.path.insert(0, "planted"),
        "logging": lambda: logging.basicConfig(level=logging.DEBUG),
    }


def main(folder: Path) -> dict[str, list[str]]:
    """What importing everything has changed, and each careless function."""
    os.chdir(folder)
    found: dict[str, list[str]] = {}
    for name in ("deepspeed", "peft", "transformers"):  # which take long; what imports them is watched where it runs
        sys.modules[name] = None  # type: ignore[assignment]
    libraries()
    with watched("import", found):
        imported = list(modules())
    assert len(imported) > 200
    for name, call in planted().items():
        with watched(name, found):
            call()
    return found


def test_imports_change_nothing_and_a_careless_call_is_noticed(tmp_path: Path) -> None:
    for module in ("gymnasium", "matplotlib", "pyarrow", "torch", "transformers", "tyro"):
        pytest.importorskip(module)
    command = [sys.executable, "-m", "tests.invariant.test_global_state", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-4000:]
    changed = json.loads(done.stdout.splitlines()[-1])
    assert set(changed) == set(planted()), changed


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
