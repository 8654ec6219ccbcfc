"""Data sets: solver-labelled states, written so that nothing is ever lost.

    spec = recommit.data.DataSpec("sliding", (3, 3), (recommit.data.Difficulty((8, 24)),), count=10_000, test=1024)
    recommit.data.build(spec, "folder", workers=2)
    data = recommit.data.open("folder")

Needs the extra ``data`` (pyarrow, pyyaml, pillow). Names are imported when they are first used, so that the command
line can look at this package without any extra.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.data.builder import BuildProgress, build
    from recommit.data.dataset import Dataset
    from recommit.data.dataset import open_folder as open
    from recommit.data.exports import export
    from recommit.data.labels import label
    from recommit.data.loading import Feed, Mixture
    from recommit.data.rows import DEPTHS, LabelledRows, Samples, expand, position_weights, sample_count
    from recommit.data.spec import DataSpec, Difficulty
    from recommit.data.verification import verify
    from recommit.storage.errors import DataError

_HOME = {
    "data.builder": ["BuildProgress", "build"],
    "data.dataset": ["Dataset", "open"],
    "data.exports": ["export"],
    "data.labels": ["label"],
    "data.loading": ["Feed", "Mixture"],
    "data.rows": ["DEPTHS", "LabelledRows", "Samples", "expand", "position_weights", "sample_count"],
    "data.spec": ["DataSpec", "Difficulty"],
    "data.verification": ["verify"],
    "storage.errors": ["DataError"],
}

__all__ = [
    "DEPTHS",
    "BuildProgress",
    "DataError",
    "DataSpec",
    "Dataset",
    "Difficulty",
    "Feed",
    "LabelledRows",
    "Mixture",
    "Samples",
    "build",
    "expand",
    "export",
    "label",
    "open",
    "position_weights",
    "sample_count",
    "verify",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            value = getattr(import_module(f"recommit.{module}"), {"open": "open_folder"}.get(name, name))
            globals()[name] = value
            return value
    raise AttributeError(f"module 'recommit.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
