"""A run: what is played, counted, resumed, refused and kept."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.zero_shot.called import zero_shot
from tests.unit.zero_shot.servers import ACTIONS, answer, error, expert, journal_of, reply

import recommit
from recommit.results.intervals import wilson
from recommit.storage import jsonl
from recommit.storage.errors import FolderBusy
from recommit.storage.lock import Lock
from recommit.zero_shot import runner

TASK = recommit.Sliding(2, 3)
BAD = ["", "sorry", "{x}", "{}", '{"h":3,"actions":[]}', '{"h":2,"actions":["up"]}', '{"h":1,"actions":["hop"]}']


def play(url, out, **more):
    flags = {"size": (2, 3), "length": (4, 12), "budget": 4, "instances": 6, "workers": 1, "quiet": True} | more
    return zero_shot("tiny", out, endpoint="custom", base_url=url, **flags)


def read(out):
    decisions = jsonl.read(out / "decisions.jsonl")
    return decisions, jsonl.read(out / "episodes.jsonl"), json.loads((out / "summary.json").read_text())


def test_an_expert_solves_everything(serve, tmp_path, capsys):
    server = serve(script=expert(TASK))
    assert play(server.url, tmp_path, workers=4) == 0
    decisions, episodes, summary = read(tmp_path)
    assert all(e["solved"] and e["finished"] and e["actions"] == e["length"] for e in episodes)
    row = summary[0]
    assert (row["agent"], row["task"], row["budget"], row["decisions"]) == ("tiny", "sliding", "4", 4)
    assert (row["instances"], row["solved"], row["solve_rate"], row["spl"]) == (6, 6, 1.0, 1.0)
    assert row["actions_per_episode"] == sum(e["length"] for e in episodes) / 6
    assert (row["solve_low"], row["solve_high"]) == wilson(1.0, 6)
    assert row["outcomes"]["ok"] == len(decisions) == len(server.seen) == row["requests"] == len(journal_of(tmp_path))
    assert "solved 6 of 6: 100.0 % [61.0, 100.0]" in capsys.readouterr().out


@pytest.mark.parametrize("task", [recommit.Sliding(3), recommit.Sokoban(7, boxes=2)])
def test_both_tasks_at_the_budgets_of_the_paper(task, serve, tmp_path):
    server = serve(script=expert(task, depth=2))
    boards = {"size": task.shape, "length": (5, 16), "cell": 28, "budget": None, "instances": 3}
    assert play(server.url, tmp_path, task=task.task, **boards) == 0
    _, episodes, summary = read(tmp_path)
    loose, tight = {"sliding": (15, 10), "sokoban": (6, 4)}[task.task]
    assert [(row["budget"], row["decisions"]) for row in summary] == [("loose", loose), ("tight", tight)]
    assert summary[0]["solved"] == sum(e["solved"] for e in episodes) > 0
    # What a smaller budget would have seen is the beginning of the same episodes.
    assert summary[1]["solved"] == sum(e["solved"] and e["decisions"] <= tight for e in episodes)
    system, look = server.seen[0].body["messages"]
    assert "JSON" in system["content"]
    assert {"sliding": "tiles", "sokoban": "Sokoban"}[task.task] in look["content"][1]["text"]


def test_words_may_say_where_the_tile_goes(serve, tmp_path):
    tiles = ("down", "up", "right", "left")  # of the tile that changes places with a blank going up, down, left, right
    server = serve(script=expert(TASK, words=tiles))
    assert play(server.url, tmp_path / "tile", moves="tile") == 0
    decisions, episodes, _ = read(tmp_path / "tile")
    assert all(e["solved"] and e["actions"] == e["length"] for e in episodes)
    assert all(
        json.loads(d["text"])["actions"] == [tiles[ACTIONS.index(word)] for word in d["actions"]] for d in decisions
    )
    assert "a tile moves into the empty cell" in json.dumps(server.seen[0].body)
    manifests = [json.loads((tmp_path / "tile" / "manifest.json").read_text())["run"]]
    assert play(server.url, tmp_path / "blank", instances=1) == 0
    assert not any(e["solved"] for e in read(tmp_path / "blank")[1]), "the same words, taken for the blank's way"
    manifests.append(json.loads((tmp_path / "blank" / "manifest.json").read_text())["run"])
    assert [run["moves"] for run in manifests] == ["tile", "blank"]
    assert [sorted(run["prompts"]) for run in manifests] == [
        ["sliding-tile-v1", "system-v1"],
        ["sliding-v1", "system-v1"],
    ]


def test_malformed_answers_spend_decisions_and_run_nothing(serve, tmp_path, capsys):
    server = serve(script=lambda _, number: answer(BAD[(number - 1) % len(BAD)]))
    assert play(server.url, tmp_path, instances=7) == 0
    decisions, episodes, summary = read(tmp_path)
    assert len(decisions) == 28
    assert Counter(r["outcome"] for r in decisions) == dict.fromkeys(
        ("empty", "no_object", "bad_json", "wrong_fields", "depth_outside", "count_mismatch", "unknown_action"), 4
    )
    assert all((e["decisions"], e["actions"], e["solved"]) == (4, 0, False) for e in episodes)
    assert {k: v for k, v in summary[0]["outcomes"].items() if v} == Counter(r["outcome"] for r in decisions)
    assert summary[0]["mean_depth"] is None
    assert "0 of 7: 0.0 % [0.0, 35.4], - actions per episode" in capsys.readouterr().out
    assert [r["text"] for r in decisions[:7]] == BAD


@pytest.mark.usefixtures("no_retries")
def test_failures_of_the_server_are_no_decisions(serve, tmp_path, capsys):
    server = serve(reply({"error": "no"}, "500 Oops"), answer())
    assert play(server.url, tmp_path, instances=4) == 0
    decisions, episodes, summary = read(tmp_path)
    assert [e["infra_error"] for e in episodes] == ["http_500: no, 1 times", None, None, None]
    assert (summary[0]["instances"], summary[0]["infra_errors"], summary[0]["unfinished"]) == (3, 1, 0)
    assert len(decisions) == 12
    assert "1 episodes got no answers from the server and are not counted" in capsys.readouterr().out
    # The same command asks again, for what is missing only.
    asked = len(server.seen)
    assert play(server.url, tmp_path, instances=4) == 0
    assert len(server.seen) == asked + 4
    assert read(tmp_path)[2][0]["infra_errors"] == 0
    assert len(journal_of(tmp_path)) == 16


@pytest.mark.usefixtures("no_retries")
def test_a_server_that_answers_nobody_ends_the_run(serve, tmp_path, capsys):
    server = serve(reply({"error": "no"}, "500 Oops"))
    assert play(server.url, tmp_path, instances=64) == 1
    assert len(server.seen) == 8
    assert "8 episodes in a row got no answers, the last: http_500: no" in capsys.readouterr().err
    assert play(server.url, tmp_path / "few", instances=3) == 1
    assert read(tmp_path / "few")[2][0]["solve_rate"] is None


def test_a_parameter_can_be_left_out_in_the_same_folder(serve, tmp_path, capsys):
    refusal = error("400 Bad", "Unsupported value: 'temperature' does not support 0.7")
    server = serve(script=lambda request, _: refusal if "temperature" in request.body else answer(model="cheaper"))
    assert play(server.url, tmp_path, instances=1) == 1
    assert play(server.url, tmp_path, instances=1, extra='{"temperature": null}') == 0
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["run"]["parameters"] == {"top_p": 0.9, "answer_tokens": 4096}
    assert read(tmp_path)[2][0]["answered_by"] == ["cheaper"]
    assert "the server says that they are by 'cheaper'" in capsys.readouterr().out


def test_caps_hold_over_all_starts(serve, tmp_path, capsys):
    server, workers = serve(), 4
    for start in range(3):
        assert play(server.url, tmp_path, max_requests=10, workers=workers) == 1, start
        assert len(server.seen) == 10
    assert "max_requests: 10 allowed, 10 sent" in capsys.readouterr().err
    assert read(tmp_path)[2][0]["unfinished"] > 0
    assert play(server.url, tmp_path, max_requests=24, workers=workers) == 0
    assert len(server.seen) == 24 == len(journal_of(tmp_path))
    assert read(tmp_path)[2][0]["tokens_in"] == 24 * 100


def test_a_finished_run_asks_nothing_more(serve, tmp_path):
    server = serve()
    play(server.url, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    asked = len(server.seen)
    assert play(server.url, tmp_path, workers=3) == 0
    assert len(server.seen) == asked
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert sorted(before) == sorted([*runner.SEALED, "DIGESTS"])


def test_a_torn_line_is_mended_and_a_foreign_one_is_not(serve, tmp_path, capsys):
    server = serve()
    play(server.url, tmp_path)
    path, digests = tmp_path / "decisions.jsonl", tmp_path / "DIGESTS"
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    digests.unlink()  # which a run has that is finished
    assert play(server.url, tmp_path) == 0
    assert len(server.seen) == 25
    assert len(journal_of(tmp_path)) == 24
    for damage in (
        b"nonsense\n" + whole,
        whole + whole.splitlines(True)[0],
        whole.replace(b'"up"', b'"hop"'),
        whole.replace(b'"state_sha256": "', b'"state_sha256": "0'),
        whole.replace(b'"h": 1', b'"h": 9'),
        whole.replace(b'"tokens_in": 100', b'"tokens_in": "1"'),
    ):
        path.write_bytes(damage)
        digests.unlink(missing_ok=True)
        assert play(server.url, tmp_path) == 1
        assert "decisions.jsonl" in capsys.readouterr().err
    assert len(server.seen) == 25


def test_one_run_per_folder(serve, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Lock.__init__, "__defaults__", (0.1,))
    url, mine = serve().url, tmp_path / "mine"
    assert play(url, tmp_path / "run", instances=1) == 0
    with Lock(tmp_path / "run", work="zero-shot run"):
        assert play(url, tmp_path / "run", instances=1) == FolderBusy.exit_status
    assert "another zero-shot run is running here (pid " in capsys.readouterr().err
    (mine / ".notes.tmp").mkdir(parents=True)  # as our own leftovers are called
    (mine / "thesis.txt").write_text("x")
    sealed = (tmp_path / "run" / "DIGESTS").read_bytes()
    refused(
        [
            (lambda: play(url, mine), "or that of a zero-shot run; got one with thesis.txt"),
            (lambda: play(url, tmp_path / "run", instances=1, extra='{"top_p": null}'), "parameters.top_p was"),
        ]
    )
    assert (mine / ".notes.tmp").is_dir()
    assert (tmp_path / "run" / "DIGESTS").read_bytes() == sealed


def test_intervals_are_over_rooms_where_the_data_keeps_rooms_apart(tmp_path):
    from recommit.data.spec import DataSpec, Difficulty
    from recommit.zero_shot.options import ZeroShotOptions
    from recommit.zero_shot.runner import Episode
    from recommit.zero_shot.spec import ZeroShotSpec

    recipe = DataSpec("sokoban", (6, 6), (Difficulty((4, 12), 1),), count=1, test=40, disjoint="layouts")
    (tmp_path / "recipe.json").write_text(recipe.to_json())
    plan = ZeroShotSpec.of(ZeroShotOptions("m", tmp_path, data=tmp_path, endpoint="custom", instances=40))
    starts = plan.starts()
    assert 5 < len(set(starts.rooms.tolist())) < 40
    finished = [Episode(i, starts.ids[i], int(starts.length[i]), finished=i != 3) for i in range(40)]
    row = runner.summary_rows(plan, finished, starts.rooms)[0]
    sizes = np.bincount(np.delete(starts.rooms, 3))
    assert (row["solve_low"], row["solve_high"]) == pytest.approx(wilson(0, 39**2 / (sizes @ sizes)))
    assert row["solve_high"] > runner.summary_rows(plan, finished)[0]["solve_high"]
