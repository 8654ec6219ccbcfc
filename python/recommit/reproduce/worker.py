"""The worker process, one per rank of a slot, that runs commands of a preset: ``python -m recommit.cli.worker QUEUE``.

Imports, process groups and frozen backbones are kept between commands, each of which is called like from the command
line. The process exits when a command fails.
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

#: Polling interval of the queue in seconds.
PAUSE = 0.05


def put(queue: Path, number: int, words: Sequence[str], log: Path) -> None:
    """Add a command to the queue."""
    task = json.dumps({"words": list(words), "log": str(log)})
    files.replace(files.Files(), queue / f"{number}.json", task.encode())


def done(queue: Path, number: int) -> bool:
    """True once a command has succeeded."""
    return (queue / f"{number}.done").exists()


def spent(queue: Path, number: int) -> bool:
    """True if a finished command's memory could not be released."""
    return done(queue, number) and not (queue / f"{number}.done").stat().st_size


def work(queue: Path, run: Callable[[list[str]], int]) -> int:
    """Run queued commands until one fails; returns its status."""
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
    """Redirect stdout and stderr, also of subprocesses, to the log of a command."""
    sys.stdout.flush()
    sys.stderr.flush()
    with os.fdopen(safe_open.append(log), "ab") as opened:
        for number in (1, 2):
            os.dup2(opened.fileno(), number)


def _cleared() -> bool:
    """Release a command's memory; False if its network is still in use."""
    gc.collect()
    if (torch := sys.modules.get("torch")) is None:
        return True
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    from recommit.policy.backbones import resident

    return not resident.in_use()
