"""Crash-safe, resumable builds of a data set from its spec.

A shard is a pure function of the spec, its split and its number (``shards.py``): start states of that split
(``sampling.py``), solved and labelled (``labels.py``), written as one Parquet file. So a build is a list of shards:

1. claim the folder: its lock, and ``recipe.json``, which ties the folder to one spec; 2. find the intact shards, by the
manifest of a finished build and the journal of an interrupted one; 3. make the others, in this process, in child
processes or on a Ray cluster, and journal each once it is on disk; 4. write the card and, last, the manifest. A folder
with a manifest is finished; only then the journal is removed.

A kill at any moment leaves intact shards, and the same call resumes from them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.data import card, manifest, shards
from recommit.data.shards import Record
from recommit.data.spec import DataSpec
from recommit.storage import errors, files, ownership, safe_open
from recommit.storage.children import Children, serve
from recommit.storage.files import Files
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.data.manifest import Manifest

    Requests = list[dict[str, Any]]

RECIPE = "recipe.json"
ENGINES = ("local", "ray")


def build(
    spec: DataSpec,
    folder: str | Path,
    *,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[int, int, int], None] | None = None,
    files_: Files | None = None,
) -> Manifest:
    """Build the data set of a spec in ``folder``, resume an interrupted build, or check a finished one.

    The files depend on the spec alone (and on the versions in the manifest). ``workers`` processes make shards;
    ``engine="ray"`` makes them on a Ray cluster that shares the folder's file system. ``progress`` is called with the
    shards done, all shards, and the rows of this call.
    """
    if not isinstance(workers, int) or not 1 <= workers <= 4096:
        raise errors.WrongDataSpec(f"workers: expected 1..4096, got {workers!r}")
    if engine not in ENGINES:
        raise errors.WrongDataSpec(f"engine: expected one of {', '.join(ENGINES)}, got {engine!r}")
    target = Path(folder).absolute()
    work = files_ or Files()
    try:
        ownership.refuse_foreign(target, (RECIPE,), "a data set")
        files.make_folders(work, target)
        with Lock(target) as lock:
            return _Build(work, target, spec, workers, engine, lock.descriptor, progress).run()
    except OSError as error:
        raise errors.from_os(error, target) from error
    except MemoryError as error:
        raise errors.from_memory(error) from error


@dataclass
class _Build:
    """One call of ``build``, under the lock."""

    files: Files
    folder: Path
    spec: DataSpec
    workers: int
    engine: str
    lock: int
    progress: Callable[[int, int, int], None] | None

    def run(self) -> Manifest:
        self._claim()
        records = self._finished()
        all_shards = manifest.order(self.spec)
        rows = 0
        with shards.ShardJournal(self.files, self.folder) as notes:
            for record in self._make([item for item in all_shards if item not in records]):
                notes.add(record)
                records[shards.parse_name(record.name)[:2]] = record
                rows += record.rows
                if self.progress:
                    self.progress(len(records), len(all_shards), rows)
        return self._finish([records[item] for item in all_shards])

    def _claim(self) -> None:
        """Write the spec into a new folder, or check that an existing folder has the same one."""
        files.own_folder(self.folder / shards.FOLDER)
        files.sweep(self.files, self.folder)
        files.sweep(self.files, self.folder / shards.FOLDER)
        path, text = self.folder / RECIPE, self.spec.to_json()
        try:
            old = safe_open.content(path)
        except FileNotFoundError:
            files.replace(self.files, path, text.encode())
            old = text.encode()
        if old != text.encode():
            try:
                before = DataSpec.from_text(old.decode()).to_dict()
            except (errors.DataError, UnicodeDecodeError):
                raise errors.Damaged(f"{path}: expected a recipe, got what cannot be read") from None
            ownership.check(self.folder, before, self.spec.to_dict())
            raise errors.Damaged(f"{path}: expected the recipe as it was written, got other bytes")
        files.make_folders(self.files, self.folder / shards.FOLDER)

    def _finished(self) -> dict[tuple[str, int], Record]:
        """Existing, intact shards, by a finished build's manifest and an interrupted one's journal."""
        try:
            records = {record.name: record for record in manifest.read(self.folder).shards}
        except (errors.Damaged, errors.WrongFolder):
            records = {}
        records.update(shards.read_journal(self.folder))
        whole = {}
        for split, shard in manifest.order(self.spec):
            record = records.get(shards.name(self.spec, split, shard))
            if record and shards.intact(self.folder, record):
                whole[split, shard] = record
        return whole

    def _make(self, todo: list[tuple[str, int]]) -> Iterator[Record]:
        if self.workers == 1 and self.engine == "local":
            for split, shard in todo:
                content = shards.make(self.spec, split, shard)
                yield shards.write(self.files, self.folder, self.spec, split, shard, content)
        else:
            about = {"recipe": self.spec.to_dict(), "folder": str(self.folder)}
            yield from run(self.engine, [{**about, "split": s, "shard": n} for s, n in todo], self.workers, self.lock)

    def _finish(self, records: list[Record]) -> Manifest:
        """Write the card, then the manifest, and only then remove the journal, which a resumed build would need."""
        seen = manifest.overlap(self.folder, self.spec, records, self.workers)
        result = manifest.Manifest(self.spec, tuple(records), seen, manifest.versions())
        files.keep(self.files, self.folder / card.NAME, card.card(result).encode())
        files.keep(self.files, self.folder / manifest.NAME, result.to_json().encode())
        self.files.remove(self.folder / shards.JOURNAL)
        return result


def run(engine: str, requests: Requests, workers: int, lock: int) -> Iterator[Record]:
    """Yield the records of all requested shards as they finish. ``lock`` is a descriptor that children keep open."""
    if not requests:
        return
    if engine == "ray":
        yield from _ray(requests, workers)
        return
    made = lambda request: f"made {request['split']} shard {request['shard']}"
    with Children(__name__, workers, None, made, keep=(lock,)) as children:
        for _, reply in children.ask(requests):
            yield unwrap(reply)


def _ray(requests: Requests, workers: int) -> Iterator[Record]:
    """Run on the Ray cluster of ``RAY_ADDRESS`` or of this process's connection, else on a local one of ``workers``."""
    try:
        import ray as installed
    except ImportError:
        raise errors.need("ray", "ray") from None
    ray: Any = installed  # incomplete type hints
    started = not ray.is_initialized()
    if started:
        cores = None if os.environ.get("RAY_ADDRESS") else workers
        ray.init(num_cpus=cores, log_to_driver=False, configure_logging=False, include_dashboard=False)
    try:
        task = ray.remote(max_retries=3)(answer)
        cores = max(workers, int(ray.cluster_resources().get("CPU", 1)))
        waiting, running = list(reversed(requests)), list[Any]()
        while waiting or running:
            # Two tasks per core: enough to keep all busy, few enough to lose little.
            while waiting and len(running) < 2 * cores:
                running.append(task.remote(waiting.pop()))
            ready, running = ray.wait(running)
            for reply in ray.get(ready):
                yield unwrap(reply)
    finally:
        if started:
            ray.shutdown()


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Make one shard; returns its record, or an error as plain values."""
    try:
        spec = DataSpec.from_dict(request["recipe"])
        split, shard = request["split"], request["shard"]
        content = shards.make(spec, split, shard)
        return {"record": shards.write(Files(), Path(request["folder"]), spec, split, shard, content).to_dict()}
    except errors.DataError as error:
        return {"error": type(error).__name__, "message": str(error)}
    except MemoryError as error:
        return {"error": "OutOfMemory", "message": str(errors.from_memory(error))}
    except Exception as error:  # noqa: BLE001  (the builder raises it)
        return {"error": "DataError", "message": f"{type(error).__name__}: {error}"}


def unwrap(reply: dict[str, Any]) -> Record:
    """The record of a reply; raises its error."""
    if "record" in reply:
        return Record(**reply["record"])
    raise getattr(errors, reply["error"], errors.DataError)(reply["message"])


def main() -> None:
    """Worker process: serve ``answer``."""
    serve(lambda _: answer)
