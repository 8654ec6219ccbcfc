"""``python -m recommit.data.building.worker``: makes the shards it is asked for, one JSON line in, one JSON line out.

A worker is a plain child process: nothing is pickled, nothing is forked, and it is gone as soon as its standard input
ends, so that a killed build leaves nobody writing behind.
"""

from __future__ import annotations

import functools
import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.data import shards
from recommit.data.spec import DataSpec
from recommit.storage import errors
from recommit.storage.files import Files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def request(spec: DataSpec, folder: Path, split: str, shard: int, threads: int, states: Path | None) -> dict[str, Any]:
    """What a worker is asked: one shard."""
    return {
        "recipe": spec.to_dict(),
        "folder": str(folder),
        "split": split,
        "shard": shard,
        "threads": threads,
        "states": None if states is None else str(states),
    }


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Make one shard; its record, or what went wrong in plain words."""
    try:
        spec = DataSpec.from_dict(request["recipe"])
        split, shard = request["split"], request["shard"]
        content = shards.make(spec, split, shard, threads=request["threads"], states=_states(request["states"]))
        return {"record": shards.write(Files(), Path(request["folder"]), spec, split, shard, content).to_dict()}
    except errors.DataError as error:
        return {"error": type(error).__name__, "message": str(error)}
    except MemoryError as error:
        return {"error": "OutOfMemory", "message": str(errors.from_memory(error))}
    except Exception as error:  # noqa: BLE001  (told to the builder, who raises it)
        return {"error": "DataError", "message": f"{type(error).__name__}: {error}"}


def unwrap(reply: dict[str, Any]) -> shards.Record:
    """The record in a reply, or its error, raised."""
    if "record" in reply:
        return shards.Record.from_dict(reply["record"])
    raise getattr(errors, reply["error"], errors.DataError)(reply["message"])


@functools.lru_cache(maxsize=1)
def _states(path: str | None) -> NDArray[np.uint8] | None:
    if path is None:
        return None
    from recommit.data.building import own_states

    return own_states.load(Path(path))


def main() -> None:
    """Answer until the input ends."""
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()
    # Nothing but answers may reach the pipe, whatever a library prints.
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    while True:
        pipe.write(json.dumps(answer(json.loads(jobs.get()))) + "\n")
        pipe.flush()


def _listen(jobs: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        jobs.put(line)
    os._exit(0)  # the builder is done with us, or dead: stop at once, even in the middle of a shard


if __name__ == "__main__":
    main()
