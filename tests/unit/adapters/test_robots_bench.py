"""The bench of Meta-World in little: every piece is made, what is missing is made again alike, and figures follow."""

from __future__ import annotations

import hashlib
import importlib
import subprocess
from pathlib import Path

import pytest
from tests.unit.adapters import peers


def campaign(out: Path) -> None:
    run("-m", "bench.robots.campaign", "--out", str(out), "--quick")


def run(*words: str) -> None:
    done = subprocess.run(
        [peers.interpreter("metaworld"), "-W", "ignore", *words],
        check=False,
        capture_output=True,
        text=True,
        env=peers.environment("metaworld"),
        cwd=peers.ROOT,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]


def digests(out: Path) -> dict[str, str]:
    paths = [path for path in out.rglob("*") if path.is_file()]
    return {path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


@pytest.mark.nightly
def test_what_is_missing_is_made_again_alike(tmp_path):
    out = tmp_path / "robots"
    campaign(out)
    before = digests(out)
    pieces = sorted(name for name in before if "/graph/" not in name)[:: len(before) // 8]
    for piece in [*pieces, "push/0/still/head-1.npz", "push/0/latency/oracle-0.json"]:
        (out / piece).unlink(missing_ok=True)
    campaign(out)
    assert digests(out) == before
    page = importlib.import_module("bench.robots.page")
    page.keep(out, kept := tmp_path / "kept")
    figures = page.collect(kept)
    whole = page.Played.of(out / "push" / "0" / "still")
    assert page.Played.read(kept / "push-0-still.json").rows["fixed-8"].tolist() == whole.rows["fixed-8"].tolist()
    still = figures["conditions"]["still"]["push"]
    assert still["oracles"]["oracle"]["room"].mean >= 0.0
    assert {len(figures["conditions"][name]) for name in page.CONDITIONS} == {1}
    assert "push" in page.filled("<!-- robots verdict-still -->\n<!-- end -->", figures)
    assert len(page.frontiers(figures["conditions"]["still"]).axes) == 2


LITTLE = """
from bench.robots import campaign, flow, learners
learners.EPISODES, learners.BATCH, learners.STEPS, learners.SETTINGS = 8, 4, 20, campaign.QUICK
flow.TASK, flow.SHOWN, flow.STEPS, flow.EPISODES, flow.DELAYS = "push", 12, 80, 2, (4,)
learners.main()
flow.main()
"""


@pytest.mark.nightly
def test_learners_and_the_flow_policy_in_little(tmp_path):
    out, kept = tmp_path / "out", tmp_path / "kept"
    run("-c", LITTLE, "--out", str(out))
    page = importlib.import_module("bench.robots.page")
    page.keep_learners(out, kept)
    assert sorted(path.stem for path in kept.iterdir()) == ["push-0-latency", "push-0-still"]
    played = page.Played.read(kept / "push-0-still.json")
    assert set(played.rows) == {played.constant, *page.WORDS}
    assert {path.stem for path in out.glob("*-*.json")} == {f"{name}-4" for name in page.METHODS}
