"""Descriptions of a data set: statistics for a terminal, and its README.md, a self-contained Hugging Face data card."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import parquet, rows, shards
from recommit.data.manifest import overlap_text
from recommit.data.spec import SPLITS
from recommit.puzzles.registry import TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.dataset import Dataset
    from recommit.data.manifest import Manifest
    from recommit.data.rows import LabelledRows

NAME = "README.md"


def card(manifest: Manifest) -> str:
    """The card's text, a function of the manifest alone."""
    spec = manifest.spec
    title = f"{spec.task} {', '.join(spec.difficulty_names)}: labelled commitments"
    files = [f"  - split: {split}\n    path: data/{split}-*.parquet" for split in SPLITS if manifest.of(split)]
    parts = [
        _HEADER.format(title=title, task=spec.task, files="\n".join(files)),
        f"# {title}\n",
        _ABOUT,
        _splits(manifest),
        _columns(manifest.spec.task),
        _USE,
    ]
    return "\n".join(part for part in parts if part) + _RECIPE.format(recipe=spec.to_json(), content=manifest.content)


def _splits(manifest: Manifest) -> str:
    lines = ["| split | rows | instances | (state, depth) samples | dead rows | bytes |", "|---|---|---|---|---|---|"]
    for split in SPLITS:
        if manifest.of(split):
            numbers = [manifest.total(what, split) for what in shards.NUMBERS]
            lines.append(f"| {split} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    lines.append(_PUBLISHED if manifest.spec.published else _APART)
    if manifest.spec.disjoint == "layouts":
        lines.append("Here walls and goals alone decide, so no layout of one split is a layout of another.")
    if manifest.overlap:
        lines.append(f"States on the way may still be shared: {overlap_text(manifest.overlap)}.")
    return "\n".join(lines) + "\n"


def _columns(task: str) -> str:
    lines = ["| column | type | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {meaning} |" for name, (kind, meaning) in parquet.COLUMNS.items()]
    return "\n".join(lines) + f"\n\nCells: {TASKS[task].codes}\n"


_APART = """
A start state belongs to a split by a key that all its mirror images share, so no instance of one split is, up
to symmetry, an instance of another, in this data set or between any two made by this package."""

_PUBLISHED = """
Levels are in their published splits. Those of other splits that are also test levels of a published set, mirrored or
not, are left out; some hundred levels for validation are mirror images of ones that are trained on."""

_HEADER = """\
---
pretty_name: "{title}"
license: apache-2.0
task_categories:
- reinforcement-learning
- image-text-to-text
tags:
- recommit
- {task}
- planning
- macro-actions
configs:
- config_name: default
  data_files:
{files}
---
"""

_ABOUT = """\
One row is one state of a puzzle with its exact distance to the goal, every optimal action, and the next up to eight
actions of an optimal solution. A commitment of depth h (1, 2, 4 or 8 actions executed open loop) is admissible in
a row iff `h <= distance`; its expert actions are `actions[:h]`. Pictures are drawn from states on demand. Labels come
from exact solvers: none is a guess.
"""

_USE = """```python
import datasets, numpy as np, torch
rows = datasets.load_dataset("FOLDER", split="train")
grid = np.frombuffer(rows[0]["state"], np.uint8).reshape(rows[0]["rows"], rows[0]["cols"])
optimal = [a for a in range(4) if rows[0]["optimal"] >> a & 1]
batches = torch.utils.data.DataLoader(rows.with_format("torch"), batch_size=32)

import recommit.data                      # or with all columns as numpy, from the package that made it
data = recommit.data.open("FOLDER")
```
"""

_RECIPE = """
Content (sha256 of all rows): `{content}`. The recipe gives it again, byte for byte, on any number of workers:

```json
{recipe}```
"""


def describe(dataset: Dataset) -> dict[str, Any]:
    """Statistics of a split (or of all), computed shard by shard, as JSON values."""
    tallies = {name: Counter[int]() for name in ("lengths", "distances", "optimal_actions", "kinds", "admissible")}
    for content in dataset.shards():
        for name, values in _counted(content).items():
            for value, count in zip(*np.unique(values, return_counts=True), strict=True):
                tallies[name][int(value)] += int(count)
    histograms = {name: {str(value): tally[value] for value in sorted(tally)} for name, tally in tallies.items()}
    histograms["kinds"] = {rows.KINDS[int(kind)]: count for kind, count in histograms["kinds"].items()}
    histograms["admissible"] = {str(depth): tallies["admissible"][depth] for depth in rows.DEPTHS}
    totals = {name: sum(getattr(each, name) for each in dataset.records) for name in shards.NUMBERS}
    return {
        "task": dataset.spec.task,
        "size": list(dataset.spec.size),
        "split": dataset.split or "all",
        "shards": len(dataset.records),
        **totals,
        "bytes_per_row": round(totals["bytes"] / max(totals["rows"], 1), 2),
        "content_sha256": dataset.manifest.content,
        "overlap": dataset.manifest.overlap,
        **histograms,
    }


def _counted(content: LabelledRows) -> dict[str, NDArray[Any]]:
    """The values behind each histogram, for some rows."""
    return {
        "lengths": content.length[(content.t == 0) & (content.kind == rows.EXPERT)],
        "distances": content.distance[~content.dead],
        "optimal_actions": rows.masks(content.optimal)[content.distance > 0].sum(axis=1),
        "kinds": content.kind,
        "admissible": np.concatenate([np.full((content.distance >= depth).sum(), depth) for depth in rows.DEPTHS]),
    }


def text(statistics: dict[str, Any]) -> str:
    """The statistics as text, one line each; histograms as lists of counts."""
    return "\n".join(f"{name:<16} {_listed(value)}" for name, value in statistics.items() if value != {})


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_listed(each)}" for name, each in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)
