"""Data sets: solver-labelled states, written so that nothing is ever lost.

    recipe = recommit.data.Recipe(task="sliding", size=(3, 3), variants=(Variant((8, 24)),), count=10_000, test=1024)
    recommit.data.build(recipe, "folder", workers=2)
    data = recommit.data.open("folder")

Needs the extra ``data`` (pyarrow). Nothing here needs torch except ``recommit.data.loader``.
"""

from __future__ import annotations

from recommit.data.build import Progress, build
from recommit.data.errors import DataError
from recommit.data.labels import label
from recommit.data.recipe import Recipe, Variant
from recommit.data.rows import DEPTHS, Rows

__all__ = ["DEPTHS", "DataError", "Progress", "Recipe", "Rows", "Variant", "build", "label"]
