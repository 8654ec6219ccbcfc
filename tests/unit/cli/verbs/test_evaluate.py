"""Wrong calls of ``recommit evaluate``; right ones are in ``tests/unit/evaluate``."""

from __future__ import annotations

import pytest

from recommit.cli import main

pytest.importorskip("tyro")
pytest.importorskip("torch")
pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--agents", "clever"], "agents: expected names of adaptive"),
        (["--length", "3", "4", "5"], "length: expected one length, or shortest and longest, got 3 numbers"),
        (["--instances", "0"], "instances: expected at least 1, got 0"),
        (["--price-observation", "nan"], "price_observation: expected a finite number from 0 on, got nan"),
        (["--fresh", "4", "--split", "validation"], "split: expected test or validation, and fresh from 1 on"),
        (["--agents", "adaptive+memory"], "got adaptive+memory"),
        (["--edges", "halves"], "halves"),
        ([], "run: expected the folder of a training run"),
    ],
)
def test_wrong_calls_say_what_was_expected(tmp_path, capsys, more, said):
    assert main(["evaluate", str(tmp_path), "--out", str(tmp_path / "e"), *more]) == 2
    assert said in capsys.readouterr().err
