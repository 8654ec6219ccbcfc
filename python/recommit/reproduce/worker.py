"""One process for many commands of a preset, on every rank of a slot: ``python -m recommit.cli.worker QUEUE``.

Imports, process groups and frozen backbones stay from one command to the next, each of which is called as the command
line calls it. The process ends with a command that fails.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.storage import files, safe_open, verified

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Seconds between looks at the queue.
PAUSE = 0.05


def put(queue: Path, number: int, words: Sequence[str], log: Path) -> None:
    """Add a command."""
    task = json.dumps({"words": list(words), "log": str(log)})
    files.replace(files.Files(), queue / f"{number}.json", task.encode())


def done(queue: Path, number: int) -> bool:
    """True once a command has ended well."""
    return (queue / f"{number}.done").exists()


def spent(queue: Path, number: int) -> bool:
    """True if the memory of a command could not be given back."""
    return done(queue, number) and not (queue / f"{number}.done").stat().st_size


def work(queue: Path, run: Callable[[list[str]], int]) -> int:
    """Run the commands of a queue as they come, up to the first that fails; its status."""
    for number in count():
        while not (queue / f"{number}.json").exists():
            time.sleep(PAUSE)
        task = verified.values(queue, f"{number}.json", {"words": list, "log": str})
        _write_to(Path(task["log"]))
        if status := run(task["words"]):
            return status
        clean = _cleared()
        if os.environ.get("RANK", "0") == "0":
            files.replace(files.Files(), queue / f"{number}.done", b"clean" if clean else b"")
    raise AssertionError


def _write_to(log: Path) -> None:
    """Let this process, and what it starts, write to the log of a command."""
    sys.stdout.flush()
    sys.stderr.flush()
    with os.fdopen(safe_open.append(log), "ab") as opened:
        for number in (1, 2):
            os.dup2(opened.fileno(), number)


def _cleared() -> bool:
    """Give back what a command has left; False if its network is still in use."""
    gc.collect()
    if (torch := sys.modules.get("torch")) is None:
        return True
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    from recommit.policy.backbones import resident

    return not resident.in_use()
