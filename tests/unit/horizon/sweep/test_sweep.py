"""A card has every episode, chosen without those that it reports; and the same bytes however it came about."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
from gymnasium.wrappers import TimeLimit
from tests.unit.horizon.sweep import toy, twin
from tests.waiting import ended, until

from recommit.horizon import Plans, Tail
from recommit.horizon.plans import joined
from recommit.horizon.sweep import SweepOptions, programs, run, table, text, worker
from recommit.horizon.sweep import card as cards
from recommit.horizon.sweep.rules import candidates, fixed_depths, rule_of
from recommit.horizon.sweep.run import LOG, Answers, Sweep, _digest
from recommit.results import intervals
from recommit.storage import errors

TOY = Path(toy.__file__)


def options(out: Path, **given: Any) -> SweepOptions:
    usual = {"env": f"{TOY}:make", "policy": f"{TOY}:Policy", "episodes": 5, "validation": 4, "thresholds": 2}
    return SweepOptions(out=out, **{**usual, **given})


def swept(out: Path, **given: Any) -> dict[str, Any]:
    return run(options(out, **given), env=toy.make, policy=toy.Policy())


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return swept(tmp_path_factory.mktemp("sweep") / "out", latency=1, hold="last")


def test_every_episode_of_a_fixed_depth_is_that_of_the_slow_loop(card: dict[str, Any]) -> None:
    given = options(Path(), latency=1, hold="last")
    for part, split in (("rows", "test"), ("validation", "validation")):
        fixed = [row for row in card[part] if row["rule"]["rule"] == "Fixed"]
        assert [row["rule"]["depth"] for row in fixed] == [1, 2, 3, 4, 5, 6]
        for row in fixed:
            expected = [twin.outcome(seed, lambda _, h=row["rule"]["depth"]: h, given) for seed in card["seeds"][split]]
            assert row["outcomes"] == {name: [each[name] for each in expected] for name in expected[0]}


def test_test_and_validation_share_no_seed(card: dict[str, Any]) -> None:
    assert card["seeds"]["test"] == [0, 1, 2, 3, 4]
    assert not set(card["seeds"]["test"]) & set(card["seeds"]["validation"])


def test_what_is_chosen_is_best_on_validation_and_of_equals_asks_least() -> None:
    def row(name: str, depth: int, won: list[int], queries: list[int]) -> dict[str, Any]:
        outcomes = {"success": won, "total": [9.0 * depth] * len(won), "ticks": [1] * len(won), "queries": queries}
        return {"name": name, "rule": {"rule": "Fixed", "depth": depth}, "outcomes": outcomes}

    rows = [row("a", 1, [1, 0], [8, 8]), row("a", 2, [1, 1], [6, 6]), row("a", 3, [1, 1], [2, 4])]
    rows.append(row("b", 4, [0], [1]))
    assert {name: rule["depth"] for name, rule in cards.chosen(rows, "success", 0.0).items()} == {"a": 3, "b": 4}
    assert cards.chosen([rows[0], rows[1]], "success", 1.0)["a"]["depth"] == 2
    assert cards.chosen([rows[0], row("a", 5, [0, 0], [0, 0])], "success", 0.1)["a"]["depth"] == 5
    assert cards.chosen(rows[:3], "return", 0.0)["a"]["depth"] == 3


def test_a_summary_is_of_the_episodes(card: dict[str, Any]) -> None:
    assert card["score"] == "success"
    by_name = {row["name"]: row["outcomes"] for row in card["rows"]}
    best = np.array(by_name[card["best_fixed"]]["success"], float)
    for each in card["summary"]:
        won, queries = (np.array(by_name[each["name"]][name], float) for name in ("success", "queries"))
        assert each["score"] == [won.mean(), *intervals.wilson(won.mean(), len(won))]
        assert each["queries"][0] == queries.mean()
        assert each["queries_of_successes"] == (queries[won > 0].mean() if won.any() else None)
        less = intervals.difference(won, best)
        itself = each["name"] == card["best_fixed"]
        assert each["minus_best_fixed"] == ([0.0] * 3 if itself else [less.mean, less.low, less.high])
    points = [(each["score"][0], -each["queries"][0], each["frontier"]) for each in card["summary"]]
    for score, fewer, frontier in points:
        beaten = any(s >= score and f >= fewer and (s, f) != (score, fewer) for s, f, _ in points)
        assert frontier != beaten


def test_rules_without_their_inputs_are_left_out_and_the_table_says_so(card: dict[str, Any]) -> None:
    names = [row["name"] for row in card["rows"]]
    assert names[6:] == ["consecutive", "repetition"]
    assert set(card["left_out"]) == {
        *(f"confidence-{kind}" for kind in ("product", "least", "entropy")),
        *("disagreement", "agreement", "entropy-jump", "first-event"),
    }
    said = text(card, 2.5)
    for name in names:
        assert name in said
    lacking = "the policy returns no probabilities, samples, entropies or events: 7 rules (they are in card.json)."
    assert said.count("Left out") == 1
    assert f"Left out, since {lacking}" in said
    assert "2.5 ms" in said
    assert "latency 1, mode hold" in said
    left = {"first-event": card["left_out"]["first-event"], "disagreement": "the plans give it no finite score"}
    said = text({**card, "left_out": left})
    assert "Left out, since the policy returns no events: 1 rule (it is in card.json)." in said
    assert "Left out:\n\n* disagreement: the plans give it no finite score\n" in said


def test_a_table_of_returns_has_no_column_of_successes(card: dict[str, Any]) -> None:
    assert "| of successes |" in text(card)
    summary = [{**each, "queries_of_successes": None} for each in card["summary"]]
    said = text({**card, "score": "return", "summary": summary})
    assert "of successes" not in said
    assert len({line.count("|") for line in said.splitlines() if line.startswith("|")}) == 1


def advice(kind: str, differences: dict[int, list[float | None]], best: int, episodes: int = 9, **rules: Any) -> str:
    """The sentence of a card with these differences to the best fixed depth."""
    names = {depth: f"fixed-{depth}" for depth in differences}
    rows = [{"name": name, "rule": {"rule": "Fixed", "depth": depth}} for depth, name in names.items()]
    summary = [
        {"name": names[depth], "queries": [40.0 / depth], "minus_best_fixed": each}
        for depth, each in differences.items()
    ]
    summary += [{"name": name, "queries": [9.0], "minus_best_fixed": each} for name, (each, _) in rules.items()]
    tried = [
        {"name": name, "rule": {"rule": name}, "outcomes": {"success": [won], "total": [0], "queries": [9]}}
        for name, (_, won) in rules.items()
    ]
    card: Any = {"score": kind, "horizon": 16, "best_fixed": names[best], "rows": rows, "summary": summary}
    card |= {"settings": {"price": 0.0}, "validation": tried, "seeds": {"test": [0] * episodes, "validation": [1, 2]}}
    return table.in_short(card)


def test_in_short_it_says_how_much_to_execute() -> None:
    played = {1: [-0.02, -0.05, 0.01], 2: [0.0, 0.0, 0.0], 4: [-0.01, -0.04, 0.02], 8: [-0.3, -0.4, -0.2]}
    level = "Execute 4 of 16 actions: no worse than the best fixed depth, 2, by more than 5 points, with 10.0 queries"
    level += " an episode instead of 20.0; depth 8 differs by -30.0 (-40.0 .. -20.0)"
    assert advice("success", played, 2) == f"{level}."
    rules = {"agreement": ([0.1, 0.05, 0.15], 1), "repetition": ([0.2, 0.1, 0.3], 0)}  # validation chooses the rule
    assert advice("success", played, 2, **rules) == f"{level}; agreement is better by 10.0 (5.0 .. 15.0)."
    deepest = "The best fixed depth is 2 of 16, the deepest that was played"
    assert advice("success", {2: played[2]}, 2) == f"{deepest}."
    assert advice("success", {2: played[2]}, 2, 1) == f"{deepest}; one episode tells nothing: more (--episodes) would."
    assert advice("success", {2: played[2], 4: [0.1, 0.02, 0.18]}, 2) == (
        "Validation picked 2 of 16 as the best fixed depth, but on the test episodes 4 is better by 10.0 (2.0 .. 18.0)"
        ": 2 validation episodes are too few to choose by, more (--validation) would tell."
    )


def test_a_depth_that_may_be_much_worse_is_not_recommended() -> None:
    """With few episodes depth 9 at 40 % read as good as 65 %, while 8 was significantly worse."""
    few = {7: [0.0, 0.0, 0.0], 8: [-0.3, -0.5, -0.02], 9: [-0.25, -0.52, 0.06], 10: [-0.5, -0.7, -0.3]}
    assert advice("success", few, 7) == (
        "The best fixed depth is 7 of 16; these episodes do not tell whether depths 8, 9 are worse by more than 5 "
        "points: more (--episodes) would; depth 10 differs by -50.0 (-70.0 .. -30.0)."
    )
    far = {1: [0.0, 0.0, 0.0], 2: [-10.0, -60.0, 40.0], 3: [-1000.0, -1100.0, -900.0]}
    assert "whether depth 2 is worse by more than 50:" in advice("return", far, 1), "5 % of the range of the means"
    far[2] = [-10.0, -40.0, 40.0]
    assert advice("return", far, 1).startswith("Execute 2 of 16 actions")
    assert "do not tell whether depth 2" in advice("return", {1: far[1], 2: [-1.0, None, None]}, 1, 1)


def test_thresholds_cut_what_the_rules_read_into_equal_parts() -> None:
    rng = np.random.default_rng(0)
    chunk = rng.normal(size=(40, 5, 2))
    plans = joined([_with_tail(chunk[i : i + 20], rng) for i in (0, 20)])
    found, left_out = candidates(plans, (1, 2, 3, 4, 5), 4)
    assert set(found) >= {
        "disagreement",
        "agreement",
        "consecutive",
        "repetition",
        "entropy-jump",
        "confidence-entropy",
    }
    assert set(left_out) == {"confidence-product", "confidence-least", "first-event"}
    for name in ("disagreement", "agreement", "consecutive", "repetition"):
        means = [rule_of(each).choose(plans).mean() for each in found[name]]
        assert len(means) == 4
        assert means == sorted(means), name
        assert means[0] + 1 < means[-1], name


def _with_tail(chunk: Any, rng: Any) -> Any:
    tail = Tail(chunk + rng.normal(size=chunk.shape) / 10, np.full(len(chunk), 4))
    return Plans(chunk, samples=chunk[:, None] + rng.normal(size=(len(chunk), 4, 5, 2)), previous=tail)


def test_fixed_depths() -> None:
    assert fixed_depths((), range(1, 17)) == list(range(1, 17))
    spread = fixed_depths((), range(1, 51))
    assert (spread[0], spread[-1], spread[:5]) == (1, 50, [1, 2, 3, 4, 5])
    assert {len(fixed_depths((), range(1, most + 1))) for most in range(17, 129)} == {16}
    assert fixed_depths((2, 6), range(2, 7)) == [2, 6]
    with pytest.raises(ValueError, match=r"depths: expected 2\.\.6, which the chunks allow, got 7"):
        fixed_depths((2, 7), range(2, 7))


def test_a_sweep_without_rules_and_a_return() -> None:
    outcomes = {"success": [None, None], "total": [1.0, 2.0], "ticks": [1, 1], "queries": [1, 1]}
    assert cards.score_kind([outcomes], "") == "return"
    with pytest.raises(ValueError, match="success: expected a key of info that the environment gives, got won"):
        cards.score_kind([outcomes], "won")
    assert cards.scores(outcomes, "return").tolist() == [1.0, 2.0]
    assert cards.score_kind([{**outcomes, "success": [None, False]}], "") == "success"


def test_success_counts_though_the_first_depth_never_has_any() -> None:
    """An environment may say ``success`` only where there is some, and depth 1 may never get that far."""

    class Played:
        def get(self, requests: Any, _: Any) -> list[Any]:
            if requests[0]["ask"] == "look":
                return [{"allowed": [1, 2], "batch": 4}]
            replies = []
            for request in requests:
                won, many = request["with"]["rule"]["depth"] == 2 or None, len(request["with"]["seeds"])
                outcome = {"success": won, "total": -9.0, "ticks": 9, "queries": 3}
                replies.append({"outcomes": {name: [value] * many for name, value in outcome.items()}})
            return replies

    given = options(Path(), thresholds=0, success="success")
    content = Sweep(given, Played(), lambda *_: None).content()
    assert content["score"] == "success"


def test_episodes_that_all_succeed_do_not_say_that_depths_are_equal(card: dict[str, Any]) -> None:
    outcomes = lambda count, many: {
        **{name: [0] * count for name in ("total", "ticks")},
        "success": [True] * count,
        "queries": [many] * count,
    }
    for count, few in ((5, True), (100, False)):
        rows = [
            {
                "name": f"fixed-{depth}",
                "rule": {"rule": "Fixed", "depth": depth},
                "outcomes": outcomes(count, 32 // depth),
            }
            for depth in (8, 16)
        ]
        seeds = {"test": list(range(count)), "validation": list(range(count))}
        made = cards.made({**card, "rows": rows, "validation": rows, "horizon": 32, "seeds": seeds})
        mean, low, high = made["summary"][0]["minus_best_fixed"]
        assert mean == 0.0
        assert -high == pytest.approx(low) == pytest.approx(intervals.wilson(1.0, count)[0] - 1)
        assert ("do not tell" in table.in_short(made)) == few
        spread = cards.difference(outcomes(count, 4), outcomes(count, 2), "success", 0.1)
        assert (spread.mean, spread.low) == pytest.approx((-0.2, -0.2 + low))


def test_with_a_price_differences_are_of_what_rows_are_worth(card: dict[str, Any]) -> None:
    won, queries = {"deep": [True] * 5 + [False], "often": [True] * 6}, {"deep": [1] * 6, "often": [90] * 6}
    row = lambda name, rule: {
        "name": name,
        "rule": rule,
        "outcomes": {"success": won[name], "total": [0.0] * 6, "ticks": [90] * 6, "queries": queries[name]},
    }
    rows = [row("deep", {"rule": "Fixed", "depth": 8}), row("often", {"rule": "Consecutive"})]
    content = {**card, "score": "success", "rows": rows, "validation": rows, "horizon": 8}
    free, priced = (cards.made({**content, "settings": {**card["settings"], "price": x}}) for x in (0.0, 0.01))
    assert free["summary"][1]["minus_best_fixed"][0] == pytest.approx(1 / 6)
    assert priced["summary"][1]["minus_best_fixed"][0] == pytest.approx(1 / 6 - 0.89)
    assert "often" not in table.in_short(priced)
    assert "less 0.01 for each query" in table.text(priced)
    assert "for each query" not in table.text(free)


@pytest.mark.parametrize("answers", [0, 1, 2, 9, 40])
def test_an_interrupted_sweep_goes_on_to_the_same_bytes(
    answers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept(tmp_path / "whole")
    count, get = [0], worker.Seat.answer

    def stops(seat: worker.Seat, request: Any) -> Any:
        if count[0] == answers:
            raise KeyboardInterrupt
        count[0] += 1
        return get(seat, request)

    with monkeypatch.context() as patch:
        patch.setattr(worker.Seat, "answer", stops)
        with pytest.raises(KeyboardInterrupt):
            swept(tmp_path / "parts")
    log = tmp_path / "parts" / "episodes.jsonl"
    assert log.read_bytes().count(b"\n") == answers
    with log.open("ab") as file:  # what a crash of the machine leaves of a line
        file.write(b'{"key": "to')
    count[0] = 0
    monkeypatch.setattr(worker.Seat, "answer", lambda seat, request: [get(seat, request), count.append(1)][0])
    swept(tmp_path / "parts")
    whole = (tmp_path / "whole" / "episodes.jsonl").read_bytes().count(b"\n")
    again = (answers > 0) + (answers > 2)  # a look at the policy, and one batch: are they those of the log?
    assert len(count) - 1 == whole - answers + again, "what was played is not played again"
    assert (tmp_path / "parts" / "card.json").read_bytes() == (tmp_path / "whole" / "card.json").read_bytes()


def test_a_sweep_does_not_go_on_with_other_weights_or_another_environment(tmp_path: Path) -> None:
    """Neither changes the source of a class."""

    class Shifted(toy.Policy):
        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

        def predict(self, observations: Any) -> Any:
            return super().predict(observations) + self.by

        def state_dict(self) -> dict[str, Any]:
            return {"by": np.array(self.by)}

    ticks = [9]
    make = lambda: TimeLimit(toy.make(), ticks[0])
    given = options(tmp_path / "out", thresholds=0)
    first = run(given, env=make, policy=Shifted(0))
    assert run(given, env=make, policy=Shifted(0)) == first
    with pytest.raises(ValueError, match=r"out: expected the policy .*, got others \(weights of the policy: \w+ then"):
        run(given, env=make, policy=Shifted(1))
    ticks[0] = 7
    with pytest.raises(ValueError, match=r"got others \(ticks: \[.*\] then, \[.*\] now\)"):
        run(given, env=make, policy=Shifted(0))


KILLED = """
import sys
from pathlib import Path
from recommit.horizon.sweep import SweepOptions, run
toy = sys.argv[1]
names = {"env": f"{toy}:make", "policy": f"{toy}:Policy"}
run(SweepOptions(out=Path("out"), episodes=6, validation=4, thresholds=2, batch=2, **names))
"""


def test_a_killed_sweep_goes_on_to_the_same_bytes_with_any_number_of_processes(tmp_path: Path) -> None:
    log = tmp_path / "out" / "episodes.jsonl"
    with ended(subprocess.Popen([sys.executable, "-c", KILLED, str(TOY)], cwd=tmp_path)) as process:
        until(lambda: log.is_file() and log.read_bytes().count(b"\n") > 5, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "out" / "card.json").exists()
    run(options(tmp_path / "out", episodes=6, batch=2, jobs=2))
    alone = swept(tmp_path / "alone", episodes=6, batch=2)
    card = cards.read(tmp_path / "out" / "card.json")
    for made in (card, alone):  # objects are hashed by their source, and other packages may be imported beside them
        for name in ("digest", "env", "policy", "versions"):
            made.pop(name)
    assert card == alone


def test_another_sweep_is_refused_in_the_folder_and_a_changed_log_too(tmp_path: Path) -> None:
    swept(tmp_path)
    for other, what in [({"latency": 1}, r"settings\.latency was 0, is 1"), ({"depths": (1, 2)}, "depths was")]:
        with pytest.raises(errors.WrongFolder, match=what):
            swept(tmp_path, **other)
    log = tmp_path / "episodes.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[3])
    record["reply"]["outcomes"]["queries"][0] += 1
    log.write_bytes(b"".join([*lines[:3], json.dumps(record).encode() + b"\n", *lines[4:]]))
    with pytest.raises(errors.Damaged, match=r"episodes\.jsonl: expected answers as they were written"):
        swept(tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.txt").write_text("x")
    with pytest.raises(errors.WrongFolder, match="got one with mine"):
        swept(tmp_path / "own")


def test_an_error_of_a_program_names_its_line(tmp_path: Path) -> None:
    program = tmp_path / "bad.py"
    program.write_text("class Policy:\n    def predict(self, observations):\n        return 1 / 0\n")
    with pytest.raises(errors.DataError, match=r"bad\.py, line 3: ZeroDivisionError"):
        run(options(tmp_path / "out", policy=f"{program}:Policy"))
    with pytest.raises(ValueError, match=r"policy: expected a function of .*, which has no Nobody"):
        run(options(tmp_path / "out2", policy=f"{program}:Nobody"))
    assert not (tmp_path / "out" / "sweep.json").exists(), "nothing was looked at"
    program.write_text(TOY.read_text("utf-8"))
    run(options(tmp_path / "out", policy=f"{program}:Policy", thresholds=0, depths=(2,)))
    for name, what in [
        ("nowhere.py:make", "found no nowhere.py"),
        ("make", "expected file.py:function"),
        ("", "nothing"),
    ]:
        with pytest.raises(ValueError, match=f"policy: .*{what}"):
            run(options(tmp_path / "out3", policy=name))


def test_an_error_inside_of_a_constructor_is_not_a_wrong_signature(tmp_path: Path) -> None:
    program = tmp_path / "builds.py"
    program.write_text(
        "class Policy:\n    def __init__(self):\n        len(5)\ndef needs(size):\n    pass\nnumber = int\n"
    )

    def said(function: str) -> dict[str, Any]:
        seat = worker.Seat(options(tmp_path, policy=f"{program}:{function}"), env=toy.make)
        return worker.answer(seat, {"ask": "look", "with": {"seed": 0}})

    reply = said("Policy")
    assert reply["error"].startswith("builds.py, line 3: TypeError: object of type 'int' has no len()")
    assert not reply["wrong_call"]
    reply = said("needs")
    assert reply["error"] == "policy: expected a function of no arguments, got missing a required argument: 'size'"
    assert reply["wrong_call"]
    assert "expected an object with predict(observations), got int" in said("number")["error"], "has no signature"


def test_a_file_is_run_once_unless_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that it loads is there once, however many copies of the environment there are."""
    program = tmp_path / "once.py"
    program.write_text(TOY.read_text("utf-8") + "\nimport sys\nsys.ran = [*getattr(sys, 'ran', []), 1]\n")
    monkeypatch.setattr(sys, "ran", [], raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "once", None)
    names = {"env": f"{program}:make", "policy": f"{program}:Policy", "batch": 4}
    player = worker.Seat(options(tmp_path, **names)).player
    player.slots.reset(range(4))
    assert len({type(each) for each in player.slots._envs}) == 1
    assert sys.ran == [1]
    program.write_text(program.read_text("utf-8") + "changed = True\n")
    assert programs.load("policy", f"{tmp_path}/../{tmp_path.name}/once.py:changed")
    assert programs.load("policy", f"{program}:changed")
    assert sys.ran == [1, 1]
    assert sys.path.count(str(tmp_path)) == 1


def test_arguments_are_those_of_an_environment_of_this_process_too(tmp_path: Path) -> None:
    given = {"episodes": 2, "thresholds": 0, "depths": (6,), "validation": 1}
    card = swept(tmp_path, env_kwargs='{"allowed": 99}', **given)
    assert card["rows"][0]["outcomes"]["success"] == [True, True]
    assert swept(tmp_path, env_kwargs=' {"allowed":99}', **given) == card, "the same sweep goes on"
    with pytest.raises(ValueError, match=r"env: expected a function of \['size'\], got .* unexpected keyword argument"):
        swept(tmp_path / "other", env_kwargs='{"size": 1}', **given)


def test_an_environment_that_ignores_seeds_is_refused(tmp_path: Path) -> None:
    class Deaf(toy.Signal):
        count = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ARG002
            Deaf.count += 1
            return super().reset(seed=Deaf.count, options=options)

    with pytest.raises(ValueError, match="env: expected the same first observation from reset"):
        run(options(tmp_path), env=Deaf, policy=toy.Policy())


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("Pendulum-v9", "env: Environment version `v9` for environment `Pendulum` doesn't exist"),
        ("Pendulm-v1", "env: Environment `Pendulm` doesn't exist. Did you mean: `Pendulum`"),
        ("nowhere/Pendulum-v1", "env: Namespace nowhere not found"),
    ],
)
def test_an_environment_that_is_not_registered_is_gymnasiums_sentence(name: str, what: str, tmp_path: Path) -> None:
    seat = worker.Seat(options(tmp_path, env=name))
    reply = worker.answer(seat, {"ask": "look", "with": {"seed": 0}})
    assert reply["error"].startswith(what)
    assert reply["wrong_call"]


def test_programs_that_die_are_a_sentence(tmp_path: Path) -> None:
    program = tmp_path / "dies.py"
    program.write_text("import os\nclass Policy:\n    def predict(self, observations):\n        os._exit(7)\n")
    with pytest.raises(errors.DataError, match="ended with status 7; the same command goes on"):
        run(options(tmp_path / "out", policy=f"{program}:Policy"))


def test_a_program_that_asks_somebody_gets_no_answer(tmp_path: Path) -> None:
    """It would read what the sweep asks it, and both would wait for ever."""
    program = tmp_path / "asks.py"
    program.write_text("class Policy:\n    def predict(self, observations):\n        return input()\n")
    with pytest.raises(errors.DataError, match=r"asks\.py, line 3: EOFError"):
        run(options(tmp_path / "out", policy=f"{program}:Policy"))


@pytest.mark.parametrize("record", [{}, {"key": "x", "reply": 5}, {"key": [], "reply": {}}])
def test_a_log_of_something_else_is_refused(tmp_path: Path, record: dict[str, Any]) -> None:
    sha256 = _digest([record.get("key"), record.get("reply")])
    (tmp_path / LOG).write_text(json.dumps({**record, "sha256": sha256}) + "\n")
    with pytest.raises(errors.Damaged, match="expected answers as they were written"):
        Answers(lambda _: iter(()), SimpleNamespace(path=tmp_path / LOG), 1)


def test_options_check_themselves() -> None:
    for given, what in [
        ({"episodes": 0}, "episodes: expected at least 1, got 0"),
        ({"latency": -1}, "latency: expected at least 0, got -1"),
        ({"env_kwargs": "[1]"}, "env_kwargs: expected a JSON object"),
        ({"mode": "wait"}, "mode: expected hold or continue, got wait"),
        ({"seed": 2**31}, "seed: expected seeds of all episodes below"),
        ({"depths": (0,)}, "depths: expected at least 1, got 0"),
    ]:
        with pytest.raises(ValueError, match=what):
            options(Path(), **given)
    assert replace(options(Path()), depths=(4, 2, 2)).depths == (2, 4)


def test_progress_counts_every_episode_once(tmp_path: Path) -> None:
    heard: list[tuple[int, int, str]] = []
    run(options(tmp_path), env=toy.make, policy=toy.Policy(), progress=lambda *each: heard.append(each))
    done, total, _ = heard[-1]
    assert done == total > 0
