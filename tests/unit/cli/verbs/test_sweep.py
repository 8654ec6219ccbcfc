"""The verb ``sweep``: its files, what it prints, and Ctrl-C."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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


def test_ctrl_c_says_that_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(worker.Players, "ask", stop)
    assert command_line.main(words(tmp_path)) == 130
    assert "the same command goes on, and plays no episode again" in capsys.readouterr().err
    assert not (tmp_path / ".lock").exists()
