"""Agents of a page: words of their own, one group each, and tables that hold everybody."""

from __future__ import annotations

import pytest

from recommit.report import compared, sections
from recommit.report.agents import agents_of
from recommit.report.reading import Folder

FAMILY = [
    *("adaptive", "fixed-4", "fixed-8@f/fixed-8-s0", "fixed-8@f/fixed-8-s1", "fixed-8@f/fixed-8-s2"),
    *("adaptive@f/adaptive-s1", "adaptive@f/adaptive-s2", "fixed-4@a/init", "fixed-4@b/init", "fixed-4@f/adaptive-s0"),
]


def test_no_two_agents_have_the_same_words():
    words = [agent.words for agent in agents_of(FAMILY, "0")]
    assert len(set(words)) == len(FAMILY)
    assert words[2:4] == ["fixed depth 8 (RL)", "fixed depth 8 (RL), seed 1"]
    assert words[-3:-1] == ["fixed depth 4 (warm start) (a/init)", "fixed depth 4 (warm start) (b/init)"]


def test_figures_have_a_few_letters():
    assert [agent.brief for agent in agents_of(FAMILY, "0")] == [
        *("adaptive", "fixed 4", *["fixed 8 (RL)"] * 3, "adaptive (seed 1)", "adaptive (seed 2)"),
        *("fixed 4 (warm start)", "fixed 4 (warm start)", "fixed 4 (seed 0)"),
    ]


@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_everybody_is_in_one_group(evaluations, task):
    folder = Folder(evaluations[task])
    grouped = compared.groups(folder, "loose")
    assert sorted(agent.name for group in grouped.values() for agent in group) == sorted(a.name for a in folder.agents)
    assert next(iter(grouped)) == compared.COMPARED
    assert grouped[compared.COMPARED][0] is folder.first


def test_the_comparison_is_open_and_the_others_are_folded(evaluations):
    html = sections.results(Folder(evaluations["sliding"]))
    assert html.count('<details class="group" open>') == 2
    assert html.count('<details class="group">') >= 2
    assert "@" not in html.replace("title=", "").partition("<tbody>")[0], "names are words"
