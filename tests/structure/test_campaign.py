"""The fuzzing campaign goes on where it was stopped, and counts what was run on the code as it is."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from tests.verify import campaign, fuzzing
from tests.verify.harness import Finding

if TYPE_CHECKING:
    from pathlib import Path

PARSER = "ice_text"


@pytest.fixture(autouse=True)
def rounds_of_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "ROUND", 10)
    monkeypatch.setattr(campaign, "GOAL", 100)


def test_a_stopped_campaign_goes_on_with_its_next_seed(tmp_path: Path) -> None:
    counts, seeds = tmp_path / "counts.json", []

    def play(inputs: int, seed: int) -> int:
        if len(seeds) == 3:
            raise KeyboardInterrupt
        seeds.append(seed)
        return inputs

    with pytest.raises(KeyboardInterrupt):
        fuzzing.rounds(campaign.Campaign(counts), PARSER, 45, play)
    assert campaign.Campaign(counts).of(PARSER).inputs == 30
    seeds.clear()
    assert fuzzing.rounds(campaign.Campaign(counts), PARSER, 25, play) == 25
    assert seeds == [4, 5, 6]
    assert campaign.Campaign(counts).of(PARSER).inputs == 55
    assert str(campaign.Campaign(counts)) == "inputs so far, of 100 each (ice_text 55); 0 more of earlier code"


def test_a_whole_campaign_runs_one_more_round(tmp_path: Path) -> None:
    ongoing = campaign.Campaign(tmp_path / "counts.json")
    assert fuzzing.rounds(ongoing, PARSER, 1000, lambda inputs, _seed: inputs) == 100
    assert ongoing.remaining(PARSER) == 0
    assert fuzzing.rounds(ongoing, PARSER, 1000, lambda inputs, _seed: inputs) == 10


def test_inputs_of_other_code_are_earlier_ones(tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    counts.write_text(json.dumps({PARSER: {"sources": "other", "inputs": 70, "earlier": 5, "rounds": 7}}))
    ongoing = campaign.Campaign(counts)
    assert ongoing.of(PARSER) == campaign.Count(campaign.digest(PARSER), 0, 75, 7)
    fuzzing.rounds(ongoing, PARSER, 10, lambda inputs, seed: inputs if seed == 8 else 0)
    assert campaign.Campaign(counts).of(PARSER) == campaign.Count(campaign.digest(PARSER), 10, 75, 8)


def test_a_round_without_inputs_is_a_finding(tmp_path: Path) -> None:
    with pytest.raises(Finding, match="took no input"):
        fuzzing.rounds(campaign.Campaign(tmp_path / "counts.json"), PARSER, 10, lambda _inputs, _seed: 0)


def target(folder: Path, work: str) -> Path:
    """A program that does some work for inputs that are not empty."""
    program = folder / "target"
    program.write_text(f"#!/bin/sh\n[ ! -s $1 ] || {work}\n")
    program.chmod(0o755)
    return program


def test_slowness_of_the_machine_is_forgiven_and_that_of_a_parser_is_not(tmp_path: Path) -> None:
    slow = tmp_path / "slow-unit-1"
    slow.write_text("#")
    busy = f"{sys.executable} -c 'import time\nwhile time.process_time() < 1.2: pass'"
    with pytest.raises(Finding, match=r"takes \d\.\d s"):
        fuzzing.check_slow(target(tmp_path, busy), slow, tmp_path)
    fuzzing.check_slow(target(tmp_path, "true"), slow, tmp_path)
    assert not slow.exists()


def test_a_move_and_a_comment_are_no_other_code() -> None:
    texts = ['#include "a/b.hpp"\n\n// How.\nint f();\n', "int g();\n"]
    same = ["int g();\n", '#include "b.hpp"\n/// Why.\nint f();\n']
    assert campaign.code_digest(texts) == campaign.code_digest(same)
    assert campaign.code_digest(texts) != campaign.code_digest(["int f();", "int h();"])


def test_every_parser_has_sources_of_its_own() -> None:
    parsers = [path.stem.removeprefix("fuzz_") for path in fuzzing.FUZZ.glob("fuzz_*.cpp")]
    assert len(parsers) == 3
    assert len({campaign.digest(parser) for parser in parsers}) == 3
    assert all(len(campaign.sources(parser)) == 8 for parser in parsers)
