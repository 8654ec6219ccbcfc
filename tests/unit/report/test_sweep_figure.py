"""The figure of a sweep: every row has a name, and the frontier is what the card says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("matplotlib")

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


def test_every_row_is_named_once() -> None:
    made = card(0)
    with plotting.style():
        figure = sweep_figure.drawn(made, "fixed-8")
    (axes,), (legend,) = figure.axes, figure.legends
    depths = [text.get_text() for text in axes.texts]
    named = [text.get_text() for text in legend.get_texts()]
    assert named[:3] == ["Pareto frontier", "fixed depth", "to use: fixed-8"]
    assert [*(f"fixed-{depth}" for depth in depths), *named[3:]] == [row["name"] for row in made["summary"]]
    marks = [line for line in axes.lines if line.get_marker() not in ("None", "") and line.get_fillstyle() == "full"]
    filled = [line.get_markerfacecolor() != "white" for line in marks]
    assert filled == [row["frontier"] for row in made["summary"]]


def test_a_figure_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    made = card(1, "return")
    made["summary"][0]["score"][1:] = [None, None]  # one episode has no interval
    for name in ("one.svg", "other.svg"):
        sweep_figure.write(made, "fixed-8", tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_a_name_with_control_characters_is_an_svg_all_the_same(tmp_path: Path) -> None:
    sweep_figure.write({**card(0), "policy": {"name": "\x1b[31mp\0.py:make"}}, "fixed-8", tmp_path / "card.svg")
    ElementTree.fromstring((tmp_path / "card.svg").read_text(encoding="utf-8"))
