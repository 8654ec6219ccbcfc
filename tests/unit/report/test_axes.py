"""Scales, ticks and labels."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from recommit.report import axes
from recommit.report.axes import Box, Figure


def test_scales_are_straight():
    scale = axes.Scale(10, 30, 100, 0)
    assert [scale(v) for v in (10, 20, 30)] == [100, 50, 0]
    frame = axes.frame(3, 3, 0, 0)  # one value has no scale of its own
    assert frame.x(3) == axes.LEFT
    assert frame.y(0) == axes.HEIGHT - axes.BOTTOM


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 104, [0, 20, 40, 60, 80, 100]),
        (1, 15, [5, 10, 15]),
        (0.0, 0.21, [0, 0.05, 0.1, 0.15, 0.2]),
        (-3, 3, [-2, 0, 2]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_round_and_inside(low, high, expected):
    assert axes.ticks(low, high) == expected


def test_labels_keep_their_order_and_a_gap():
    assert axes.spread([50, 10, 12], 13, 0, 100) == [50, 10, 23]
    crowded = axes.spread([95, 96, 97], 13, 0, 100)
    assert crowded == [74, 87, 100]
    assert axes.spread([], 13, 0, 100) == []


def test_a_label_finds_room_beside_its_point_or_none():
    inside = Box(0, 0, 200, 100)
    taken: list[Box] = []
    assert axes.beside(50, 50, "name", taken, inside) == (59, 54, "start")
    assert axes.beside(195, 50, "name", taken, inside)[2] == "end"
    assert not any(a.meets(b) for a in taken for b in taken if a is not b)
    assert axes.beside(50, 50, "a name that is much too long for it", taken, Box(0, 0, 60, 60)) is None


def test_a_picture_alone_has_its_colours_and_is_xml():
    frame = axes.frame(0, 1, 0, 1)
    figure = Figure("f", "a < b", axes.drawing("a < b", frame.lines("x", "y")), ("a",), ((1,),))
    root = ET.fromstring(figure.alone())
    assert root.find("{http://www.w3.org/2000/svg}title").text == "a < b"
    assert "svg.figure" in root.find("{http://www.w3.org/2000/svg}style").text
    assert figure.csv() == "a\n1\n"
