"""``recommit train sft`` from the command line."""

from __future__ import annotations

import json

import pytest

from recommit.cli import main

pytest.importorskip("tyro")
pytest.importorskip("yaml")


def test_it_shows_what_it_would_run(capsys):
    call = ["train", "sft", "--recipe", "laptop-sliding", "--data", "d", "--out", "o", "--batch", "32"]
    assert main([*call, "--single-commitment", "4", "--set", "optim.batch=64", "run.seed=7", "--show"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["optim"]["batch"] == 64, "--set is above a flag"
    assert shown["run"]["seed"] == 7
    assert shown["targets"]["depths"] == [4]


@pytest.mark.parametrize("verb", ["sft", "grpo"])
def test_deepspeed_is_told_by_name_or_file(verb, capsys, tmp_path):
    call = ["train", verb, "--recipe", "paper-sliding", "--data", "d", "--out", "o", "--show"]
    call += ["--init", "i"] if verb == "grpo" else []
    assert main([*call, "--deepspeed", "zero3-offload"]) == 0
    engine = json.loads(capsys.readouterr().out)["engine"]
    assert (engine["kind"], engine["stage"], engine["bf16"], engine["offload"]) == ("deepspeed", 3, True, True)
    assert engine["settings"]["zero_optimization"]["offload_param"] == {"pin_memory": True}
    (tmp_path / "own.json").write_text('{"zero_optimization": {"stage": 1}, "train_batch_size": "auto"}')
    assert main([*call, "--deepspeed", str(tmp_path / "own.json"), "--vision-cache", "kept"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["engine"]["stage"] == 1
    assert shown["engine"]["settings"] == {}
    assert shown["run"]["vision_cache"].endswith("/kept")
    assert main([*call, "--deepspeed", "zero9"]) == 2
    assert "deepspeed: expected a file or one of zero1, zero1-offload, zero2" in capsys.readouterr().err
    assert main([*call, "--deepspeed", "zero2", "--zero", "2"]) == 2
    assert "expected one of --zero and --deepspeed" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--data", "a", "b"], ["--data", "a", "--data=b"]])
def test_every_data_set_counts(words, monkeypatch):
    """None but the last would be left if a flag that is there twice were read as usual."""
    sft, gathered = pytest.importorskip("recommit.train.sft"), []
    monkeypatch.setattr(sft, "train", lambda _plan, data, *_a, **_k: gathered.append([str(each) for each in data]) or 0)
    assert main(["train", "sft", "--recipe", "laptop-joint", *words, "--out", "o"]) == 0
    assert gathered == [["a", "b"]]
