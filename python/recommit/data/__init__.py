"""Data sets: solver-labelled states, written so that nothing is ever lost.

    recipe = recommit.data.Recipe(task="sliding", size=(3, 3), variants=(Variant((8, 24)),), count=10_000, test=1024)
    recommit.data.build(recipe, "folder", workers=2)
    data = recommit.data.open("folder")

Needs the extra ``data`` (pyarrow). Nothing here needs torch except ``recommit.data.loader``.
"""

from __future__ import annotations

from recommit.data.build import Progress, build
from recommit.data.dataset import Dataset
from recommit.data.dataset import open_folder as open
from recommit.data.errors import DataError
from recommit.data.feed import Feed
from recommit.data.labels import label
from recommit.data.recipe import Recipe, Variant
from recommit.data.rows import DEPTHS, Rows
from recommit.data.samples import Samples, expand, position_weights, sample_count
from recommit.data.verify import verify

__all__ = [
    "DEPTHS",
    "DataError",
    "Dataset",
    "Feed",
    "Progress",
    "Recipe",
    "Rows",
    "Samples",
    "Variant",
    "build",
    "expand",
    "label",
    "open",
    "position_weights",
    "sample_count",
    "verify",
]
