"""The README.md of a data set: a Hugging Face data card that a stranger can start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.data import parquet, shards
from recommit.data.manifest import overlap_text
from recommit.data.spec import SPLITS
from recommit.puzzles.registry import TASKS

if TYPE_CHECKING:
    from recommit.data.manifest import Manifest

NAME = "README.md"


def card(manifest: Manifest, repo: str = "") -> str:
    """The text: a function of the manifest alone, and of the repository that it is pushed to."""
    spec = manifest.spec
    title = f"{spec.task} {', '.join(spec.difficulty_names)}: labelled commitments"
    parts = [
        _header(manifest, title),
        f"# {title}\n",
        _ABOUT,
        _splits(manifest),
        _columns(manifest.spec.task),
        _back(repo),
        _USE,
    ]
    return "\n".join(part for part in parts if part) + _RECIPE.format(recipe=spec.to_json(), content=manifest.content)


def _header(manifest: Manifest, title: str) -> str:
    """The metadata that the Hub reads."""
    files = [f"  - split: {split}\n    path: data/{split}-*.parquet" for split in SPLITS if manifest.of(split)]
    return _HEADER.format(title=title, task=manifest.spec.task, files="\n".join(files))


def _back(repo: str) -> str:
    """The line that loads it from where it was pushed to; nothing of a data set that was not pushed."""
    if not repo:
        return ""
    line = f'data = recommit.data.open(huggingface_hub.snapshot_download("{repo}", repo_type="dataset"))'
    return f"```python\n{line}\n```\n"


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
