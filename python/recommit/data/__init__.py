"""Data sets: solver-labelled states, written so that nothing is ever lost.

    spec = recommit.data.DataSpec("sliding", (3, 3), (recommit.data.Difficulty((8, 24)),), count=10_000, test=1024)
    recommit.data.build(spec, "folder", workers=2)
    data = recommit.data.open("folder")

Needs the extra ``data`` (pyarrow, pyyaml). Torch is needed by ``recommit.data.feeding.loader`` alone. Names are
imported when they are first used, so that the command line can look at this package without any extra.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.data.building.builder import BuildProgress, build
    from recommit.data.building.labels import label
    from recommit.data.dataset import Dataset
    from recommit.data.dataset import open_folder as open
    from recommit.data.feeding.feed import Feed
    from recommit.data.feeding.samples import Samples, expand, position_weights, sample_count
    from recommit.data.rows import DEPTHS, LabelledRows
    from recommit.data.showing.exports import export
    from recommit.data.sizes import open_all
    from recommit.data.spec import DataSpec, Difficulty
    from recommit.data.starts.frozen import Frozen, Stratum, freeze
    from recommit.data.verification import verify
    from recommit.storage.errors import DataError

__all__ = [
    "DEPTHS",
    "BuildProgress",
    "DataError",
    "DataSpec",
    "Dataset",
    "Difficulty",
    "Feed",
    "Frozen",
    "LabelledRows",
    "Samples",
    "Stratum",
    "build",
    "expand",
    "export",
    "freeze",
    "label",
    "open",
    "open_all",
    "position_weights",
    "sample_count",
    "verify",
]

_HOME = {
    "data.building.builder": ["BuildProgress", "build"],
    "data.dataset": ["Dataset", "open"],
    "storage.errors": ["DataError"],
    "data.showing.exports": ["export"],
    "data.feeding.feed": ["Feed"],
    "data.building.labels": ["label"],
    "data.spec": ["DataSpec", "Difficulty"],
    "data.rows": ["DEPTHS", "LabelledRows"],
    "data.sizes": ["open_all"],
    "data.feeding.samples": ["Samples", "expand", "position_weights", "sample_count"],
    "data.starts.frozen": ["Frozen", "Stratum", "freeze"],
    "data.verification": ["verify"],
}
_RENAMED = {"open": "open_folder"}


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            value = getattr(import_module(f"recommit.{module}"), _RENAMED.get(name, name))
            globals()[name] = value
            return value
    raise AttributeError(f"module 'recommit.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
