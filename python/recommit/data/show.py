"""What is in a data set: numbers, and one picture of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import ACTIONS
from recommit.data import rows, shards
from recommit.data.manifest import overlap_text
from recommit.storage import errors
from recommit.storage.files import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.data.dataset import Dataset
    from recommit.data.rows import LabelledRows


def describe(dataset: Dataset) -> dict[str, Any]:
    """Statistics of a split (or of all), read shard by shard; plain JSON values."""
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
    """What histograms are of, in some rows."""
    return {
        "lengths": content.length[(content.t == 0) & (content.kind == rows.EXPERT)],
        "distances": content.distance[~content.dead],
        "optimal_actions": rows.masks(content.optimal)[content.distance > 0].sum(axis=1),
        "kinds": content.kind,
        "admissible": np.concatenate([np.full((content.distance >= depth).sum(), depth) for depth in rows.DEPTHS]),
    }


def text(statistics: dict[str, Any]) -> str:
    """The statistics, to read."""
    count = max(statistics["rows"], 1)
    lengths = [int(length) for length in statistics["lengths"]]
    lines = [
        _first_line(statistics),
        f"{statistics['shards']} shards, {statistics['bytes']:,} bytes, {statistics['bytes_per_row']} per row",
        f"content {statistics['content_sha256'][:16]}",
        "kinds       " + ", ".join(f"{kind} {many:,}" for kind, many in statistics["kinds"].items()),
        "admissible  " + ", ".join(f"depth {d}: {many / count:.1%}" for d, many in statistics["admissible"].items()),
        "ties        " + ", ".join(f"{n} optimal: {many:,}" for n, many in statistics["optimal_actions"].items()),
        f"dead        {statistics['dead']:,} rows ({statistics['dead'] / count:.1%})",
    ]
    if lengths:
        lines.append(f"lengths     {min(lengths)}..{max(lengths)}, median {_median(statistics['lengths'])}")
    if statistics["overlap"]:
        lines.append(f"overlap     {overlap_text(statistics['overlap'])}")
    return "\n".join(lines)


def _first_line(statistics: dict[str, Any]) -> str:
    rows, columns = statistics["size"]
    return (
        f"{statistics['task']} {rows}x{columns}, {statistics['split']}: {statistics['rows']:,} rows of "
        f"{statistics['instances']:,} instances, {statistics['samples']:,} (state, depth) samples"
    )


def _median(histogram: dict[str, int]) -> int:
    values, counts = list(map(int, histogram)), np.cumsum(list(histogram.values()))
    return values[int(np.searchsorted(counts, counts[-1] / 2))]


def picture(dataset: Dataset, path: Path, statistics: dict[str, Any] | None = None) -> None:
    """Draw the statistics and some boards into a PNG, SVG or PDF file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise errors.need("matplotlib", "report") from None
    statistics = statistics or describe(dataset)
    figure = Figure(figsize=(13, 6.8), layout="constrained")
    figure.suptitle(_first_line(statistics))
    above, below = figure.subplots(2, len(_CHARTS))
    for axes, (name, label) in zip(above, _CHARTS.items(), strict=True):
        values = statistics[name]
        axes.bar(list(values), list(values.values()))
        axes.set_xticks(range(0, len(values), 1 + len(values) // 9))
        axes.set(title=name.replace("_", " "), xlabel=label)
    for axes, (image, caption) in zip(below, _examples(dataset, len(_CHARTS)), strict=False):
        axes.imshow(image)
        axes.set_title(caption, fontsize=10)
    for axes in below:
        axes.set_axis_off()
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix.removeprefix(".") or None, dpi=110)


#: Histograms that are drawn, and what their bars are.
_CHARTS = {
    "lengths": "optimal length of an instance",
    "distances": "actions from a state to the goal",
    "admissible": "depths that a state admits",
    "optimal_actions": "optimal actions of a state",
}


def _examples(dataset: Dataset, most: int) -> list[tuple[NDArray[np.uint8], str]]:
    """Boards of all distances of the first shard, far ones first and a dead one last, with their best actions."""
    content = next(dataset.shards(), None)
    if content is None:
        raise errors.WrongDataSpec("split: expected one that has rows, got an empty one")
    dead, alive = np.flatnonzero(content.dead)[:1], np.flatnonzero(~content.dead)
    order = alive[np.argsort(-content.distance[alive], kind="stable")]
    chosen = order[np.linspace(0, len(order) - 1, min(most - len(dead), len(order))).astype(int)]
    some = content[np.concatenate([chosen, dead])]
    captions = [
        f"distance {distance}\n{' or '.join(ACTIONS[a] for a in np.flatnonzero(best))}" if distance >= 0 else "dead"
        for distance, best in zip(some.distance, rows.masks(some.optimal), strict=True)
    ]
    return list(zip(dataset.puzzle.render(some.states), captions, strict=True))
