"""An evaluation's folder: rows as Parquet, figures as JSON, every file whole or not there.

decisions/<agent>[-s<seed>].parquet   one row per decision, of the largest budget (or ``@K`` for agents that know it)
episodes.parquet                      one row per agent, seed, budget and instance
instances.parquet                     the start states, their lengths
plan.json                             what was asked for: going on with another plan is refused
thresholds.json                       of rules that have one: the one chosen, and what each would come to
compute.json                          what one observation costs each policy in operations
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
#: A folder with one of these is that of an evaluation.
MARKS = ("plan.json", "decisions", "episodes.parquet", "summary.json")


class EvaluationStore:
    """Opens or makes the folder, alone."""

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
        """Write down what is asked for. Other agents may be asked for in the same folder; nothing else may change
        once an agent has played."""
        now = json.loads(json.dumps(plan))
        decisions = self.folder / "decisions"
        if verified.exists(self.folder, "plan.json") and decisions.is_dir() and any(decisions.iterdir()):
            earlier = verified.values(self.folder, "plan.json")
            ownership.check(self.folder, {**earlier, "agents": now["agents"]}, now)
        self.write_json("plan.json", now)

    def same_policies(self, policies: dict[str, str]) -> None:
        """Note what plays; a run whose best policy is not the one that played before would mix two in one figure."""
        name = "policies.json"
        before = verified.values(self.folder, name) if verified.exists(self.folder, name) else {}
        played = {run: before.get(run, policy) for run, policy in policies.items()}
        ownership.check(self.folder, {"best policy": played}, {"best policy": policies})
        self.write_json("policies.json", {**before, **policies})

    def rows(self, name: str) -> DecisionRows | None:
        """Decisions that an earlier call has kept; None where they are to be played."""
        stored = f"decisions/{name}.parquet"
        if not self._there(stored):
            return None
        table = parsed(self.folder / stored, verified.content(self.folder, stored))
        return DecisionRows.of_table(self.folder / stored, table)

    def keep(self, name: str, rows: DecisionRows) -> None:
        """Write decisions."""
        self.write_table(f"decisions/{name}.parquet", rows.stored())

    def entries(self, name: str) -> dict[str, Any]:
        """What a JSON file of the folder maps; nothing where there is no file yet."""
        return verified.values(self.folder, name) if self._there(name) else {}

    def keep_entry(self, name: str, key: str, value: Any) -> None:
        """Write one entry beside the others, in an order that does not depend on that of the agents."""
        self.write_json(name, dict(sorted({**self.entries(name), key: value}.items())))

    def write_table(self, name: str, columns: Mapping[str, NDArray[Any] | list[Any]]) -> None:
        """Columns of equal length, as Parquet."""
        buffer = io.BytesIO()
        pq.write_table(pa.table({k: pa.array(v) for k, v in columns.items()}), buffer, compression="zstd")
        self._put(name, buffer.getbuffer())

    def write_json(self, name: str, value: Any) -> None:
        """Plain values; a number that is not finite is an error here, not for the reader."""
        self._put(name, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())

    def write_page(self, name: str, text: str) -> None:
        """UTF-8."""
        self._put(name, text.encode())

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""
        if self._digests.pop(name, ""):
            verified.write_digests(files.Files(), self.folder, self._digests)
        files.Files().remove(self.folder / name)

    def _there(self, name: str) -> bool:
        """Is there a file by this name? One that an earlier call was killed before it noted is noted now."""
        there = os.path.lexists(self.folder / name)
        if there and name not in self._digests:
            self._note(name, files.sha256(verified.content(self.folder, name)))
        return there

    def _put(self, name: str, data: bytes | memoryview) -> None:
        """Write a file; from before it changes until it has changed, its digest is not on the list."""
        if self._digests.pop(name, ""):
            verified.write_digests(files.Files(), self.folder, self._digests)
        files.replace(files.Files(), self.folder / name, data)
        self._note(name, files.sha256(data))

    def _note(self, name: str, digest: str) -> None:
        self._digests[name] = digest
        verified.write_digests(files.Files(), self.folder, self._digests)
