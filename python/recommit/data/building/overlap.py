"""How much of the test split a training split has seen, up to symmetry."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from recommit.data import rows, shards
from recommit.data.starts import symmetry

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.data.rows import LabelledRows
    from recommit.data.shards import Record
    from recommit.data.spec import DataSpec

#: Keys gathered before duplicates among them are dropped.
_COMPACT = 1 << 23
#: What ``measure`` counts, for each test set.
COUNTS = (
    "test_starts",
    "test_starts_on_training_paths",
    "test_states",
    "test_states_on_training_paths",
    "distinct_training_states",
)


def seen(folder: Path, spec: DataSpec, records: list[Record], threads: int) -> NDArray[np.uint64]:
    """Ascending keys of all states on the training paths: 8 bytes of memory per distinct one."""
    distinct, pending = np.zeros(0, np.uint64), [np.zeros(0, np.uint64)]
    with ThreadPoolExecutor(threads) as pool:
        several = pool.map if threads > 1 else map  # one needs no thread beside this one
        for keys in several(lambda record: shards.keys(folder, spec, record), records):
            pending.append(keys)
            if sum(map(len, pending)) > _COMPACT:
                distinct, pending = np.unique(np.concatenate([distinct, *pending])), []
    return np.unique(np.concatenate([distinct, *pending]))


def measure(spec: DataSpec, test: LabelledRows, keys: NDArray[np.uint64]) -> dict[str, int]:
    """Counts for the manifest: test starts, and expert states of test instances, that occur on training paths."""
    expert = test[test.kind == rows.EXPERT]
    hit = np.isin(symmetry.keys(spec.task, expert.states), keys)
    start = expert.t == 0
    counts = (int(start.sum()), int((hit & start).sum()), len(expert), int(hit.sum()), len(keys))
    return dict(zip(COUNTS, counts, strict=True))
