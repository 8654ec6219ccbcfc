"""The benchmarks look at their answers, and the comparison with the baseline marks what fell and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench import compare

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.nightly
def test_a_spoiled_answer_fails_every_benchmark() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "bench",
        "--benchmark-disable",
        "--plant",
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    assert re.search(r"\b[1-9]\d* failed", last), done.stdout + done.stderr
    assert "passed" not in last, done.stdout
    assert "error" not in last, done.stdout


def benchmark(name: str, seconds: float, *, yardstick: bool = False, **extra: float) -> dict[str, Any]:
    info = {"items": 100, "yardstick": yardstick, **extra}
    return {"group": "some", "name": f"test_{name}", "extra_info": info, "stats": {"min": seconds}}


def run_of(scale: float, slow: float = 1.0) -> dict[str, Any]:
    """A machine that takes ``scale`` as long over everything, and ``slow`` as long over one thing besides."""
    return {
        "datetime": "2026-01-02T03:04:05",
        "machine_info": {"cpu": {"brand_raw": "a processor"}, "python_version": "3.11.0"},
        "benchmarks": [
            benchmark("plain", 2 * scale, yardstick=True),
            benchmark("quick_one", 0.5 * scale),
            benchmark("other", 0.25 * scale * slow),
            benchmark("theirs", 1.0, rate=400 / scale),
        ],
    }


def called(monkeypatch: pytest.MonkeyPatch, folder: Path, run: dict[str, Any], *options: str) -> int:
    (folder / "run.json").write_text(json.dumps(run))
    words = ["compare", str(folder / "run.json"), "--baseline", str(folder / "baseline.json"), *options]
    monkeypatch.setattr(sys, "argv", words)
    return compare.main()


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    assert called(monkeypatch, tmp_path, run_of(1), "--write") == 0
    capsys.readouterr()
    return tmp_path


def test_a_baseline_is_ratios(baseline: Path) -> None:
    kept = json.loads((baseline / "baseline.json").read_text())
    assert kept["ratios"] == {"some: other": 8.0, "some: quick one": 4.0, "some: theirs": 8.0}
    assert kept["machine"] == {"processor": "a processor", "python": "3.11.0"}
    assert kept["date"] == "2026-01-02"


@pytest.mark.parametrize(
    ("slow", "factor", "status"), [(1.5, "1.6", 0), (1.7, "1.6", 1), (1.7, "2", 0), (0.1, "1.6", 0)]
)
def test_what_fell_by_more_than_the_factor_is_marked(
    baseline: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    slow: float,
    factor: str,
    status: int,
) -> None:
    assert called(monkeypatch, baseline, run_of(3, slow), "--factor", factor) == status
    marked = [line for line in capsys.readouterr().out.splitlines() if "SLOWER" in line]
    assert [line.split("  ")[0] for line in marked] == ["some: other"] * status


def test_the_committed_baseline_has_ratios() -> None:
    ratios = json.loads(compare.BASELINE.read_text("utf-8"))["ratios"]
    groups = {name.split(":")[0] for name in ratios}
    assert {"simulation", "pictures", "patches", "solving", "generation", "data", "look", "rollout"} <= groups
    assert all(ratio > 0 for ratio in ratios.values())
