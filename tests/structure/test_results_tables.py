"""The results pages: their tables are those of the figures beside them."""

from __future__ import annotations

import copy
import json

import pytest

pytest.importorskip("torch")
pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

from bench.pages import gather, rules, tables
from tests.unit.graph import cases

from recommit.graph.judge import Judge, Setting
from recommit.graph.prices import Prices
from recommit.report import plotting


@pytest.mark.parametrize("name", tables.PAGES)
def test_a_page_equals_its_figures(name):
    prefix, functions = tables.PAGES[name]
    page, figures = (tables.DOCS / name).read_text(encoding="utf-8"), tables.stored(prefix)
    assert {match["task"] for match in tables.BLOCK.finditer(page)} == set(figures)
    assert tables.filled(page, figures, functions) == page
    for task in figures:  # a planted defect: another figure in any of the files
        planted = copy.deepcopy(figures)
        row = planted[task]["rows"][0]
        key = next(name for name in ("solve_rate", "solved", "cosine", "value") if name in row)
        own = row[key]
        row[key] = own | {"mean": own["mean"] / 2 + 0.01} if isinstance(own, dict) else own / 2 + 0.01
        assert tables.filled(page, planted, functions) != page


def summary(agent, budget="loose", **more):
    rates = {"solve_rate": 0.5, "solve_low": 0.4, "solve_high": 0.6, "actions_per_episode": 10.0}
    return {"agent": agent, "task": "sokoban", "budget": budget, "decisions": 6, "decisions_per_episode": 3.0} | {
        **rates,
        **more,
    }


@pytest.fixture
def evaluations(tmp_path):
    folders = []
    for seed in (0, 1):
        folder = tmp_path / f"e{seed}"
        folder.mkdir()
        first = f"adaptive@x/foresight-views8-s{seed}"
        rows = [summary(first, gain=0.25 + seed / 2, gain_low=0.1, gain_high=0.9), summary("adaptive")]
        ends = {"mean": 0.1, "low": 0.05, "high": 0.15}
        pair = {"agent": first, "against": "adaptive", "budget": "loose"}
        looks = {first.partition("@")[2]: {"flops": 3_000_000, "views": 8, "states": 32}}
        written = {
            "plan": {"test_set": "abc", "instances": 1024},
            "summary": rows,
            "comparisons": [{**pair, "solve_difference": ends, "actions_difference": ends}],
            "compute": looks,
        }
        for name, values in written.items():
            (folder / f"{name}.json").write_text(json.dumps(values))
        times = [{"policy": name, "milliseconds": 2.0} for name in looks]
        (folder / "timing.jsonl").write_text("".join(json.dumps(line) + "\n" for line in times))
        folders.append(folder)
    return folders


def test_figures_are_gathered_seed_by_seed(evaluations):
    figures = gather.of_heads(evaluations, "fresh")
    table = tables.means(figures)
    assert "warm start, eight views" in table
    assert "0.50" in table
    assert "3.0" in table
    assert " adaptive |" in table
    assert "s1 +10.0 (+5.0 .. +15.0)" in tables.ahead(figures)
    assert "50.0 (40.0 .. 60.0)" in tables.seeds(figures)


def test_two_test_sets_are_not_one_table(evaluations):
    (evaluations[1] / "plan.json").write_text(json.dumps({"test_set": "other", "instances": 1024}))
    with pytest.raises(ValueError, match="too many values"):
        gather.of_heads(evaluations, "fresh")


def test_folders_of_a_preset_say_whose_plans_they_are():
    plans = {"plans": "adaptive, after reinforcement"}
    assert gather._words("adaptive@out/family/stakes-s1", "sliding") == plans | {"chooses": "foresight and stakes"}
    assert gather._words("fixed-4", "sliding") == plans | {"chooses": "best constant"}
    warm = {"plans": "warm start, eight views", "chooses": "perfect depths"}
    assert gather._words("oracle-dp@out/family/foresight-s1", "sokoban") == warm
    assert gather._words("shuffled", "sliding") is gather._words("fixed-4@adaptive-s0/init", "sliding") is None


def test_where_looks_cost_something_seeds_are_those_of_runs(tmp_path):
    """Another constant than the chosen one is not shown, and the first agent is the one that is ahead."""
    folders = []
    for seed, look in ((0, 0.01), (2, 0.01), (0, 0.04)):
        folder = tmp_path / f"price-{look}-s{seed}"
        folder.mkdir()
        first = f"adaptive@family/stakes-s{seed}"
        shares = {"gain": 0.5 + look, "gain_constant": "fixed-2", "gain_low": 0.4, "gain_high": 0.6}
        rows = [summary(first, value=0.5 + seed / 10, **shares)]
        rows += [summary(name, value=0.25, **shares) for name in ("adaptive", f"adaptive@family/foresight-s{seed}")]
        rows += [summary(name, value=0.125) for name in ("fixed-2", "fixed-4")]
        ends = {"mean": 0.1, "low": 0.05, "high": 0.15}
        pairs = [{"agent": first, "against": row["agent"], "budget": "loose", "value_difference": ends} for row in rows]
        plan = {
            "run": f"family/adaptive-s{seed}",
            "price_observation": look,
            "fresh": 23,
            "test_set": "abc",
            "instances": 4,
        }
        for name, values in {"plan": plan, "summary": rows, "comparisons": pairs[1:]}.items():
            (folder / f"{name}.json").write_text(json.dumps(values))
        folders.append(folder)
    figures = gather.at_prices(folders)
    assert {row["chooses"] for row in figures["rows"]} == {*gather.HEADS.values(), "best constant"}
    table = tables.value(figures).splitlines()
    assert [cell.strip() for cell in table[2].split("|")[1:5]] == ["6", "0.01", "0.125", "0.600"]
    assert "s2 +0.100 (+0.050 .. +0.150)" in tables.price_leads(figures)
    assert "oracle" not in tables.price_leads(figures)


def test_the_ladder_has_a_row_per_change_in_its_order(tmp_path):
    evaluation = tmp_path / "eval-s0"
    evaluation.mkdir()
    runs = [tmp_path / "family" / f"{name}-s0" for name in ("adaptive", "ladder-exact", "paper")]
    for seconds, run in enumerate(runs, 1):
        run.mkdir(parents=True)
        (run / "timing.jsonl").write_text(json.dumps({"cpu_s": seconds}) + "\n" + json.dumps({"cpu_s": 10}) + "\n")
    others = [summary(f"adaptive@{run}", solve_rate=0.1 * seconds) for seconds, run in enumerate(runs[1:], 2)]
    rows = [summary("adaptive", solve_rate=0.1), summary("fixed-4"), *others]
    (evaluation / "summary.json").write_text(json.dumps(rows))
    (evaluation / "plan.json").write_text(json.dumps({"run": str(runs[0]), "test_set": "abc", "instances": 8}))
    figures = gather.of_ablation(tmp_path)
    assert [row["rung"] for row in figures["rows"]] == ["paper", "ladder-exact", "adaptive"]
    assert [row["cpu_s"] for row in figures["rows"]] == [13, 12, 11]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in tables.rungs(figures).splitlines()[2:]]
    assert [(line[0], line[2], line[-1]) for line in lines] == [
        ("paper", "30.0 (40.0 .. 60.0)", "13"),
        ("ladder-exact", "20.0 (40.0 .. 60.0)", "12"),
        ("adaptive", "10.0 (40.0 .. 60.0)", "11"),
    ]


def played(folder, task, agents, constants, rooms=None):
    """An evaluation of four instances; of some agents there is a constant that was chosen for their plans."""
    columns = {name: [] for name in ("agent", "budget", *gather.FIGURES)}
    for agent, (each, taken, looked) in agents.items():
        columns["agent"] += [agent] * 4
        columns["budget"] += ["loose"] * 4
        for name, values in zip(gather.FIGURES, (each, taken, looked), strict=True):
            columns[name] += values
    pq.write_table(pa.table(columns), folder / "episodes.parquet")
    pq.write_table(pa.table({"index": range(4)} | ({"room": rooms} if rooms else {})), folder / "instances.parquet")
    rows = [summary(agent, task=task, gain_constant=constants.get(agent)) for agent in agents]
    (folder / "summary.json").write_text(json.dumps(rows))
    (folder / "plan.json").write_text(json.dumps({"run": "f/adaptive-s1", "test_set": "abc", "instances": 4}))
    return gather.of_episodes([folder])


SOLVED, ACTIONS, LOOKS = [True, True, False, True], [10, 20, 30, 10], [2, 4, 6, 2]
BEST, WORST = (SOLVED, ACTIONS, LOOKS), ([False] * 4, [40] * 4, [8] * 4)


def test_leads_are_of_the_same_episodes(tmp_path):
    """Value is worked out by hand; another constant than the chosen one and other seeds' runs are left out."""
    agents = {
        "adaptive@f/stakes-s1": BEST,
        "adaptive": WORST,
        "fixed-8@f/fixed-8-s1": BEST,
        "fixed-8@f/fixed-8-s0": WORST,
        "fixed-2": ([False] * 4, ACTIONS, LOOKS),
        "fixed-1": BEST,
    }
    figures = played(tmp_path, "sliding", agents, {"adaptive": "fixed-2"})
    own, same, constant = figures["rows"]
    assert figures["task"] == "leads"
    assert [row["against"] for row in figures["rows"]] == [
        "own head",
        gather.OTHERS["fixed-8@fixed-8"],
        "best constant",
    ]
    assert own["solved"]["mean"] == 0.75
    assert own["0.02"]["mean"] == pytest.approx(0.75 + 0.01 * (40 - 17.5) + 0.02 * (8 - 3.5))
    assert same["0.02"]["mean"] == 0.0
    assert constant["actions"]["mean"] == 0.0
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in tables.leads(figures).splitlines()[2:]]
    assert lines[0][:4] == ["6", "adaptive", "+75.0 (+1 -0)", "-22.5 (+0 -1)"]
    assert lines[1][2] == "+0.0 (+0 -0)"


def test_leads_where_instances_share_rooms(tmp_path):
    """Whole rooms are drawn again, so that one room of all instances leaves no interval; and both policies have a
    constant of their own."""
    agents = {
        "adaptive": WORST,
        "adaptive@f/foresight-s1": BEST,
        "fixed-4": WORST,
        "fixed-4@f/foresight-s1": BEST,
        "fixed-2": BEST,
    }
    constants = {"adaptive": "fixed-4", "adaptive@f/foresight-s1": "fixed-4@f/foresight-s1"}
    figures = played(tmp_path, "sokoban", agents, constants, rooms=[7, 7, 7, 7])
    assert figures["task"] == "rooms"
    words = ["own head", "best constant", "best constant, eight views"]
    assert [row["against"] for row in figures["rows"]] == words
    own, worst, same = (row["solved"] for row in figures["rows"])
    assert own == worst
    assert own == {"mean": 0.75, "low": 0.75, "high": 0.75}
    assert same["mean"] == 0.0


@pytest.mark.parametrize("name", tables.DRAWN)
def test_a_picture_is_of_the_figures_beside_it(name):
    prefix, draw = tables.DRAWN[name]
    figures = tables.stored(prefix)
    with plotting.style():
        assert plotting.content(draw(figures), "svg") == (tables.ASSETS / name).read_bytes()
        for row in figures["stakes" if prefix == "heads" else "sliding"]["rows"]:  # planted: other figures
            row |= {key: 0.9 * row[key] for key in ("solve_rate", "gain") if row.get(key) is not None}
        assert plotting.content(draw(figures), "svg") != (tables.ASSETS / name).read_bytes()


@pytest.fixture
def baselines():
    def row(rule, seed, value, low):
        played = {"solved": value, "actions": 20.0, "looks": 5.0, "value": value, "gain": value / 2}
        ahead = {"mean": low + 0.1, "low": low, "high": low + 0.2}
        about = {"seed": seed, "K": 6, "ratio": 2.0, "rule": rule, "ends": [4, 0.1, 0.9]}
        return {**about, **played, "ahead": ahead}

    names = ("foresight", *tables.EVERYWHERE, "fixed-4", "reversal")
    each = [row(name, seed, 0.9 - 0.1 * at, 0.1 * (at - 1)) for at, name in enumerate(names) for seed in (0, 1)]
    tries = [{"changes": {"lr": 0.001}, "value": 0.5}, {"changes": {"lr": 0.003}, "value": 0.6}]
    return {"rows": each, "fits": {"ppo-2-s0": {"tries": tries, "updates": 1234, "value": 0.61}}}


def test_rows_are_means_of_seeds_in_the_order_of_their_values(baselines):
    lines = tables.scores(baselines).splitlines()[2:]
    assert [line.split("|")[1].strip() for line in lines][:2] == ["world model", "exact"]
    assert "0.45 (0.45 .. 0.45)" in lines[0]
    assert "+10.0 (+0.0 .. +20.0); +10.0" in lines[1]


def test_a_price_says_on_how_many_seeds_the_head_is_significant(baselines):
    (line,) = tables.prices(baselines).splitlines()[2:]
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells == ["6", "2", "0.45", "0.40 (0 of 2)", "0.35 (2 of 2)", "0.30 (2 of 2)", "0.25 (2 of 2)", *cells[7:]]
    assert tables.best_plain(baselines) == "fixed-4"


def test_ends_and_fits(baselines):
    assert "| 6 |" in tables.ends(baselines)
    assert "lr 0.001: 50.0; lr 0.003: 60.0" in tables.fits(baselines)
    assert "1,234" in tables.fits(baselines)


@pytest.mark.parametrize("puzzle", ["sliding", "sokoban", "ice"])
def test_the_published_comparison_of_rules_is_that_of_the_figures(puzzle):
    figures = rules.read((tables.ASSETS / f"rules-compared-{puzzle}.json").read_text())
    page = tables.DOCS / ("rules-compared-caves.md" if puzzle == "ice" else "rules-compared.md")
    ours = [line.split("|")[3].strip() for line in rules.bests(figures).splitlines()[2:]]
    assert len(ours) == 20
    assert all(f"| {cell} |" in page.read_text(encoding="utf-8") for cell in ours)


def test_rules_are_compared_start_by_start_with_parameters_of_validation():
    settings = (Setting(4, Prices()), Setting(4, Prices(0.01, 0.02)))
    validation, test = (Judge(cases.some("sliding", count, wrong=3), settings) for count in (12, 20))
    played = rules.play(validation, test)
    better = {key: rules.Played(one.parameter, one.validation, one.outcome * 1.0) for key, one in played.items()}
    better["fixed", settings[0]].outcome[0] = 1.0  # planted: a rule that always solves
    rows = rules.rows({("adaptive", 0): (test, played), ("random", 0): (test, better)})
    by_name = {(row["source"], row["rule"], row["price_action"]): row for row in rows}
    for setting in settings:
        depth = validation.constant(setting)
        fixed = by_name["adaptive", "fixed", setting.prices.action]
        assert fixed["parameters"] == [depth]
        assert fixed["value"] == pytest.approx(test.of_constant(setting, depth).mean())
        assert by_name["adaptive", "head", setting.prices.action]["ahead"] == [0.0, 0.0, 0.0]
    assert by_name["random", "fixed", 0.0]["solved"] == 1.0 > by_name["adaptive", "fixed", 0.0]["solved"]
    assert rules.read(rules.text_of({"rows": {"test": rows}}))["rows"]["test"] == rows
