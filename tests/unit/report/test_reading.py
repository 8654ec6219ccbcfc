"""Folders as they are, without some of their files, and damaged."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tests.refusals import refused

from recommit.evaluate.agent_names import with_augmentations
from recommit.report import reading
from recommit.report.reading import PARTS, Folder, agents_of
from recommit.storage import errors


@pytest.fixture
def copy(evaluations, tmp_path):
    return shutil.copytree(evaluations["sliding"], tmp_path / "eval")


def test_roles_and_labels():
    names = "adaptive fixed-4 fixed-4@/a/x/init fixed-4@/b/x/init fixed-8-sampled@/c/run mixture oracle-dp solver"
    found = agents_of(names.split())
    labels = "adaptive fixed-4 fixed-4@a/x/init fixed-4@b/x/init fixed-8-sampled@run mixture oracle-dp solver"
    assert [a.label for a in found] == labels.split()
    assert [a.role for a in found] == ["first", *["fixed"] * 4, "control", "oracle", "privileged"]
    assert [a.depth for a in found] == [0, 4, 4, 4, 8, 0, 0, 0]
    together = agents_of(["fixed-2@/f/fixed-2-s0", "fixed-8@/f/fixed-8-s0", "fixed-8-sampled@/f/fixed-8-s0", "fixed-2"])
    assert together[0].family == together[1].family
    assert len({a.family for a in together}) == 3


def test_everything_is_read(evaluations):
    folder = Folder(evaluations["sokoban"])
    assert (folder.task, folder.shape, folder.widest) == ("sokoban", (7, 7), "loose")
    assert folder.budgets == {"loose": 6, "tight": 4}
    adaptive, shuffled = folder.first, folder.agent("shuffled")
    assert len(folder.decisions(shuffled)) == 2
    (rows,) = folder.decisions(adaptive)
    assert rows.actions.dtype == np.uint32
    assert rows.depth_probs.dtype == np.uint64
    for budget in folder.budgets:
        for agent in folder.agents:
            row = folder.row(agent, budget)
            assert folder.values(agent, budget, "solved").mean() == pytest.approx(row["solve_rate"])
            assert folder.values(agent, budget, "actions").mean() == pytest.approx(row["actions_per_episode"])


def test_the_best_fixed_depth_is_chosen_on_validation_instances_if_it_can_be(copy):
    folder = Folder(copy)
    best, chosen = folder.best_fixed("loose")
    assert not chosen
    fixed = [a for a in folder.agents if a.depth]
    assert folder.row(best, "loose")["solve_rate"] == max(folder.row(a, "loose")["solve_rate"] for a in fixed)
    for row in folder.summary:
        if row["agent"].startswith("fixed-"):
            row["validation_solve_rate"] = 0.5
    (copy / "summary.json").write_text(json.dumps(folder.summary))
    best, chosen = Folder(copy).best_fixed("loose")
    assert chosen
    assert best.depth == 2  # the smaller of equals


def test_under_augmentations_oracle_and_control_are_found(copy):
    plan = json.loads((copy / "plan.json").read_text())
    names = dict(zip(plan["agents"], with_augmentations(plan["agents"], 8), strict=True))
    for name in ("plan", "summary", "comparisons"):
        text = (copy / f"{name}.json").read_text()
        for old, new in names.items():
            text = text.replace(json.dumps(old), json.dumps(new))
        (copy / f"{name}.json").write_text(text)
    folder = Folder(copy)
    assert [folder.agent(base).name for base in ("shuffled", "oracle-dp")] == ["shuffled+aug8", "oracle-dp+aug8"]


@pytest.mark.parametrize(
    ("own", "new"), [(True, "fixed-8@F-s0"), (False, "fixed-8@F-s1"), (False, "fixed-8-sampled@F-s0")]
)
def test_the_best_fixed_depth_is_none_of_another_seed_nor_sampled(copy, own, new):
    """A run of another seed may come from a luckier warm start, and a sample from luck."""
    plan, rows = (json.loads((copy / name).read_text()) for name in ("plan.json", "summary.json"))
    old, new = next(n for n in plan["agents"] if n.startswith("fixed-8")), new.replace("F", "family/fixed-8")
    plan |= {"run": "family/adaptive-s0", "agents": [new if name == old else name for name in plan["agents"]]}
    rows = [row | ({"agent": new, "solve_rate": 1.0} if row["agent"] == old else {}) for row in rows]
    (copy / "plan.json").write_text(json.dumps(plan))
    (copy / "summary.json").write_text(json.dumps(rows))
    text = (copy / "comparisons.json").read_text()
    (copy / "comparisons.json").write_text(text.replace(json.dumps(old), json.dumps(new)))
    best, _ = Folder(copy).best_fixed("loose")
    assert (best.name == new) == own


def test_what_is_refused(evaluations, tmp_path):
    """What is damaged or not there; and an agent whose name leads to a file of another folder."""
    damaged = {"summary.json": ("[]", "{", "[{}]"), "plan.json": ("[]", '{"agents": []}')}
    rows = []
    for number, (name, content) in enumerate((n, c) for n in (*PARTS, *damaged) for c in damaged.get(n, (None,))):
        copy = shutil.copytree(evaluations["sliding"], tmp_path / str(number))
        if content is None:
            (copy / name).unlink()
        else:
            (copy / name).write_text(content)
        read = lambda copy=copy: Folder(copy)
        rows.append((read, name if content else "eval: expected the folder of a finished evaluation"))
    refused(rows)


def test_an_agent_whose_name_leads_elsewhere_has_no_decisions(copy, tmp_path):
    name = "../../mine/private"
    (tmp_path / "mine").mkdir()
    (copy / "decisions/fixed-2@6.parquet").rename(copy / "decisions" / f"{name}@6.parquet")
    assert (tmp_path / "mine/private@6.parquet").exists()
    for part in (copy / each for each in PARTS if each.endswith(".json")):
        part.write_text(part.read_text().replace('"fixed-2"', json.dumps(name)))
    folder = Folder(copy)
    words = "expected names of files of the folder, got 'decisions/../../mine"
    refused([(lambda: folder.decisions(folder.agent(name)), words)], errors.Damaged)


FAMILY = [
    *("adaptive", "fixed-4", "fixed-8@f/fixed-8-s0", "fixed-8@f/fixed-8-s1", "fixed-8@f/fixed-8-s2"),
    *("adaptive@f/adaptive-s1", "adaptive@f/adaptive-s2", "fixed-4@a/init", "fixed-4@b/init", "fixed-4@f/adaptive-s0"),
]


def test_no_two_agents_have_the_same_words():
    words = [agent.words for agent in agents_of(FAMILY, "0")]
    assert len(set(words)) == len(FAMILY)
    assert words[2:4] == ["fixed depth 8 (own RL)", "fixed depth 8 (own RL), seed 1"]
    assert words[-3:-1] == ["fixed depth 4 (warm start) (a/init)", "fixed depth 4 (warm start) (b/init)"]


@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_everybody_is_in_one_group(evaluations, task):
    folder = Folder(evaluations[task])
    grouped = reading.groups(folder, "loose")
    assert sorted(agent.name for group in grouped.values() for agent in group) == sorted(a.name for a in folder.agents)
    assert next(iter(grouped)) == reading.COMPARED
    assert grouped[reading.COMPARED][0] is folder.first
