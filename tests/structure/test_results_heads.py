"""The page of heads that know: its tables are those of the figures beside it."""

from __future__ import annotations

import copy
import json

import pytest

pytest.importorskip("torch")
pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

from bench.pages import charged, compute, heads, ladder, leads


def test_the_page_equals_its_figures():
    page, figures = heads.PAGE.read_text(encoding="utf-8"), heads.stored()
    blocks = {(match["task"], match["table"]) for match in heads.BLOCK.finditer(page)}
    assert {task for task, _ in blocks} == set(figures)
    assert heads.filled(page, figures) == page
    for task in figures:  # a planted defect: another figure in any of the files
        planted = copy.deepcopy(figures)
        row = planted[task]["rows"][0]
        key = next(name for name in ("solve_rate", "solved", "cosine", "value") if name in row)
        own = row[key]
        row[key] = own | {"mean": own["mean"] / 2 + 0.01} if isinstance(own, dict) else own / 2 + 0.01
        assert heads.filled(page, planted) != page


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
    figures = heads.gathered(evaluations, "fresh")
    table = heads.means(figures)
    assert "warm start, eight views" in table
    assert "0.50" in table
    assert "3.0" in table
    assert "own head" in table
    assert "s1 +10.0 (+5.0 .. +15.0)" in heads.ahead(figures)
    assert "50.0 (40.0 .. 60.0)" in heads.seeds(figures)


def test_two_test_sets_are_not_one_table(evaluations):
    (evaluations[1] / "plan.json").write_text(json.dumps({"test_set": "other", "instances": 1024}))
    with pytest.raises(ValueError, match="too many values"):
        heads.gathered(evaluations, "fresh")


def test_folders_of_a_preset_say_whose_plans_they_are():
    plans = {"plans": "adaptive, after reinforcement"}
    assert heads._words("adaptive@out/family/stakes-s1", "sliding") == plans | {"chooses": "foresight and stakes"}
    assert heads._words("fixed-4", "sliding") == plans | {"chooses": "best constant"}
    warm = {"plans": "warm start, eight views", "chooses": "perfect depths"}
    assert heads._words("oracle-dp@out/family/foresight-s1", "sokoban") == warm
    assert heads._words("shuffled", "sliding") is heads._words("fixed-4@adaptive-s0/init", "sliding") is None


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
    figures = charged.gathered(folders)
    assert {row["chooses"] for row in figures["rows"]} == {*charged.HEADS.values(), "best constant"}
    table = charged.value(figures).splitlines()
    assert [cell.strip() for cell in table[2].split("|")[1:5]] == ["6", "0.01", "0.125", "0.600"]
    assert "s2 +0.100 (+0.050 .. +0.150)" in charged.ahead(figures)
    assert "perfect" not in charged.ahead(figures)


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
    figures = ladder.gathered(tmp_path)
    assert [row["rung"] for row in figures["rows"]] == ["paper", "ladder-exact", "adaptive"]
    assert [row["cpu_s"] for row in figures["rows"]] == [13, 12, 11]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in ladder.rungs(figures).splitlines()[2:]]
    assert [(line[0], line[2], line[-1]) for line in lines] == [
        ("paper", "30.0 (40.0 .. 60.0)", "13"),
        ("ladder-exact", "20.0 (40.0 .. 60.0)", "12"),
        ("adaptive", "10.0 (40.0 .. 60.0)", "11"),
    ]


def played(folder, task, agents, constants, rooms=None):
    """An evaluation of four instances; of some agents there is a constant that was chosen for their plans."""
    columns = {name: [] for name in ("agent", "budget", *leads.FIGURES)}
    for agent, (each, taken, looked) in agents.items():
        columns["agent"] += [agent] * 4
        columns["budget"] += ["loose"] * 4
        for name, values in zip(leads.FIGURES, (each, taken, looked), strict=True):
            columns[name] += values
    pq.write_table(pa.table(columns), folder / "episodes.parquet")
    pq.write_table(pa.table({"index": range(4)} | ({"room": rooms} if rooms else {})), folder / "instances.parquet")
    rows = [summary(agent, task=task, gain_constant=constants.get(agent)) for agent in agents]
    (folder / "summary.json").write_text(json.dumps(rows))
    (folder / "plan.json").write_text(json.dumps({"run": "f/adaptive-s1", "test_set": "abc", "instances": 4}))
    return leads.gathered([folder])


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
    assert [row["against"] for row in figures["rows"]] == ["own head", leads.OTHERS["fixed-8@fixed-8"], "best constant"]
    assert own["solved"]["mean"] == 0.75
    assert own["0.02"]["mean"] == pytest.approx(0.75 + 0.01 * (40 - 17.5) + 0.02 * (8 - 3.5))
    assert same["0.02"]["mean"] == 0.0
    assert constant["actions"]["mean"] == 0.0
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in leads.leads(figures).splitlines()[2:]]
    assert lines[0][:4] == ["6", "own head", "+75.0 (+1 -0)", "-22.5 (+0 -1)"]
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


def test_the_picture_is_of_the_figures_beside_it(tmp_path):
    """Every agent has a colour, and who gathers other figures draws again."""
    pytest.importorskip("matplotlib")
    figures = heads.stored()
    compute.draw(figures, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == compute.OUT.read_bytes()
    for row in figures["stakes"]["rows"]:
        row["solve_rate"] *= 0.9
    compute.draw(figures, tmp_path / "other.svg")
    assert (tmp_path / "other.svg").read_bytes() != compute.OUT.read_bytes()
