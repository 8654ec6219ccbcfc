"""The page is made of its scores: the verdict first, what beats our head as carefully as what does not."""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from recommit.reproduce.compare import figures, folder, page, reading, words
from recommit.storage import errors, verified
from recommit.storage import files as disk

PUZZLES = ("sliding", "sokoban")

SETTINGS = [
    {"budget": budget, "price_action": 0.01 if look else 0.0, "price_observation": 0.01 * look}
    for budget in (15, 10)
    for look in (0, 0.5, 1, 2, 4)
]


def row(source, rule, chosen, setting, ahead, **values):
    return {
        "source": source,
        "rule": rule,
        "chosen": chosen,
        **setting,
        "seeds": [0, 1],
        "parameters": None if rule.startswith(("head", "rep")) else [0.5, 0.25],
        "validation": round(0.6 + ahead, 6),
        "solved": round(0.9 + ahead, 6),
        "actions": 30.0,
        "looks": 6.0,
        "value": round(0.6 + ahead, 6),
        "by_seed": [0.6, 0.6],
        "ahead": [ahead, round(ahead - 0.01, 6), round(ahead + 0.01, 6)],
        "ahead_solved": [ahead, round(ahead - 0.01, 6), round(ahead + 0.01, 6)],
        "ahead_actions": [1.0, 0.5, 1.5],
        "gain": [0.5, 0.4, 0.6],
        "ceiling": 0.9,
        **values,
    }


@pytest.fixture
def scores():
    rows = []
    for setting in SETTINGS:
        for end in ("", "+memory"):
            rows.append(row("adaptive", f"head{end}", "", setting, 0.0))
            rows.append(row("adaptive", f"repetition{end}", "", setting, -0.2))
            for source, ahead in (("adaptive", -0.05), ("fixed-8", 0.03), ("init", -0.1)):
                rows.append(row(source, f"confidence-least{end}", "own", setting, ahead))
                rows.append(row(source, f"confidence-least{end}", "shared", setting, round(ahead - 0.01, 6)))
    split = {
        "best": 0.95,
        "crossed": 0.9,
        "plans_lose": [0.1, 0.05, 0.15],
        "depths_lose": [0.2, 0.1, 0.3],
        "orders": [],
    }
    return {
        "puzzle": "sliding",
        "title": "sliding 3x3",
        "missing": ["random-s0", "random-s1"],
        "price_action": 0.01,
        "instances": {name: {"label": f"3x3 {name}", "starts": 9} for name in ("validation", "test", "harder")},
        "settings": SETTINGS,
        "rows": {"test": rows, "harder": [each for each in rows if each["price_observation"] in (0.0, 0.01)]},
        "split": [
            {"instances": "test", **{k: each[k] for k in ("source", "rule", "value", *SETTINGS[0])}, **split}
            for each in rows
            if each["price_observation"] in (0.0, 0.01) and each["chosen"] != "shared"
        ],
    }


def test_the_first_paragraph_says_what_the_head_is_worth(scores):
    other = {**copy.deepcopy(scores), "puzzle": "sokoban", "title": "sokoban 7x7"}
    first = " ".join(page.page([scores, other]).split("\n\n")[1].splitlines())
    assert first.startswith(words.AHEAD_OF_RULES)
    for title in ("Sliding 3x3", "Sokoban 7x7"):
        worth = r"-3\.0 \(-4\.0 \.\. -2\.0\)"
        value = rf"\*\*{title}: {worth} at K = 15, {worth} at K = 10\*\*"
        assert re.search(rf"{value} \(2 seeds\)\. Without prices: {worth}, {worth}\.", first)


def test_what_beats_our_head_is_listed_and_counted(scores):
    text = page.page([scores])
    beats = text.partition("### What beats our head")[2].partition("\n### ")[0]
    table = [line for line in beats.splitlines() if "| depth 8 |" in re.sub(r" +", " ", line)]
    assert len(table) == 2 * len(SETTINGS) + 2 * 4
    assert all("+3.0" in line and "+2.0 .. +4.0" in line for line in table)
    assert re.search(r"\| 3x3 test: K = 15, no prices +\| +8 \| +2 \| +0 \| +6 \|", beats)
    assert re.search(r"\| Sliding 3x3 +\| +80 \| +20 \| +0 \| +60 \|", text)
    for each in scores["rows"]["test"]:  # the same objects as the harder ones
        each["ahead"] = [-0.1, -0.2, 0.0]
    assert "No rule and no other head beats ours" in page.page([scores])


def test_the_best_rule_is_the_one_of_validation(scores):
    """Not the one that turns out best on test instances."""
    for each in scores["rows"]["test"]:
        if each["rule"] == "repetition":
            each["validation"] = 2.0
    text = page.page([scores])
    best = text.partition("### Our head and the best rule")[2].partition("\n### ")[0]
    lines = [line for line in best.splitlines() if line.startswith("| K = ") and "memory" not in line.split("|")[1]]
    assert len(lines) == len(SETTINGS)
    assert all("repetition" in line and "+20.0" in line for line in lines)


def test_runs_that_are_missing_are_named(scores):
    text = page.page([scores])
    assert "random-s0, random-s1" in text
    assert "Plans trained under random depths (*random depths*): none" in text.replace("\n", " ")
    scores["missing"] = []
    assert "Left out" not in page.page([scores])


def test_lines_are_short_and_every_row_is_in_the_tables(scores):
    for line in page.page([scores]).splitlines():
        assert line.startswith("|") or len(line) <= 120, line
    tables = page.tables(scores)
    rows = [line for line in tables.splitlines() if line.startswith("|") and "rule" not in line and "---" not in line]
    assert len(rows) == len(scores["rows"]["test"]) + len(scores["rows"]["harder"])


def test_figures_have_a_line_per_source(scores):
    first, second = figures.of(scores)
    assert (first.name, second.name) == ("rules-compared-sliding-k15", "rules-compared-sliding-k10")
    ahead = {(label, looks): value for label, looks, value, *_ in first.rows}
    assert ahead["depth 8", 4.0] == pytest.approx(-3.0)
    assert ahead["own plans", 0.5] == pytest.approx(5.0)


def test_scores_are_rows_of_json_and_the_page_is_made_from_the_file(scores, tmp_path):
    text = folder.as_json(scores)
    assert json.loads(text) == json.loads(json.dumps(scores))
    assert sum(line.startswith('{"source"') for line in text.splitlines()) == len(
        [*scores["rows"]["test"], *scores["rows"]["harder"]]
    )
    (tmp_path / "scores-sliding.json").write_text(text)
    written, _ = folder.write(tmp_path)
    assert written == page.page([scores]) == (tmp_path / "rules-compared.md").read_text()
    names = set(re.findall(r"\((assets/[^)]+)\)", written))
    assert names
    assert all((tmp_path / name).is_file() for name in names)


@pytest.fixture
def place(scores, tmp_path):
    """A folder in which one puzzle was compared."""
    disk.make_folders(disk.Files(), tmp_path / "compared")
    folder.keep(disk.Files(), tmp_path / "compared", "scores-sliding.json", folder.as_json(scores).encode())
    return tmp_path / "compared"


@pytest.mark.parametrize("name", ["scores-sliding.json", verified.DIGESTS])
def test_a_flipped_bit_is_noticed(place, name):
    data = (place / name).read_bytes()
    for at in range(0, len(data), max(len(data) // 23, 1)):
        (place / name).write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        with pytest.raises(errors.Damaged, match=name):
            folder.write(place)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"puzzle": "../../victim"}, "puzzle: expected that of the file's name, got '../../victim'"),
        ({"rows": {}}, "rows.test: expected a list, got no such field"),
        ({"rows": {"test": [{}]}}, r"rows.test.0.source: expected text, got no such field"),
        ({"rows": {"test": [], "more": [{"rule": 3}]}}, "rows.more.0.source: expected text"),
        ({"settings": [3]}, "settings.0: expected an object, got a whole number"),
        ({"split": [{"instances": "test"}]}, "split.0.source: expected text"),
        ({"instances": {}}, "instances.test: expected an object"),
    ],
)
def test_scores_from_elsewhere_are_checked(place, scores, change, message):
    """They are of another version, or of whoever sent the folder: no name in them leads out of it."""
    (place / verified.DIGESTS).unlink()
    (place / "tables-..").mkdir()
    (place / "scores-sliding.json").write_text(json.dumps({**scores, **change}))
    with pytest.raises(errors.Damaged, match=message):
        folder.write(place)
    assert not list(place.parent.glob("victim*"))


def test_a_row_of_plans_that_nobody_knows_is_a_sentence(place, scores):
    (place / verified.DIGESTS).unlink()
    scores["rows"]["test"][0]["source"] = "mine"
    (place / "scores-sliding.json").write_text(json.dumps(scores))
    with pytest.raises(errors.Damaged, match="source: expected one of adaptive, fixed-8, random, init, got 'mine'"):
        folder.write(place)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to nowhere"])
def test_what_is_no_file_is_a_sentence(place, kind):
    path = place / "scores-another.json"
    {"pipe": os.mkfifo, "folder": Path.mkdir, "link to nowhere": lambda path: path.symlink_to("nowhere")}[kind](path)
    with pytest.raises(errors.Damaged, match=r"scores-another\.json"):
        folder.write(place)


def test_nothing_is_swept_or_written_through_a_link(place, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / ".settings.tmp").write_text("mine")
    (place / folder.ASSETS).symlink_to(tmp_path / "mine")
    with pytest.raises(errors.WrongFolder, match="assets: expected a folder, got a link"):
        folder.write(place)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == [".settings.tmp"]


@pytest.mark.parametrize("name", ["sliding", "sliding/graphs", "sliding/graphs/adaptive-s0"])
def test_no_graph_is_written_through_a_link(place, tmp_path, name):
    (tmp_path / "mine").mkdir()
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    (place / name).symlink_to(tmp_path / "mine")
    with pytest.raises(errors.WrongFolder, match=f"{name}: expected a folder, got a link"):
        folder.compare([SimpleNamespace(name="sliding")], place, (), {}, "cpu", lambda _: None)


def test_the_digests_of_another_folder_are_left_alone(tmp_path):
    verified.write_digests(disk.Files(), tmp_path, {"best.json": "0" * 64})
    before = (tmp_path / verified.DIGESTS).read_bytes()
    with pytest.raises(errors.WrongFolder, match=r"expected a new folder or a comparison, got .* with best\.json"):
        folder.compare([], tmp_path, (), {}, "cpu", lambda _: None)
    assert (tmp_path / verified.DIGESTS).read_bytes() == before


DOCS = Path(__file__).resolve().parents[4] / "docs"


@pytest.fixture(scope="module")
def published():
    """What the page in docs/ is made of, by puzzle."""
    return {name: reading.of_json((DOCS / "assets" / f"rules-compared-{name}.json").read_text()) for name in PUZZLES}


def test_the_published_page_is_that_of_its_figures(published):
    assert page.page(list(published.values())) == (DOCS / "rules-compared.md").read_text()
    for one in published.values():
        for figure in figures.of(one):
            assert figure.alone() == (DOCS / "assets" / f"{figure.name}.svg").read_text()
            assert figure.csv() == (DOCS / "assets" / f"{figure.name}.csv").read_text()


def test_the_published_page_of_caves_is_that_of_its_figures():
    one = reading.of_json((DOCS / "assets" / "rules-compared-ice.json").read_text())
    flags = "--preset caves --instances 512 --validation 256 --harder 64"
    call = f"recommit graph compare caves {flags} --out compared-caves"
    assert page.page([one], call) == (DOCS / "rules-compared-caves.md").read_text()
    for figure in figures.of(one):
        assert figure.alone() == (DOCS / "assets" / f"{figure.name}.svg").read_text()


def test_another_figure_is_another_page(published):
    """The planted defect: one number of the scores, in its fourth digit."""
    planted = copy.deepcopy(published["sliding"])
    row = next(each for each in planted["rows"]["test"] if each["rule"] == "head" and each["source"] == "adaptive")
    row["solved"] += 0.001
    assert page.page([planted, published["sokoban"]]) != (DOCS / "rules-compared.md").read_text()


def test_what_the_page_is_made_of_is_beside_it(scores, tmp_path):
    (tmp_path / "scores-sliding.json").write_text(folder.as_json(scores))
    written, _ = folder.write(tmp_path)
    text = (tmp_path / "assets" / "rules-compared-sliding.json").read_text()
    least = reading.of_json(text)
    assert page.page([least]) == written
    assert "by_seed" not in text
    assert len(least["rows"]["test"]) < len(scores["rows"]["test"])
    assert reading.of_json(reading.as_json(least)) == least


def test_prices_of_a_look_are_words(scores):
    units = {words.unit(each) for each in reading.settings(scores)}
    assert units == {"", " action per look", " actions per look"}
    assert "<summary>K = 15, 1 action per look</summary>" in page.page([scores])
