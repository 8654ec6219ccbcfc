"""A card has every episode, chosen without those that it reports; its figures and sentences follow from them."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
from tests.unit.horizon.sweep import toy, twin

from recommit import horizon
from recommit.horizon import Plans, Tail
from recommit.horizon.plans import joined
from recommit.horizon.sweep import SweepOptions, run, table
from recommit.horizon.sweep import card as cards
from recommit.horizon.sweep.rules import candidates, fixed_depths, rule_of
from recommit.horizon.sweep.run import content
from recommit.results import intervals
from recommit.storage import errors, verified


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> SweepOptions:
    out = tmp_path_factory.mktemp("sweep") / "out"
    return SweepOptions(out=out, episodes=5, validation=4, thresholds=2, latency=1, hold="last")


@pytest.fixture(scope="module")
def card(options: SweepOptions) -> dict[str, Any]:
    return run(options, env=toy.make, policy=toy.Policy())


def row(name: str, rule: dict[str, Any], won: list[Any], queries: list[int]) -> dict[str, Any]:
    many = len(won)
    outcomes = {"success": won, "total": [0.0] * many, "ticks": [90] * many, "queries": queries, "stale": [0] * many}
    return {"name": name, "rule": rule, "outcomes": outcomes}


def fixed(depth: int, won: list[Any], queries: list[int], name: str = "") -> dict[str, Any]:
    return row(name or f"fixed-{depth}", {"rule": "Fixed", "depth": depth}, won, queries)


def test_every_episode_of_a_fixed_depth_is_that_of_the_slow_loop(card: dict[str, Any], options: SweepOptions) -> None:
    assert card["seeds"]["test"] == [0, 1, 2, 3, 4]
    assert not set(card["seeds"]["test"]) & set(card["seeds"]["validation"])
    for part, split in (("rows", "test"), ("validation", "validation")):
        rows = [each for each in card[part] if each["rule"]["rule"] == "Fixed"]
        assert [each["rule"]["depth"] for each in rows] == [1, 2, 3, 4, 5, 6]
        for each in rows:
            depth = each["rule"]["depth"]
            expected = [twin.outcome(seed, lambda _, h=depth: h, options) for seed in card["seeds"][split]]
            assert each["outcomes"] == {name: [one[name] for one in expected] for name in expected[0]}


def test_what_is_chosen_is_best_on_validation_and_of_equals_asks_least() -> None:
    rows = [fixed(1, [1, 0], [8, 8], "a"), fixed(2, [1, 1], [6, 6], "a"), fixed(3, [1, 1], [2, 4], "a")]
    rows.append(fixed(4, [0], [1], "b"))
    assert {name: rule["depth"] for name, rule in cards.chosen(rows, "success", 0.0).items()} == {"a": 3, "b": 4}
    assert cards.chosen(rows[:2], "success", 1.0)["a"]["depth"] == 2
    assert cards.chosen([rows[0], fixed(5, [0, 0], [0, 0], "a")], "success", 0.1)["a"]["depth"] == 5


def test_rules_are_chosen_as_if_the_queries_of_depth_1_cost_the_margin() -> None:
    rows = [fixed(1, [1, 0], [40, 60]), fixed(2, [1, 0], [20, 30])]
    assert cards.choice_price(rows, "success", 0.0) == 0.05 / 50
    assert cards.choice_price(rows, "success", 0.2) == 0.2
    rows[0]["outcomes"]["total"], rows[1]["outcomes"]["total"] = [-1.0, -3.0], [4.0, 12.0]
    assert cards.choice_price(rows, "return", 0.0) == 0.05 * 10 / 50


def judged(kind: str, differences: dict[int, list[float | None]], best: int, **rules: Any) -> dict[str, Any]:
    """A card with these differences to the best fixed depth."""
    names = {depth: f"fixed-{depth}" for depth in differences}
    rows = [{"name": name, "rule": {"rule": "Fixed", "depth": depth}} for depth, name in names.items()]
    summary = [
        {"name": names[depth], "queries": [40.0 / depth], "minus_best_fixed": each}
        for depth, each in differences.items()
    ]
    summary += [{"name": name, "queries": [9.0], "minus_best_fixed": each} for name, (each, _) in rules.items()]
    tried = [row(name, {"rule": name}, [won], [9]) for name, (_, won) in rules.items()]
    card: Any = {"score": kind, "horizon": 16, "best_fixed": names[best], "rows": rows, "summary": summary}
    card |= {"settings": {"price": 0.0}, "validation": tried, "seeds": {"test": [0] * 9, "validation": [1, 2]}}
    return card


LEVEL = {1: [-0.02, -0.05, 0.01], 2: [0.0, 0.0, 0.0], 4: [-0.01, -0.04, 0.02], 8: [-0.3, -0.4, -0.2]}
#: With few episodes depth 9 at 40 % read as good as 65 %, while 8 was significantly worse.
FEW = {7: [0.0, 0.0, 0.0], 8: [-0.3, -0.5, -0.02], 9: [-0.25, -0.52, 0.06], 10: [-0.5, -0.7, -0.3]}
FAR = {1: [0.0, 0.0, 0.0], 2: [-10.0, -60.0, 40.0], 3: [-1000.0, -1100.0, -900.0]}
EXECUTE = (
    "Execute 4 of 16 actions: -1.0 (-4.0 .. 2.0) beside the best fixed depth, 2, within the margin of 5 points, with "
    "10.0 queries an episode instead of 20.0; depth 8 differs by -30.0 (-40.0 .. -20.0)"
)
UNTOLD = (
    "These episodes do not tell whether an adaptive depth helps: agreement differs by 10.0 (-20.0 .. 40.0), with 9.0 "
    "queries; some 81 would."
)
PICKED = (
    "Validation picked 2 of 16 as the best fixed depth, but on the test episodes 4 is better by 10.0 (2.0 .. 18.0): 2 "
    "validation episodes are too few to choose by, more (--validation) would tell."
)
OPEN = (
    "The best fixed depth is 7 of 16; these episodes do not tell whether depths 8, 9 are worse by more than 5 points: "
    "some 11 (--episodes) would; depth 10 differs by -50.0 (-70.0 .. -30.0)."
)


@pytest.mark.parametrize(
    ("kind", "played", "best", "rules", "sentence"),
    [
        ("success", LEVEL, 2, {}, f"{EXECUTE}."),
        (  # validation chooses the rule
            "success",
            LEVEL,
            2,
            {"agreement": ([0.1, 0.05, 0.15], 1), "repetition": ([0.2, 0.1, 0.3], 0)},
            f"{EXECUTE}. An adaptive depth helps: agreement differs by 10.0 (5.0 .. 15.0), with 9.0 queries.",
        ),
        (  # no worse, and 9 queries instead of 10
            "success",
            LEVEL,
            2,
            {"agreement": ([-0.01, -0.04, 0.02], 1)},
            f"{EXECUTE}. An adaptive depth helps: agreement differs by -1.0 (-4.0 .. 2.0), with 9.0 queries.",
        ),
        (
            "success",
            LEVEL,
            2,
            {"agreement": ([-0.09, -0.15, -0.03], 1)},
            f"{EXECUTE}. None of the rules helps: agreement differs by -9.0 (-15.0 .. -3.0), with 9.0 queries.",
        ),
        (
            "success",
            LEVEL,
            2,
            {"agreement": ([0.1, -0.2, 0.4], 1)},
            f"{EXECUTE}. {UNTOLD}",
        ),
        ("success", {2: LEVEL[2], 4: [0.1, 0.02, 0.18]}, 2, {}, PICKED),
        ("success", FEW, 7, {}, OPEN),
        ("return", FAR, 1, {}, "whether depth 2 is worse by more than 50:"),  # 5 % of the range of the means
        ("return", {1: FAR[1], 2: [-1.0, None, None]}, 1, {}, "do not tell whether depth 2"),
    ],
)
def test_in_short_it_says_how_much_to_execute(
    kind: str, played: Any, best: int, rules: dict[str, Any], sentence: str
) -> None:
    said = table.in_short(judged(kind, played, best, **rules))
    assert said == sentence if kind == "success" else sentence in said


def test_lerobots_line_is_the_depth_that_it_says_or_the_card() -> None:
    for summary in (card := judged("success", LEVEL, 2, repetition=([0.1, 0.05, 0.15], 1)))["summary"]:
        summary["score"] = [0.5, 0.4, 0.6]
    words = table.for_lerobot(card, "saved", "pusht", Path("sweep/card.json"))
    assert words.split("\n\n")[1].strip() == "--policy.type=recommit --policy.base=saved --policy.rule=sweep/card.json"
    assert "Of 9 episodes of pusht" in words
    assert "50.0 (40.0 .. 60.0) % succeed, at 9.0 queries an episode. Execute 4 of 16" in words
    card["summary"][0]["minus_best_fixed"] = [0.2, 0.1, 0.3]  # of depth 1: validation picked a worse one
    assert table.recommended(card) == "fixed-1"
    card["summary"][0]["minus_best_fixed"], card["summary"][-1]["minus_best_fixed"] = LEVEL[1], [0.1, -0.05, 0.15]
    words = table.for_lerobot(card, "saved", "pusht", Path())
    assert words.split("\n\n")[1].strip() == "--policy.type=recommit --policy.base=saved --policy.rule=fixed-4"


def test_the_rule_of_a_card_is_loaded(card: dict[str, Any], options: SweepOptions) -> None:
    rule, name = horizon.load(options.out), table.recommended(card)
    assert rule == rule_of(next(row["rule"] for row in card["rows"] if row["name"] == name))
    assert rule == horizon.load(str(options.out / "card.json"))


def test_a_saved_policy_of_lerobot_takes_the_place_of_programs(tmp_path: Path) -> None:
    given = SweepOptions(out=tmp_path, lerobot=str(tmp_path), env_kwargs='{"type": "pusht"}', batch=3)
    assert (given.env, given.policy) == ("recommit.adapters.lerobot:environment", "recommit.adapters.lerobot:saved")
    assert given.files == (tmp_path,)
    assert given.arguments() == {"path": str(tmp_path), "batch": 3, "type": "pusht"}
    assert SweepOptions(**asdict(given)) == given
    assert SweepOptions(out=tmp_path, lerobot="user/policy").files == ()


def test_thresholds_cut_what_the_rules_read_into_equal_parts() -> None:
    rng = np.random.default_rng(0)
    chunk = rng.normal(size=(40, 5, 2))
    plans = joined([_with_tail(chunk[i : i + 20], rng) for i in (0, 20)])
    found, left_out = candidates(plans, (1, 2, 3, 4, 5), 4)
    swept = {"disagreement", "agreement", "consecutive", "repetition"}
    assert set(found) >= {
        *swept,
        "entropy-jump",
        "confidence-entropy",
        "low-speed",
        "temporal-ensemble",
        "backward-coherence",
    }
    assert set(left_out) == {"confidence-product", "confidence-least", "first-event"}
    assert [each["depth"] for each in candidates(plans, (1, 4, 5), 4)[0]["temporal-ensemble"]] == [1, 5], "not 2 and 3"
    for name in swept:
        means = [rule_of(each).choose(plans).mean() for each in found[name]]
        assert len(means) == 4
        assert means == sorted(means), name
        assert means[0] + 1 < means[-1], name


def _with_tail(chunk: Any, rng: Any) -> Any:
    tail = Tail(chunk + rng.normal(size=chunk.shape) / 10, np.full(len(chunk), 4), np.full(len(chunk), 3))
    return Plans(chunk, samples=chunk[:, None] + rng.normal(size=(len(chunk), 4, 5, 2)), previous=tail)


def test_fixed_depths() -> None:
    assert fixed_depths((), range(1, 17)) == list(range(1, 17))
    spread = fixed_depths((), range(1, 51))
    assert (spread[0], spread[-1], spread[:5]) == (1, 50, [1, 2, 3, 4, 5])
    assert {len(fixed_depths((), range(1, most + 1))) for most in range(17, 129)} == {16}
    assert fixed_depths((2, 6), range(2, 7)) == [2, 6]


def test_success_counts_though_the_first_depth_never_has_any() -> None:
    """An environment may say ``success`` only where there is some, and depth 1 may never get that far."""

    def get(requests: Any, _: Any) -> list[Any]:
        if requests[0]["ask"] == "look":
            return [{"allowed": [1, 2], "batch": 4}]
        replies = []
        for request in requests:
            won, many = request["with"]["rule"]["depth"] == 2 or None, len(request["with"]["seeds"])
            outcome = {"success": won, "total": -9.0, "ticks": 9, "queries": 3}
            replies.append({"outcomes": {name: [value] * many for name, value in outcome.items()}})
        return replies

    given = SweepOptions(out=Path(), thresholds=0, success="success")
    assert content(given, get, lambda *_: None)["score"] == "success"


def test_episodes_that_all_succeed_do_not_say_that_depths_are_equal(card: dict[str, Any]) -> None:
    for count, few in ((5, True), (100, False)):
        rows = [fixed(depth, [True] * count, [32 // depth] * count) for depth in (8, 16)]
        seeds = {"test": list(range(count)), "validation": list(range(count))}
        made = cards.made({**card, "rows": rows, "validation": rows, "horizon": 32, "seeds": seeds})
        mean, low, high = made["summary"][0]["minus_best_fixed"]
        assert mean == 0.0
        assert -high == pytest.approx(low) == pytest.approx(intervals.wilson(1.0, count)[0] - 1)
        assert ("do not tell" in table.in_short(made)) == few
        spread = cards.difference(rows[0]["outcomes"], rows[1]["outcomes"], "success", 0.1)
        assert (spread.mean, spread.low) == pytest.approx((-0.2, -0.2 + low))


def test_a_changed_byte_anywhere_is_refused(card: dict[str, Any], options: SweepOptions, tmp_path: Path) -> None:
    data, other = (options.out / "card.json").read_bytes(), tmp_path / "card.json"
    assert cards.read(options.out) == card
    places = {data.index(b'"' + name.encode() + b'": ') + len(name) + 4 for name in card}
    for place in [*places, *range(0, len(data), 97), len(data) - 1]:
        for value in {data[place] ^ 1, ord(" ")} - {data[place]}:
            other.write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
            with pytest.raises(ValueError, match=r"card"):
                cards.read(other)
    other.write_bytes(data + b"\n")
    with pytest.raises(errors.Damaged, match="its digest does not fit"):
        cards.read(tmp_path)
    other.write_text(cards.text(cards.made({**card, "rows": card["rows"][:-1]})))
    with pytest.raises(errors.Damaged, match="expected rules and numbers of episodes"):
        cards.read(tmp_path)
    with other.open("r+b") as file:
        file.truncate((1 << 25) + 1)
    with pytest.raises(errors.DataError, match="expected at most 33,554,432 bytes"):
        cards.read(tmp_path)


OUTCOMES = ("rows", 0, "outcomes")


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ((*OUTCOMES, "queries", 0), -3000, "1 <= queries <= ticks"),
        ((*OUTCOMES, "ticks", 0), 10**9, "<= ticks <= 10000"),
        ((*OUTCOMES, "success", 0), 2, "success.0: expected"),
        ((*OUTCOMES, "total", 0), 10**400, "total.0: expected a finite number"),
        (("versions", "numpy"), "\x1b[2J", "versions: expected names and versions"),
        (("summary", 0, "score", 0), 0.123, "summary: expected what follows"),
        (("best_fixed",), "fixed-9", "best_fixed: expected what follows"),
        (("rows", 0, "rule", "depths"), [1], "rows: expected what follows"),
        (("rows", 0, "rule", "bogus"), 1, "rules and numbers of episodes, got something else: Fixed.__init__() got an"),
        (("validation", 0, "rule", "depth"), "x", "depth: expected an integer, got str"),
        (("validation", 0, "rule", "depth"), 10**30, "rule: expected that of fixed-1, got depth 1000"),
        (("rows", 0, "rule"), {"rule": "Repetition", "tolerance": 10**400}, "int too large to convert"),
        (("seeds", "test"), [0, 1, 2], "rows, fixed-1: expected an episode for each seed"),
    ],
)
def test_what_does_not_follow_is_refused_under_a_digest_that_fits(
    path: tuple[Any, ...], value: Any, what: str, options: SweepOptions, tmp_path: Path
) -> None:
    other = json.loads((options.out / "card.json").read_text())
    *above, last = path
    place = other
    for each in above:
        place = place[each]
    place[last] = value
    (tmp_path / "card.json").write_text(cards.text({**other, "digest": verified.digest(other, "digest")}))
    with pytest.raises(errors.Damaged, match=re.escape(what)):
        cards.read(tmp_path)
