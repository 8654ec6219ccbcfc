"""A line now and then while graphs are built."""

from __future__ import annotations

from recommit.cli import graph_progress


def test_a_line_at_the_end_of_each_graph_with_its_own_rate(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 2.0, 100.0, 102.0])
    monkeypatch.setattr(graph_progress.time, "monotonic", lambda: next(clock))
    line = graph_progress.LookedLine()
    line(10, 90)
    line(90, 90)
    line(5, 60)
    line(60, 60)
    assert capsys.readouterr().err == (
        "looked at 90 of 90 states so far, 45 per second\nlooked at 60 of 60 states so far, 30 per second\n"
    )
