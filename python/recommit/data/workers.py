"""Who makes the shards of a build: child processes, or a Ray cluster. All write the same bytes.

A child process runs this module (``python -m recommit.data.workers``): one JSON line in for each shard, one JSON line
out. Nothing is pickled, nothing is forked, and it is gone as soon as its standard input ends, so that a killed build
leaves nobody writing behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.data import shards
from recommit.data.shards import Record
from recommit.data.spec import DataSpec
from recommit.storage import errors
from recommit.storage.files import Files

if TYPE_CHECKING:
    from collections.abc import Iterator

    Requests = list[dict[str, Any]]

ENGINES = ("local", "ray")


def run(engine: str, requests: Requests, workers: int, lock: int) -> Iterator[Record]:
    """The records of all requested shards, as they are finished. ``lock`` is a descriptor that children keep open."""
    if not requests:
        return iter(())
    if engine == "ray":
        return _ray(requests, workers)
    return _processes(requests, min(workers, len(requests)), lock)


def _processes(requests: Requests, workers: int, lock: int) -> Iterator[Record]:
    todo: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    for item in [*requests, *[None] * workers]:
        todo.put(item)
    children = [_start(lock) for _ in range(workers)]
    servers = [threading.Thread(target=_serve, args=(child, todo, done), daemon=True) for child in children]
    try:
        for server in servers:
            server.start()
        for _ in requests:
            yield unwrap(done.get())
    finally:
        for child in children:
            child.kill()
        for child, server in zip(children, servers, strict=True):
            child.wait()
            server.join(timeout=5)
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # what a killed worker never read
                        pipe.close()


def _start(lock: int) -> subprocess.Popen[str]:
    """A worker process. It starts a session of its own: Ctrl-C is for the builder, which then ends its workers."""
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "recommit.data.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
        pass_fds=(lock,),
        start_new_session=True,
    )


def _serve(
    child: subprocess.Popen[str],
    todo: queue.SimpleQueue[dict[str, Any] | None],
    done: queue.SimpleQueue[dict[str, Any]],
) -> None:
    """Hand requests to one worker, one at a time, and collect its answers."""
    assert child.stdin is not None
    assert child.stdout is not None
    while (request := todo.get()) is not None:
        try:
            child.stdin.write(json.dumps(request) + "\n")
            child.stdin.flush()
            reply = child.stdout.readline()
        except (OSError, ValueError):
            reply = ""
        if not reply:
            why = f"a worker ended with status {child.wait()} while making {request['split']} shard {request['shard']}"
            done.put({"error": "WorkerDied", "message": why + "; run the same command again to go on"})
            return
        done.put(json.loads(reply))


def _ray(requests: Requests, workers: int) -> Iterator[Record]:
    """On the cluster that ``RAY_ADDRESS`` names or this process is connected to, else on a local one of ``workers``."""
    try:
        import ray as installed
    except ImportError:
        raise errors.need("ray", "ray") from None
    ray: Any = installed  # not everything in it has types
    started = not ray.is_initialized()
    if started:
        cores = None if os.environ.get("RAY_ADDRESS") else workers
        ray.init(num_cpus=cores, log_to_driver=False, configure_logging=False, include_dashboard=False)
    try:
        task = ray.remote(max_retries=3)(answer)
        cores = max(workers, int(ray.cluster_resources().get("CPU", 1)))
        waiting, running = list(reversed(requests)), list[Any]()
        while waiting or running:
            # Twice as many as there are cores: enough to keep them busy, few enough to lose little.
            while waiting and len(running) < 2 * cores:
                running.append(task.remote(waiting.pop()))
            ready, running = ray.wait(running)
            for reply in ray.get(ready):
                yield unwrap(reply)
    finally:
        if started:
            ray.shutdown()


def request(spec: DataSpec, folder: Path, split: str, shard: int, threads: int) -> dict[str, Any]:
    """What a worker is asked: one shard."""
    place = {"folder": str(folder), "split": split, "shard": shard}
    return {"recipe": spec.to_dict(), **place, "threads": threads}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Make one shard; its record, or what went wrong in plain words."""
    try:
        spec = DataSpec.from_dict(request["recipe"])
        split, shard = request["split"], request["shard"]
        content = shards.make(spec, split, shard, threads=request["threads"])
        return {"record": shards.write(Files(), Path(request["folder"]), spec, split, shard, content).to_dict()}
    except errors.DataError as error:
        return {"error": type(error).__name__, "message": str(error)}
    except MemoryError as error:
        return {"error": "OutOfMemory", "message": str(errors.from_memory(error))}
    except Exception as error:  # noqa: BLE001  (told to the builder, who raises it)
        return {"error": "DataError", "message": f"{type(error).__name__}: {error}"}


def unwrap(reply: dict[str, Any]) -> Record:
    """The record in a reply, or its error, raised."""
    if "record" in reply:
        return Record.from_dict(reply["record"])
    raise getattr(errors, reply["error"], errors.DataError)(reply["message"])


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
