"""Who makes the shards of a build: child processes, or a Ray cluster. All write the same bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.data import shards
from recommit.data.shards import Record
from recommit.data.spec import DataSpec
from recommit.storage import errors
from recommit.storage.children import Children, serve
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
    return _processes(requests, workers, lock)


def _processes(requests: Requests, workers: int, lock: int) -> Iterator[Record]:
    made = lambda request: f"made {request['split']} shard {request['shard']}"
    with Children(__name__, workers, None, made, keep=(lock,)) as children:
        for _, reply in children.ask(requests):
            yield unwrap(reply)


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
        return Record(**reply["record"])
    raise getattr(errors, reply["error"], errors.DataError)(reply["message"])


def main() -> None:
    """Be a worker."""
    serve(lambda _: answer)
