"""The figure of a sweep: labels cover neither marks nor each other, and the frontier is what the card says."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib.text import Text

from recommit.report import plotting, sweep_figure

if TYPE_CHECKING:
    from pathlib import Path


def card(seed: int, score: str = "success") -> dict[str, Any]:
    """Sixteen fixed depths whose queries crowd at the low end, and ten rules among them."""
    rng = np.random.default_rng(seed)
    names = [*(f"fixed-{depth}" for depth in range(1, 17)), *(f"a rule {i}" for i in range(10))]
    queries = [*(200 / np.arange(1, 17)), *rng.uniform(12, 60, 10)]
    values = [0.5 + 0.02 * rng.random() for _ in names]
    rows = [
        {"name": name, "score": [y, y - 0.1, y + 0.1], "queries": [float(x), x, x], "frontier": bool(i % 3)}
        for i, (name, x, y) in enumerate(zip(names, queries, values, strict=True))
    ]
    named = {"env": {"name": "Env-v0"}, "policy": {"name": "policy.py:make"}}
    return {"score": score, "summary": rows, "settings": {"latency": 3, "mode": "hold"}, **named}


def overlaps(figure: Any) -> tuple[int, int]:
    """Pairs of labels that meet, and labels on a mark of another one."""
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = [Text.get_window_extent(text) for text in axes.texts]
    marks = [line for line in axes.lines if line.get_marker() in ("s", "o")]
    points = [axes.transData.transform((line.get_xdata()[0], line.get_ydata()[0])) for line in marks]
    pairs = sum(one.overlaps(other) for one, other in combinations(boxes, 2))
    return pairs, sum(bool(box.contains(*point)) for box in boxes for point in points)


@pytest.mark.parametrize("seed", range(3))
def test_no_label_covers_a_mark_or_another_label(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with plotting.style():
        assert overlaps(sweep_figure.drawn(card(seed))) == (0, 0)
        monkeypatch.setattr(sweep_figure, "_meet", lambda _one, _other: False)
        assert min(overlaps(sweep_figure.drawn(card(seed)))) > 0, "a planted defect: any place will do"


def test_rows_at_one_place_share_a_label_and_every_row_has_one() -> None:
    level = card(0)
    for row in level["summary"][16:]:
        row["score"], row["queries"] = level["summary"][4]["score"], level["summary"][4]["queries"]
    with plotting.style():
        texts = [text.get_text() for text in sweep_figure.drawn(level).axes[0].texts]
    assert ", ".join(["5", *(f"a rule {i}" for i in range(10))]) in texts
    assert {each for text in texts for each in text.split(", ")} >= {str(depth) for depth in range(1, 17)}


def test_a_figure_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("one.svg", "other.svg"):
        sweep_figure.write(card(1, "return"), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_a_name_with_control_characters_is_an_svg_all_the_same(tmp_path: Path) -> None:
    made = {**card(0), "policy": {"name": "\x1b[31mp\0.py:make"}}
    sweep_figure.write(made, tmp_path / "card.svg")
    ElementTree.fromstring((tmp_path / "card.svg").read_text(encoding="utf-8"))
