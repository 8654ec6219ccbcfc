"""``recommit watch`` and ``recommit play --agent``: recordings need numpy alone; a policy plays its own puzzle."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.waiting import HANG, ended

from recommit.cli import main
from recommit.cli.boards import LevelOptions
from recommit.watch import recorded
from recommit.watch.match import ends
from recommit.watch.recorded import RecordedMatch

if TYPE_CHECKING:
    from pathlib import Path

#: Neither torch nor what reads flags.
BARE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "tyro", "rich", "PIL", "pyarrow", "matplotlib", "gymnasium", "yaml", "typing_extensions"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from recommit.cli import main
from recommit.watch import recorded
assert "Content-Security-Policy" in recorded.page(recorded.read(recorded.names()[0]))
sys.exit(main(["watch"]))
"""


def test_a_recording_is_watched_with_numpy_alone() -> None:
    words = [sys.executable, "-c", BARE]
    done = subprocess.run(words, input="  ", capture_output=True, text=True, timeout=HANG, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "observation 3: commits to" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of a Unix")
def test_a_terminal_shows_every_key_and_is_left_as_it_was() -> None:
    import termios

    controller, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    words = [sys.executable, "-m", "recommit.cli", "watch"]
    piped = subprocess.run(words, stdin=terminal, capture_output=True, text=True, timeout=HANG, check=True)
    assert "observation 1: commits to" in piped.stdout, "and no wait for keys that nobody sees"
    with ended(subprocess.Popen(words, stdin=terminal, stdout=terminal, stderr=terminal)) as process:
        os.write(controller, b"  q")
        shown = ""
        while process.poll() is None or select.select([controller], [], [], 0.2)[0]:
            if select.select([controller], [], [], 0.2)[0]:  # a terminal that is not read is full soon
                shown += os.read(controller, 1 << 16).decode()
        assert process.wait(timeout=HANG) == 0
    assert termios.tcgetattr(terminal) == before
    assert shown.count("\x1b[H\x1b[J") == 4, "the level, two observations, the end"
    os.close(controller)
    os.close(terminal)


@pytest.mark.parametrize("name", recorded.names())
def test_recordings_are_small_and_hold_every_fixed_depth(name: str) -> None:
    values = recorded.read(name)
    assert len(recorded.text(values)) < 200_000
    assert values["command"].startswith("recommit play ")
    assert f"--agent {name} " in values["command"]
    assert len(values["weights"]) == 64
    match = RecordedMatch(values)
    for number in range(len(values["levels"])):
        level = match.level(number)
        for depth in (0, *match.about.fixed):
            played = match.episode(level, depth)
            boards = ends(level, played)
            assert level.task.distance(boards).tolist() == list(played.distances), "exact, as it was when recorded"
            assert bool(level.task.is_solved(boards[-1])) == played.solved


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["watch", "nothing"], "recording: expected one of "),
        (["play", "--agent", "x", "--out", "x.gif"], "out: expected a name that ends in .html or .json, got x.gif"),
        (["play", "--agent", "x", "--out", "none/x.html"], "there is no folder none"),
        (["play", "--agent", "x", "--budget", "100"], "budget: expected 1..99, got 100"),
        (["play", "--agent", "x", "--count", "0"], "count: expected at least 1, got 0"),
    ],
)
def test_wrong_calls(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tyro")
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_what_a_call_leaves_open_is_what_the_policy_was_trained_on(tmp_path: Path) -> None:
    trained = ("sliding-3x3", "sokoban-7x7", "of a stranger-9999x1")
    kinds = [{"length": [8, 16], "boxes": 1}, {"length": [9, 32], "boxes": 1}, {"length": [5, 40], "boxes": 3}]
    recipe = {"task": "sokoban", "size": 7, "difficulties": kinds, "count": 1}
    (tmp_path / "config.json").write_text(json.dumps({"data": [{"recipe": recipe}]}))

    def own(**flags: Any) -> tuple[Any, ...]:
        found = LevelOptions(**flags).of_policy(str(tmp_path), trained)
        return found.task, found.size, found.boxes, found.length

    assert own() == ("sliding", (3, 3), None, ())
    assert own(task="sokoban") == ("sokoban", (7, 7), 1, (8, 32))
    assert own(task="sokoban", boxes=3, length=(5,)) == ("sokoban", (7, 7), 3, (5,))
    assert own(task="ice") == ("ice", (), None, ())
    assert own(size=(7,)) == ("sokoban", (7, 7), 1, (8, 32))
    assert own(size=(9,)) == ("sliding", (9, 9), None, ()), "refused by the policy, and no Sokoban level"
    assert own(task="sokoban", size=(9,)) == ("sokoban", (9, 9), None, ())
    assert LevelOptions().of_policy("no run", trained[-1:]) == LevelOptions()


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Knows 2x3 boards alone."""
    pytest.importorskip("torch")
    pytest.importorskip("tyro")
    from recommit.policy.backbones.conv import ConvBackbone, ConvNet, ConvShape
    from recommit.policy.config import DecoderConfig, PolicyConfig
    from recommit.policy.policy import CommitPolicy

    folder = tmp_path_factory.mktemp("policy")
    shape = ConvShape(width=8, blocks=1, z=16, reach=1)
    backbone = ConvBackbone(ConvNet(shape), shape)
    decoder = DecoderConfig(width=32, layers=1, heads=4, ffn=64)
    made = CommitPolicy(backbone, PolicyConfig(lora=None, decoder=decoder, trained=("sliding-2x3",)))
    return made.save_pretrained(folder / "small")


def test_a_policy_is_recorded_on_its_own_boards(
    policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from recommit.policy.checkpoint import weights_of

    monkeypatch.chdir(policy.parent)
    words = ["play", "--agent", "small", "--length", "3", "--count", "2", "--budget", "2", "--out"]
    assert main([*words, str(tmp_path / "r.json")]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'r.json'}: 2 levels, ")
    values = json.loads((tmp_path / "r.json").read_text())
    assert (values["policy"], values["task"], values["budget"]) == ("small", "sliding", 2)
    assert values["weights"] == weights_of(policy)
    command = f"recommit play --length 3 --agent small --budget 2 --out {tmp_path / 'r.json'} --count 2"
    assert values["command"] == command
    assert [(each["rows"], each["cols"]) for each in values["levels"]] == [(2, 3)] * 2
    assert main([*words, str(tmp_path / "r.html")]) == 0
    pages = [each.partition("Recorded by:")[0] for each in ((tmp_path / "r.html").read_text(), recorded.page(values))]
    assert pages[0] == pages[1]


def test_another_size_is_refused_as_another_puzzle_is(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--agent", str(policy), "--budget", "1"]
    assert main(["play", *words, "--size", "3"]) == 2
    assert "task: expected sliding-2x3, which this policy was trained on, got sliding-3x3; " in capsys.readouterr().err
    assert main(["play", *words, "--task", "sokoban"]) == 2
    assert "task: expected sliding-2x3, which this policy was trained on, got sokoban-" in capsys.readouterr().err


def test_levels_end_with_their_file(policy: Path, tmp_path: Path) -> None:
    levels = tmp_path / "levels.txt"
    levels.write_text("1 2 3\n4 0 5\n\n1 2 3\n0 4 5\n")
    out = tmp_path / "r.json"
    assert main(["play", str(levels), "--agent", str(policy), "--budget", "1", "--out", str(out)]) == 0
    assert len(json.loads(out.read_text())["levels"]) == 2
