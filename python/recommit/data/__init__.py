"""Data sets of solver-labelled states, with crash-safe, resumable builds.

    spec = recommit.data.DataSpec("sliding", (3, 3), (recommit.data.Difficulty((8, 24)),), count=10_000, test=1024)
    recommit.data.build(spec, "folder", workers=2)
    data = recommit.data.open("folder")

Needs the extra ``data`` (pyarrow, pyyaml, pillow). Names are imported when they are first used, so that the command
line can look at this package without any extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.lazy import attach

if TYPE_CHECKING:
    from recommit.data.builder import build
    from recommit.data.dataset import Dataset
    from recommit.data.dataset import open_folder as open
    from recommit.data.labels import label
    from recommit.data.loading import Mixture
    from recommit.data.rows import DEPTHS, LabelledRows, Samples, expand, position_weights, sample_count
    from recommit.data.spec import DataSpec, Difficulty
    from recommit.data.verification import verify
    from recommit.storage.errors import DataError

__all__ = [
    "DEPTHS",
    "DataError",
    "DataSpec",
    "Dataset",
    "Difficulty",
    "LabelledRows",
    "Mixture",
    "Samples",
    "build",
    "expand",
    "label",
    "open",
    "position_weights",
    "sample_count",
    "verify",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "recommit.data.builder": "build",
        "recommit.data.dataset": "Dataset open_folder:open",
        "recommit.data.labels": "label",
        "recommit.data.loading": "Mixture",
        "recommit.data.rows": "DEPTHS LabelledRows Samples expand position_weights sample_count",
        "recommit.data.spec": "DataSpec Difficulty",
        "recommit.data.verification": "verify",
        "recommit.storage.errors": "DataError",
    },
)
