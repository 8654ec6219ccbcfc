"""Statistics of a data set."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import rows, shards
from recommit.data.manifest import overlap_text

if TYPE_CHECKING:
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
