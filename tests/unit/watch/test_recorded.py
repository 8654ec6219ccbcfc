"""Recordings in files: what ``recommit play --agent`` writes is read again, and what it cannot have written is not."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from tests.refusals import refused
from tests.unit.watch.scripted import ScriptedMatch

from recommit.cli import main
from recommit.storage import errors
from recommit.watch import recorded
from recommit.watch.recorded import record, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def values() -> dict[str, Any]:
    match = ScriptedMatch()
    made: dict[str, Any] = json.loads(text(record(match, [match.level(0), match.level(1)])))
    return made


def test_a_written_recording_is_read_again(values: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text(values))
    assert recorded.read(str(tmp_path / "r.json")) == values


@pytest.mark.parametrize("name", recorded.names())
def test_those_of_the_package_are_read_from_files_too(name: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text(recorded.read(name)))
    assert recorded.read(str(tmp_path / "r.json")) == recorded.read(name)


def test_a_file_goes_before_a_name_of_the_package(
    values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = recorded.names()[0]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()
    assert recorded.read(name)["policy"] == name, "a folder is no recording"
    (tmp_path / name).rmdir()
    (tmp_path / name).write_text(text(values))
    assert recorded.read(name) == values


def first(values: dict[str, Any]) -> dict[str, Any]:
    """The episode of the first level at the policy's own depths."""
    episode: dict[str, Any] = values["levels"][0]["played"]["0"]
    return episode


#: What a stranger may have changed -> how that is refused.
CHANGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no field": (lambda v: v.pop("weights"), "weights: expected text, got no such field"),
    "puzzle": (lambda v: v.update(task="../../x"), "task: expected one of sliding, sokoban, ice, got"),
    "depths": (lambda v: v.update(depths=[10**9]), "depths: expected numbers 1..16, got"),
    "no depths": (lambda v: v.update(depths=[]), "depths: expected at least one, got none"),
    "budget": (lambda v: v.update(budget=10**9), "budget: expected 1..99, got 1000000000"),
    "no levels": (lambda v: v.update(levels=[]), "levels: expected at least one, got none"),
    "side": (lambda v: v["levels"][1].update(rows=-1), "rows: expected 1..64, got -1"),
    "true": (lambda v: v["levels"][1].update(rows=True), "levels.1.rows: expected a whole number, got true or false"),
    "shape": (lambda v: v["levels"][1].update(rows=4), "cannot reshape"),
    "cells": (lambda v: v["levels"][0].update(state="ff" * 30), "state"),
    "no digits": (lambda v: v["levels"][0].update(state="zz"), "non-hexadecimal"),
    "no episode": (lambda v: v["levels"][0]["played"].pop("8"), "levels.0.played.8: expected an object, got no such"),
    "depth": (lambda v: first(v).update(h="z" * len(first(v)["h"])), "whose fields do not fit each other"),
    "no depth": (lambda v: first(v).update(h="-" * len(first(v)["h"])), "invalid literal"),
    "executed": (lambda v: first(v).update(x="0" * len(first(v)["x"])), "whose fields do not fit each other"),
    "longer": (lambda v: first(v).update(x=first(v)["x"] + "1"), "argument"),
    "actions": (lambda v: first(v).update(w="9" * len(first(v)["w"])), "actions"),
    "plan": (lambda v: first(v).update(w=first(v)["w"][:-1]), "whose fields do not fit each other"),
    "chances": (lambda v: first(v).update(p=""), "whose fields do not fit each other"),
    "distances": (lambda v: first(v).update(d=[1]), "whose fields do not fit each other"),
    "regrets": (lambda v: first(v).update(r=["x"]), "levels.0.played.0.r.0: expected a whole number, got text"),
    "fewer regrets": (lambda v: first(v).update(r=[]), "out of range"),
    "cause": (lambda v: first(v).update(c="9" * len(first(v)["c"])), "whose fields do not fit each other"),
    "besides": (lambda v: first(v).update(extra=1), "whose fields do not fit each other"),
    "end": (lambda v: first(v).update(solved=False), "that does not end as it says"),
}


def test_what_a_stranger_may_have_written(values: dict[str, Any], tmp_path: Path) -> None:
    rows = []

    def file(text: str, said: str) -> None:
        path = tmp_path / f"{len(rows)}.json"
        path.write_text(text)
        rows.append((lambda: recorded.read(str(path)), said))

    for change, said in CHANGES.values():
        changed = deepcopy(values)
        change(changed)
        file(json.dumps(changed), said)
    for nothing in ("", "[]", "[" * 100_000, '{"policy": NaN}'):
        file(nothing, f"{len(rows)}.json: ")
    with (tmp_path / "large.json").open("wb") as large:
        large.truncate(1 << 40)  # of no room on the disk
    rows.append((lambda: recorded.read(str(tmp_path / "large.json")), "expected at most 67,108,864 bytes, got"))
    refused(rows, errors.Damaged)


def test_what_a_file_says_besides_does_not_reach_the_page(values: dict[str, Any], tmp_path: Path) -> None:
    changed = {**values, "causes": ["</script>"], "evil": "evil"}
    changed["levels"] = [{**each, "number": "evil"} for each in values["levels"]]
    (tmp_path / "r.json").write_text(json.dumps(changed))
    read = recorded.read(str(tmp_path / "r.json"))
    assert read == values
    made = recorded.page(read)
    assert "<img src=y" not in made


def test_the_command_line_takes_a_file(
    values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    (tmp_path / "r.json").write_text(text(values))
    assert main(["watch", str(tmp_path / "r.json")]) == 0
    assert "observation 1: commits to 1" in capsys.readouterr().out
    assert main(["watch", str(tmp_path / "none.json")]) == 2
    assert "recording: expected one of sliding-3x3, sokoban-7x7, or a file, got" in capsys.readouterr().err
