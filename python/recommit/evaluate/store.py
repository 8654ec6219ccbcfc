"""An evaluation's folder: rows as Parquet, figures as JSON, every file written atomically.

decisions/<agent>[-s<seed>].parquet   one row per decision, of the largest budget (or ``@K`` for agents that know it)
episodes.parquet                      one row per agent, seed, budget and instance
instances.parquet                     the start states, their lengths
plan.json                             the options: resuming with other ones is refused
thresholds.json                       of rules with a threshold: the chosen one, and the results of every candidate
compute.json                          floating-point operations per observation of each policy
summary.json comparisons.json         see ``recommit.evaluate.evaluation``
DIGESTS                               sha256 of all of them, checked at every read
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.data.parquet import pa, parsed, pq
from recommit.rollout.decision_rows import DecisionRows
from recommit.storage import files, ownership, verified
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from typing_extensions import Self


THRESHOLDS, COMPUTE = "thresholds.json", "compute.json"
#: Files that identify the folder of an evaluation.
MARKS = ("plan.json", "decisions", "episodes.parquet", "summary.json")


class EvaluationStore:
    """An evaluation's folder, created if missing and locked against other processes."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self._lock = Lock(self.folder, work="evaluation")
        self._digests: dict[str, str] = {}

    def __enter__(self) -> Self:
        ownership.refuse_foreign(self.folder, MARKS, "an evaluation")
        files.own_folder(self.folder / "decisions")
        files.make_folders(files.Files(), self.folder / "decisions")
        self._lock.__enter__()
        for place in (self.folder, self.folder / "decisions"):
            files.sweep(files.Files(), place)
        self._digests = verified.digests(self.folder)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.__exit__()

    def begin(self, plan: dict[str, Any]) -> None:
        """Store the plan. A later call may name other agents; nothing else may change once decisions are stored."""
        now = json.loads(json.dumps(plan))
        decisions = self.folder / "decisions"
        if verified.exists(self.folder, "plan.json") and decisions.is_dir() and any(decisions.iterdir()):
            earlier = verified.values(self.folder, "plan.json")
            ownership.check(self.folder, {**earlier, "agents": now["agents"]}, now)
        self.write_json("plan.json", now)

    def same_policies(self, policies: dict[str, str]) -> None:
        """Store the policies' digests; refuse a run whose best policy has changed, which would mix two in a figure."""
        name = "policies.json"
        before = verified.values(self.folder, name) if verified.exists(self.folder, name) else {}
        played = {run: before.get(run, policy) for run, policy in policies.items()}
        ownership.check(self.folder, {"best policy": played}, {"best policy": policies})
        self.write_json("policies.json", {**before, **policies})

    def rows(self, name: str) -> DecisionRows | None:
        """Stored decisions; None if they have not been played."""
        stored = f"decisions/{name}.parquet"
        if not self._there(stored):
            return None
        table = parsed(self.folder / stored, verified.content(self.folder, stored))
        return DecisionRows.of_table(self.folder / stored, table)

    def keep(self, name: str, rows: DecisionRows) -> None:
        """Store decisions."""
        self.write_table(f"decisions/{name}.parquet", rows.stored())

    def entries(self, name: str) -> dict[str, Any]:
        """Entries of a JSON file of the folder; empty if there is no file yet."""
        return verified.values(self.folder, name) if self._there(name) else {}

    def keep_entry(self, name: str, key: str, value: Any) -> None:
        """Add an entry to a JSON file, sorted by key, so that the order of agents does not matter."""
        self.write_json(name, dict(sorted({**self.entries(name), key: value}.items())))

    def write_table(self, name: str, columns: Mapping[str, NDArray[Any] | list[Any]]) -> None:
        """Write columns of equal length as Parquet."""
        buffer = io.BytesIO()
        pq.write_table(pa.table({k: pa.array(v) for k, v in columns.items()}), buffer, compression="zstd")
        self._put(name, buffer.getbuffer())

    def write_json(self, name: str, value: Any) -> None:
        """Write plain values as JSON; raises on a number that is not finite, so that no reader has to."""
        self._put(name, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())

    def write_page(self, name: str, text: str) -> None:
        """Write text as UTF-8."""
        self._put(name, text.encode())

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        if self._digests.pop(name, ""):
            verified.write_digests(files.Files(), self.folder, self._digests)
        files.Files().remove(self.folder / name)

    def _there(self, name: str) -> bool:
        """True if the file exists; adds its digest if an earlier call was killed before it could."""
        there = os.path.lexists(self.folder / name)
        if there and name not in self._digests:
            self._note(name, files.sha256(verified.content(self.folder, name)))
        return there

    def _put(self, name: str, data: bytes | memoryview) -> None:
        """Write a file; its digest is not on the list while it changes, so that a kill leaves no wrong one."""
        if self._digests.pop(name, ""):
            verified.write_digests(files.Files(), self.folder, self._digests)
        files.replace(files.Files(), self.folder / name, data)
        self._note(name, files.sha256(data))

    def _note(self, name: str, digest: str) -> None:
        self._digests[name] = digest
        verified.write_digests(files.Files(), self.folder, self._digests)
