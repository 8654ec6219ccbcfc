"""How the run was trained, from the lines that it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.report import figures
from recommit.report.figures import Series

if TYPE_CHECKING:
    from recommit.report.axes import Figure

#: Steps that a drawn line is the mean of; the paper's figures do the same.
WINDOW = 5
#: Where a line has the share solved and the actions, with factors: of training, and of its validation.
_OWN = ((("solve_rate",), 100.0), (("actions",), 1.0))
_CHECKED = ((("validation", "solved", "adaptive"), 100.0), (("validation", "actions", "adaptive"), 1.0))
#: name, title, name of the axis, factor, fields of a line, fields of its validation.
_PANELS = (
    ("solved", "Solved while training", "solved, %", 100.0, ("solve_rate",), ("solved", "adaptive")),
    ("actions", "Actions per episode", "actions", 1.0, ("actions",), ("actions", "adaptive")),
    ("reward", "Reward", "reward", 1.0, ("reward",), ()),
    ("loss", "Loss", "loss", 1.0, ("loss",), ("loss",)),
    ("mutual_information", "Mutual information of state and depth", "nats", 1.0, ("mutual_information",), ()),
)


def panels(lines: list[dict[str, Any]]) -> list[Figure]:
    """A figure for everything that the run wrote down; a field that it did not write has none."""
    steps = [line for line in lines if "loss" in line]
    seen = [line for line in lines if isinstance(line.get("validation"), dict)]
    figures_ = []
    for name, title, y_name, factor, own, checked in _PANELS:
        series = [*_smoothed("training", "first", steps, own, factor)]
        series += _plain("validation", "ceiling", seen, ("validation", *checked), factor) if checked else []
        if name == "loss" and any("solve_rate" in line for line in steps):
            continue  # of reinforcement, where it says nothing
        figures_ += _figure(name, title, y_name, series, (0.0, 104.0) if factor > 1 else None)
    entropies = [
        *_smoothed("depth head", "first", steps, ("entropy_depth",)),
        *_smoothed("actions", "fixed", steps, ("entropy_actions",)),
    ]
    figures_ += _figure("entropies", "Entropy of both heads", "nats", entropies, None)
    depths = sorted({d for line in steps for d in _numbers(line.get("depths"))}, key=int)
    shares = [s for d in depths for s in _smoothed(f"h = {d}", f"depth d{d}", steps, ("depths", d), 100.0, raw=False)]
    return figures_ + _figure("shares", "Shares of depths", "decisions, %", shares, (0.0, 104.0))


def imitation(lines: list[dict[str, Any]]) -> list[Figure]:
    """The loss of the warm start that a run began with, and what its validations solved at every depth."""
    loss = [*_smoothed("training", "first", [line for line in lines if "loss" in line], ("loss",))]
    seen = [line for line in lines if isinstance(line.get("validation"), dict)]
    loss += _plain("validation", "ceiling", seen, ("validation", "loss"), 1.0)
    return _figure("warm-start-loss", "Loss of the warm start", "loss", loss, None)


def in_words(lines: list[dict[str, Any]]) -> list[str]:
    """What was written down at one step only: a curve of it would be a dot."""
    steps = [line for line in lines if "loss" in line]
    seen = [line for line in lines if isinstance(line.get("validation"), dict)]
    sentences = []
    for label, where, fields in (("training", steps, _OWN), ("validation", seen, _CHECKED)):
        (xs, solved), (_, actions) = (_values(where, each, factor) for each, factor in fields)
        if len(xs) == len(actions) == 1 and len(steps) < 2:
            sentences.append(f"In {label}, at step {xs[0]}: {solved[0]:.1f} % solved with {actions[0]:.1f} actions.")
    return sentences


def _numbers(value: Any) -> list[str]:
    return [key for key in value if key in "12345678"] if isinstance(value, dict) else []


def _figure(
    name: str, title: str, y_name: str, series: list[Series], y_range: tuple[float, float] | None
) -> list[Figure]:
    """None of a single step: that is said in words."""
    drawn = [one for one in series if len(one.xs) > 1 or one.loose]
    if not any(len(one.xs) > 1 for one in drawn):
        return []
    return [figures.lines(f"training-{name}", title, "step", y_name, drawn, y_range=y_range, whole=True)]


def _values(lines: list[dict[str, Any]], fields: tuple[str, ...], factor: float) -> tuple[list[int], list[float]]:
    """Steps at which a field was written, and what."""
    xs, ys = [], []
    for line in lines:
        value: Any = line
        for field in fields:
            value = value.get(field) if isinstance(value, dict) else None
        if isinstance(value, (int, float)) and abs(value) < float("inf"):
            xs.append(line["step"])
            ys.append(factor * value)
    return xs, ys


def _smoothed(
    label: str,
    class_: str,
    lines: list[dict[str, Any]],
    fields: tuple[str, ...],
    factor: float = 1.0,
    *,
    raw: bool = True,
) -> list[Series]:
    """The mean of the last steps, over the single steps; of a short run the single steps alone."""
    xs, ys = _values(lines, fields, factor)
    if len(xs) < 2 * WINDOW:
        return [Series(label, class_, xs, ys)] if xs else []
    recent = [ys[max(0, i - WINDOW + 1) : i + 1] for i in range(len(ys))]
    means = [sum(values) / len(values) for values in recent]
    return [*([Series("", f"{class_} thin", xs, ys)] if raw else []), Series(label, class_, xs, means)]


def _plain(
    label: str, class_: str, lines: list[dict[str, Any]], fields: tuple[str, ...], factor: float
) -> list[Series]:
    xs, ys = _values(lines, fields, factor)
    return [Series(label, class_, xs, ys, loose=True)] if xs else []
