"""What foreign files say reaches a terminal as text: by every way that an attack found, and where pipes and encodings
end.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import unicodedata

import pytest

from recommit.cli import command_line
from recommit.cli.flags import Verb
from recommit.data.builder import build
from recommit.data.spec import DataSpec
from recommit.storage import terminal_text
from recommit.storage.lock import Lock

pytest.importorskip("tyro")
pytest.importorskip("pyarrow")

#: Sets a window's title, wipes the screen, turns what follows around, is not seen.
ORDER = "\x1b]0;0wned\x07\x1b[2J\u202e\u200b"
#: The same in a quoted text of YAML and JSON.
QUOTED = '"\\u001b]0;0wned\\u0007\\u001b[2J\\u202e\\u200b"'
LEVEL = "#####\n#@$.#\n#####\n"


def policy_format(folder):
    pytest.importorskip("torch")
    (folder / "config.json").write_text(json.dumps({"format": ORDER}))
    return lambda: __import__("recommit.policy.checkpoint", fromlist=["_"]).read_config(folder / "config.json")


def best_policy(folder):
    pytest.importorskip("torch")
    (folder / "best.json").write_text(json.dumps({"policy": ORDER}))
    return lambda: __import__("recommit").CommitPolicy.from_pretrained(folder)


def recipe_of(text):
    def way(folder):
        (folder / "r.yaml").write_text(text)
        return ["train", "sft", "--recipe", folder / "r.yaml", "--data", folder, "--out", folder / "run"]

    return way


def plan_key(folder):
    from recommit.evaluate.store import EvaluationStore

    (folder / "plan.json").write_text(json.dumps({ORDER: 1}))
    (folder / "decisions").mkdir()
    (folder / "decisions" / "somebody.parquet").write_bytes(b"")  # who has played: the plan may not change
    return lambda: EvaluationStore(folder).begin({})


def preset_key(folder):
    (folder / "p.yaml").write_text(f"tasks: {{{QUOTED}: 1}}\n")
    return ["reproduce", "--preset", folder / "p.yaml", "--show"]


def manifest_model(folder):
    flags = ["zero-shot", "--model", "m", "--endpoint", "custom", "--base-url", "http://127.0.0.1:9", "--retries", "0"]
    words = [*flags, "--instances", "1", "--size", "2", "3", "--length", "4", "8", "--out", folder / "zs"]
    (folder / "zs").mkdir()
    command_line.main([str(word) for word in words])
    manifest = json.loads((folder / "zs" / "manifest.json").read_text())
    manifest["run"]["model"] = ORDER
    (folder / "zs" / "manifest.json").write_text(json.dumps(manifest))
    (folder / "zs" / "decisions.jsonl").write_text("{}\n")  # a run that got no answer may become another
    return words


def lock_host(folder):
    text = "\x1b]0;0wned\x07\x1b[2J"
    (folder / ".lock").write_text(f"1 boot {text} build\n")
    held = os.open(folder / ".lock", os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    return lambda: Lock(folder).__enter__()


def title(*verb):
    def way(folder):
        (folder / "pack.txt").write_text(f"{LEVEL}Title: \u202ea\u200bb\n{LEVEL}", encoding="utf-8")
        return [*verb, folder / "pack.txt"]

    return way


WAYS = {
    "config.json of a policy": policy_format,
    "best.json of a run": best_policy,
    "key of a recipe": recipe_of(f"sft: {{{QUOTED}: 1}}\n"),
    "value of a recipe": recipe_of(f"sft: {{optim: {{steps: {QUOTED}}}}}\n"),
    "choice of a recipe": recipe_of(f"sft: {{optim: {{schedule: {QUOTED}}}}}\n"),
    "recipe that is no YAML": recipe_of(f"sft: [{ORDER}\n"),
    "key of plan.json": plan_key,
    "key of a preset": preset_key,
    "model of a zero-shot run": manifest_model,
    "host of a lock": lock_host,
    "title, listed": title("levels", "check"),
    "title, printed": title("levels", "check", "--index", "0"),
    "title, solved": title("solve"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="a lock is held by the kernel")
@pytest.mark.parametrize("way", WAYS)
def test_foreign_text_is_shown_and_not_obeyed(way, tmp_path, monkeypatch, capsys):
    does = WAYS[way](tmp_path)
    capsys.readouterr()
    if callable(does):
        monkeypatch.setitem(command_line.VERBS, "doctor", Verb(does, ""))
        does = ["doctor"]
    command_line.main([str(word) for word in does])
    said = "".join(capsys.readouterr())
    orders = [c for c in said if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert not orders, "no order"
    assert any(sign in said for sign in ("\ufffd", "0wned", "unacceptable character")), "but it is there"


def test_a_filter_that_is_left_out_is_caught(tmp_path, monkeypatch, capsys):
    """The planted defect."""
    monkeypatch.setattr(terminal_text, "plain", str)
    with pytest.raises(AssertionError, match="no order"):
        test_foreign_text_is_shown_and_not_obeyed("key of plan.json", tmp_path, monkeypatch, capsys)


def recommit(*words, lines=None, **env):
    """Exit status, and what it said on standard error; its output ends behind so many lines."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recommit.cli", *map(os.fsencode, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **env},
    )
    if lines == 0:
        process.stdout.close()
    out = process.stdout.read() if lines is None else b""
    error = process.stderr.read()
    process.stderr.close()
    process.stdout.close()
    return process.wait(), out, error


@pytest.mark.parametrize("words", [["--help"], ["levels", "check", "--help"]], ids=" ".join)
def test_help_without_docstrings(words):
    status, out, error = recommit(*words, PYTHONOPTIMIZE="2")
    assert (status, error) == (0, b"")
    assert out.startswith(b"usage: recommit")


@pytest.mark.skipif(sys.platform == "win32", reason="no poll there")
@pytest.mark.parametrize("words", [["--help"], ["levels", "check", "PACK"]], ids=" ".join)
def test_a_reader_that_has_gone_is_no_failure(words, tmp_path):
    title()(tmp_path)
    status, _, error = recommit(*(str(tmp_path / "pack.txt") if w == "PACK" else w for w in words), lines=0)
    assert (status, error) == (141, b"")


@pytest.mark.parametrize("encoding", ["ascii", "ascii:surrogateescape"])  # the second is Python's own where LC_ALL is C
def test_titles_go_where_only_ascii_does(encoding, tmp_path):
    (tmp_path / "pack.txt").write_text(f"{LEVEL}Title: Gr\u00f6\u00dfe \u65e5\n", encoding="utf-8")
    status, out, error = recommit("levels", "check", tmp_path / "pack.txt", PYTHONIOENCODING=encoding)
    assert (status, error) == (0, b"")
    assert b"Gr\\xf6\\xdfe \\u65e5" in out


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes there")
def test_a_folder_whose_name_is_no_text_is_verified(tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/d\xff")
    build(
        DataSpec.from_dict({"task": "sliding", "size": [2, 3], "count": 4, "difficulties": [{"length": [2, 4]}]}),
        folder,
    )
    status, out, error = recommit("data", "show", folder, "--verify")
    assert (status, error) == (0, b"")
    assert b"rows, all as they should be" in out
