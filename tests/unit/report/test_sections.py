"""The sentence says no more than the intervals do, and the headline figure is that of the files."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.unit.report.conftest import with_gains

from recommit.report import page, sections
from recommit.report.reading import Folder


def judged(evaluation, folder, solved, actions):
    """The sentence where the paired differences from everybody are these."""
    copy = shutil.copytree(evaluation, folder / "eval")
    compared = json.loads((copy / "comparisons.json").read_text())
    for one in compared:
        for name, (mean, low, high) in (("solve_difference", solved), ("actions_difference", actions)):
            one[name] = {"mean": mean, "low": low, "high": high, "p": 0.5}
    (copy / "comparisons.json").write_text(json.dumps(compared))
    return sections.verdict(Folder(copy), "loose")


@pytest.mark.parametrize(
    ("solved", "actions", "words"),
    [
        ((0.05, 0.01, 0.09), (-3, -4, -2), ("solves 5.0 points more than", "with 3.0 fewer actions")),
        ((-0.05, -0.09, -0.01), (3, 2, 4), ("solves 5.0 points fewer than", "with 3.0 more actions")),
        ((0.05, -0.01, 0.09), (-3, -7, 1), ("do not differ significantly",)),
    ],
)
def test_the_sentence_says_what_is_significant(evaluations, tmp_path, solved, actions, words):
    sentence = judged(evaluations["sliding"], tmp_path, solved, actions)
    assert all(word in sentence for word in words)
    assert "the best fixed depth" in sentence


def test_the_headline_figure_has_its_interval(evaluations, tmp_path):
    assert sections.gain_share(Folder(evaluations["sliding"]), "loose") is None
    html = page.make(Folder(with_gains(evaluations["sliding"], tmp_path)), 2).html
    assert '<strong>0.75</strong> <span class="bounds">0.50 .. 0.88, significant</span>' in html
    assert "from fixed depth 2 (same plans) (" in html


def test_the_sentence_has_the_numbers_of_the_files(evaluations):
    folder = Folder(evaluations["sliding"])
    sentence = sections.verdict(folder, "loose")
    own, other = (folder.row(a, "loose") for a in (folder.first, folder.best_fixed("loose")[0]))
    assert f"{100 * own['solve_rate']:.1f} and {100 * other['solve_rate']:.1f}\u00a0%" in sentence
    assert f"{own['actions_per_episode']:.1f} and {other['actions_per_episode']:.1f}" in sentence
