"""The verb ``sweep``: its files, what it prints, and Ctrl-C."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

for module in ("gymnasium", "matplotlib", "tyro"):
    pytest.importorskip(module)

from tests.unit.horizon.sweep import toy

from recommit.cli import command_line
from recommit.horizon.sweep import worker

if TYPE_CHECKING:
    from pathlib import Path


def words(out: Path) -> list[str]:
    usual = ["sweep", "--env", f"{toy.__file__}:make", "--policy", f"{toy.__file__}:Policy", "--quiet"]
    return [
        *usual,
        "--episodes",
        "2",
        "--validation",
        "1",
        "--thresholds",
        "1",
        "--depths",
        "2",
        "3",
        "--out",
        str(out),
    ]


def test_a_sweep_prints_its_table_and_draws_its_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([*words(tmp_path), "--env-kwargs", '{"allowed": 5}']) == 0
    said = capsys.readouterr().out
    assert said == (tmp_path / "table.md").read_text()
    assert "| fixed-2" in said
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"card.json", "episodes.jsonl", "figure.png", "figure.svg", "sweep.json", "table.md"}
    assert command_line.main([*words(tmp_path), "--env-kwargs", '{"allowed": 5}', "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "card.json").read_text())["summary"]
    assert command_line.main(words(tmp_path)) == 2
    assert "settings.env_kwargs was" in capsys.readouterr().err


def test_a_tracker_gets_fixed_depths_as_a_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    run = SimpleNamespace(log=lambda figures, step: told.append((step, figures)), finish=lambda: told.append("end"))
    monkeypatch.setitem(sys.modules, "trackio", SimpleNamespace(init=lambda **of: told.append(of["project"]) or run))
    assert command_line.main([*words(tmp_path), "--trackio", "mine"]) == 0
    summary = json.loads((tmp_path / "card.json").read_text())["summary"]
    (project, *rows, end) = told
    assert (project, end, [step for step, _ in rows][:2]) == ("mine", "end", [2, 3])
    assert rows[0][1] == {f"fixed/{name}": summary[0][name][0] for name in ("score", "queries", "minus_best_fixed")}
    assert [next(iter(figures)).partition("/")[0] for _, figures in rows[2:]] == [row["name"] for row in summary[2:]]
    monkeypatch.setitem(sys.modules, "trackio", None)
    assert command_line.main([*words(tmp_path / "other"), "--trackio", "mine"]) == 2
    assert "trackio: expected the package trackio" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_ctrl_c_says_that_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(worker.Players, "ask", stop)
    assert command_line.main(words(tmp_path)) == 130
    assert "the same command goes on, and plays no episode again" in capsys.readouterr().err
    assert not (tmp_path / ".lock").exists()
