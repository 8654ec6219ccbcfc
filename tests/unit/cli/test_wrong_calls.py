"""A wrong call is one sentence with status 2, and leaves nothing behind; so is what the system says of a path."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import recommit
from recommit.cli import command_line
from recommit.storage import errors, files

pytest.importorskip("tyro")
pytest.importorskip("yaml")

FEW = "estimate paper-sliding"
GENERATE = "levels generate --out NEW"
#: FOLDER and FILE are empty, LEVEL holds one level, NONE and NEW are not there.
CALLS = [
    ("", "usage: recommit VERB"),
    ("nonsense", "unknown command: nonsense"),
    ("train nonsense", "unknown command: train nonsense\nusage: recommit train VERB"),
    ("levels", "usage: recommit levels VERB"),
    ("levels generate", "--out"),
    ("bench --nonsense", "--nonsense"),
    (f"{GENERATE} --task chess", "chess"),
    ("levels generate --out FOLDER", "FOLDER: expected a file, got a folder"),
    ("levels generate --out NONE/levels.txt", "levels.txt: there is no folder "),
    ("levels generate --out FILE/levels.txt", "levels.txt: there is no folder "),
    (f"levels generate --count 1 --out {'x' * 250}", "the name is too long for this file system"),
    pytest.param(
        f"levels generate --out {os.devnull}", f"{os.devnull}: expected a file, got a device",
        marks=pytest.mark.skipif(os.name == "nt", reason="no devices in folders there"),
    ),
    ("levels check", "the following arguments are required: file"),
    ("levels check NONE", "NONE: there is no such file or folder"),
    ("levels check FOLDER", "FOLDER: expected a file, got a folder"),
    ("levels check LEVEL --index 1", "index: expected 0..0, got 1"),
    ("solve", "expected a level file, or --task"),
    ("solve LEVEL --task ice", "task: expected none with a level file, which has its own, got ice"),
    ("play LEVEL --agent x --boxes 3", "boxes: expected none with a level file, which has its own, got 3"),
    ("data build --out NEW", "expected --recipe or --task --count, got neither"),
    ("play --agent nosuch/run", "run: expected the folder of a run or of a saved policy"),
    ("data show NONE", "NONE: expected a finished data set, found no such folder"),
    ("data show FILE", "FILE: expected the folder of a data set, got a file"),
    ("data build --task sliding --count 5 --out FILE", "FILE: expected a folder or nothing there, got a file"),
    ("data build --recipe NONE --out NEW", "NONE: expected a recipe file, found none"),
    ("train sft --recipe nothing --data NONE --out NEW", "recipe: expected a file or one of boxoban, laptop-"),
    ("train sft --recipe laptop-sliding --out NEW", "data: expected a folder (--data FOLDER), got none"),
    ("train grpo --recipe laptop-sliding --out NEW", "init: expected a folder (--init FOLDER), got none"),
    ("train grpo --recipe laptop-sliding --show --set advantage.estimator=episode phases=[] --reward mine.py",
     "reward: expected a file of Python, got none by the name mine.py"),
    ("report FOLDER --out new.html --instances -1", "instances: expected 0 or more, got -1"),
    ("report FOLDER --out new.html", "eval: expected the folder of a finished"),
    ("estimate nobody", "recipe: expected a file or one of"),
    (f"{FEW} --set model.backbone=nobody/nothing", "model.backbone: expected random:NAME"),
    (f"{FEW} --card abacus", "card: expected one of a100"),
    ("estimate quick-sliding --stage sft --gpus 1000", "optim.batch: expected a multiple of 1000 ranks, got 128"),
    ("estimate quick-sliding --stage grpo --gpus 3", "rollout.instances: expected multiples of 3 ranks, got (512"),
    ("sweep --out NEW --env-kwargs {} --env.x=1", "env-kwargs: expected either --env-kwargs or --env.NAME=VALUE, got"),
    ("sweep --out NEW --lerobot X --env Y", "env: expected none beside lerobot, which has its own, got Y"),
    ("evaluate nosuch --out NEW", "run: expected the folder of a training run, or one of sliding-3x3, sokoban-10x10"),
    ("evaluate FOLDER --out NEW", "run: expected the folder of a training run"),
    ("evaluate FOLDER --out NEW --agents clever", "agents: expected names of adaptive"),
    ("evaluate FOLDER --out NEW --length 3 4 5", "length: expected one length, or shortest and longest, got 3 numbers"),
    ("evaluate FOLDER --out NEW --instances 0", "instances, validation: expected at least 1, "),
    ("evaluate FOLDER --out NEW --price-observation nan", "observation: expected a number of at least 0"),
    ("evaluate FOLDER --out NEW --fresh 4 --split validation", "split: expected test beside --fresh"),
    ("evaluate FOLDER --out NEW --agents adaptive+memory", "got adaptive+memory"),
    ("report FOLDER --out NONE/page.html", "page.html: there is no folder "),
    ("reproduce", "out: expected a folder, got none"),
    ("reproduce --preset nothing --out NEW", "preset: expected a file or one of boxoban, caves, "),
]  # fmt: skip


@pytest.mark.parametrize(("line", "sentence"), CALLS)
def test_a_wrong_call_is_a_sentence_and_leaves_nothing(
    line: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if line.startswith(("estimate", "evaluate", "train")):
        pytest.importorskip("torch")
        pytest.importorskip("pyarrow")
    if line.startswith("report"):
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "FILE").touch()
    (tmp_path / "LEVEL").write_text("######\n#@$ .#\n######\n")
    assert command_line.main(line.split()) == 2
    said = "".join(capsys.readouterr())
    assert sentence in said
    assert ".tmp" not in said
    assert "Error" not in said
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["FILE", "FOLDER", "LEVEL"]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_what_is_not_permitted_names_the_path_of_the_call(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_files: files.Files, path: Path) -> int:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(files.Files, "create", refuse)
    out = tmp_path / "levels.txt"
    assert command_line.main(["levels", "generate", "--task", "sliding", "--count", "1", "--out", str(out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"recommit: {out}: ")
    assert line.endswith((" there", " read"))


WITHOUT = "in a clone of recommit: pip install '.[deepspeed]'; --set engine.kind=plain runs without it"


@pytest.mark.parametrize(
    ("error", "sentence", "status"),
    [
        (OSError(errno.EIO, "broken", "out"), "out: broken", 1),
        (OSError(errno.EMFILE, "Too many open files"), "the system says: Too many open files", 1),
        (Exception("I/O error: No space (os error 28)"), "the system says: No space left on device", 1),
        (errors.WrongFolder("out: expected a folder"), "out: expected a folder", 2),
        (errors.FolderBusy("out: busy"), "out: busy", 1),
        (ValueError("cell: expected 4..112, got 3"), "cell: expected 4..112, got 3", 2),
        (recommit.LevelError("a.txt: line 3"), "a.txt: line 3", 1),
        (ValueError("no sentence of ours"), "ValueError: no sentence of ours", 1),
        (ConnectionError("refused"), "ConnectionError: refused", 1),
        (ModuleNotFoundError(name="deepspeed"), f"this command needs deepspeed; {WITHOUT}", 1),
    ],
    ids=repr,
)
def test_what_is_said_of_an_error(error: Exception, sentence: str, status: int) -> None:
    """A class is named only where the sentence is not ours."""
    assert command_line.explained(error) == (sentence, status)
