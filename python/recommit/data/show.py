"""What is in a data set: numbers, and one picture of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import errors, rows

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.data.dataset import Dataset
    from recommit.data.rows import Rows


def describe(dataset: Dataset) -> dict[str, Any]:
    """Statistics of a split (or of all), read shard by shard; plain JSON values."""
    tally = _Tally()
    for content in dataset.shards():
        tally.add(content)
    manifest = dataset.manifest
    size = sum(record.bytes for record in dataset.records)
    count = len(dataset)
    return {
        "task": dataset.recipe.task,
        "size": list(dataset.recipe.size),
        "split": dataset.split or "all",
        "shards": len(dataset.records),
        "rows": count,
        "instances": sum(record.instances for record in dataset.records),
        "samples": sum(record.samples for record in dataset.records),
        "dead": sum(record.dead for record in dataset.records),
        "bytes": size,
        "bytes_per_row": round(size / max(count, 1), 2),
        "content_sha256": manifest.content,
        "overlap": manifest.overlap,
        **tally.plain(),
    }


class _Tally:
    """Histograms over shards."""

    def __init__(self) -> None:
        self.counts: dict[str, NDArray[np.int64]] = {}

    def add(self, content: Rows) -> None:
        start = (content.t == 0) & (content.kind == rows.EXPERT)
        self._count("lengths", content.length[start])
        self._count("distances", content.distance[~content.dead])
        self._count("optimal_actions", rows.masks(content.optimal)[content.distance > 0].sum(axis=1))
        self._count("kinds", content.kind)
        for depth in rows.DEPTHS:
            self._count(f"depth {depth}", (content.distance >= depth).astype(np.int64))

    def _count(self, name: str, values: NDArray[Any]) -> None:
        new, old = np.bincount(values), self.counts.get(name, np.zeros(0, np.int64))
        total = np.zeros(max(len(new), len(old)), np.int64)
        total[: len(old)] += old
        total[: len(new)] += new
        self.counts[name] = total

    def plain(self) -> dict[str, Any]:
        def histogram(name: str) -> dict[str, int]:
            values = self.counts.get(name, np.zeros(0, np.int64))
            return {str(i): int(values[i]) for i in np.flatnonzero(values)}

        return {
            "lengths": histogram("lengths"),
            "distances": histogram("distances"),
            "optimal_actions": histogram("optimal_actions"),
            "kinds": {rows.KINDS[int(kind)]: count for kind, count in histogram("kinds").items()},
            "admissible": {str(depth): histogram(f"depth {depth}").get("1", 0) for depth in rows.DEPTHS},
        }


def text(found: dict[str, Any]) -> str:
    """The statistics, to read."""
    count = max(found["rows"], 1)
    lengths = [int(length) for length in found["lengths"]]
    lines = [
        _first_line(found),
        f"{found['shards']} shards, {found['bytes']:,} bytes, {found['bytes_per_row']} per row",
        f"content {found['content_sha256'][:16]}",
        "kinds       " + ", ".join(f"{kind} {many:,}" for kind, many in found["kinds"].items()),
        "admissible  " + ", ".join(f"depth {d}: {many / count:.1%}" for d, many in found["admissible"].items()),
        "ties        " + ", ".join(f"{n} optimal: {many:,}" for n, many in found["optimal_actions"].items()),
        f"dead        {found['dead']:,} rows ({found['dead'] / count:.1%})",
    ]
    if lengths:
        lines.append(f"lengths     {min(lengths)}..{max(lengths)}, median {_median(found['lengths'])}")
    if seen := found["overlap"]:
        lines.append(
            f"overlap     {seen['test_starts_on_training_paths']:,} of {seen['test_starts']:,} test starts and "
            f"{seen['test_states_on_training_paths']:,} of {seen['test_states']:,} states of test paths lie on "
            "training paths, up to symmetry"
        )
    return "\n".join(lines)


def _first_line(found: dict[str, Any]) -> str:
    return (
        f"{found['task']} {found['size'][0]}x{found['size'][1]}, {found['split']}: {found['rows']:,} rows of "
        f"{found['instances']:,} instances, {found['samples']:,} (state, depth) samples"
    )


def _median(histogram: dict[str, int]) -> int:
    values = np.array([int(value) for value in histogram])
    order = np.argsort(values)
    below = np.cumsum(np.array(list(histogram.values()))[order])
    return int(values[order][np.searchsorted(below, below[-1] / 2)])


def picture(dataset: Dataset, path: Path, found: dict[str, Any] | None = None) -> None:
    """Draw the statistics and some boards into a PNG, SVG or PDF file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise errors.need("matplotlib", "report") from None
    found = found or describe(dataset)
    figure = Figure(figsize=(12, 7), layout="constrained")
    figure.suptitle(_first_line(found))
    top, bottom = np.ravel(np.array(figure.subfigures(2, 1, height_ratios=[3, 2]), object))
    for axes, (title, name, label) in zip(top.subplots(1, 4), _CHARTS, strict=True):
        values = found[name]
        axes.bar(list(map(str, values)), list(values.values()), color="#4878a8")
        axes.set(title=title, xlabel=label)
        axes.set_xticks(axes.get_xticks()[:: max(1, len(values) // 8)])
    content = next(iter(dataset.shards()))
    chosen = content[np.linspace(0, len(content) - 1, 6).astype(int)]
    for axes, image, distance in zip(
        bottom.subplots(1, len(chosen)), dataset.puzzle.render(chosen.states), chosen.distance, strict=True
    ):
        axes.imshow(image)
        axes.set(title="dead" if distance < 0 else f"distance {distance}", xticks=[], yticks=[])
    figure.savefig(path, dpi=110)


_CHARTS = (
    ("Instances by length", "lengths", "optimal length"),
    ("Rows by distance", "distances", "distance to the goal"),
    ("Rows that admit a depth", "admissible", "depth"),
    ("Rows by optimal actions (ties)", "optimal_actions", "optimal actions"),
)
