"""Rules of one's own: files of Python, which run only where that is asked for."""

from __future__ import annotations

import pytest
from tests.refusals import refused
from tests.unit.graph.test_score import consecutive_rule, episode

from recommit.graph import rule_episodes, score
from recommit.graph.episodes import play
from recommit.horizon import rule_registry


def written(folder, text, name="mine.py"):
    """A file with this text, as a rule."""
    (folder / name).write_text(text)
    return rule_registry.from_code(folder / name, trusted=True)


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("import numpy as np\ndef rule(plans):\n    return np.full(len(plans), 3)", "fixed-3"),
        ("from recommit.horizon import Fixed as F\nclass Three(F):\n    pass\nrule = Three(3)", "fixed-3"),
        ("from recommit.horizon import Fixed, WithMemory\nrule = WithMemory(Fixed(3))", "fixed-3+memory"),
        ("from recommit.horizon import Confidence\nrule = Confidence(0.1)", "confidence-product"),
    ],
    ids=["function", "class", "memory", "number"],
)
def test_a_rule_of_ones_own_is_scored_as_one_by_name(scorer, tmp_path, text, twin):
    """A memory, unless it has one, stands beside it; a number of its own is chosen."""
    names = dict.fromkeys([twin, twin.removesuffix("+memory") + "+memory"])
    own = score.score(scorer, rule_registry.with_memory(written(tmp_path, text)))
    named = score.score(scorer, [rule_registry.named(name) for name in names])
    assert {row.rule for row in own} <= {"mine", "mine+memory"}
    assert [(row.threshold, row.value) for row in own] == [(row.threshold, row.value) for row in named]


PREVIOUS = """
from recommit.horizon import Rule

class Mine(Rule):
    reads = ("previous",)

    def propose(self, plans):
        tail, width = plans.previous, plans.horizon
        same = (plans.actions == tail.actions[:, :width]) & (range(width) < tail.remaining[:, None])
        assert plans.probabilities.shape == (len(plans), 8, 4)
        return (1 + same.cumprod(axis=1).sum(axis=1)).clip(1, 8)

rule = Mine()
"""


def test_the_last_plan_is_there_for_a_rule_that_reads_it(scorer, graph, tmp_path):
    """A twin of ``consecutive``, which also reads what that one does not."""
    choose = scorer.rules.chooser(written(tmp_path, PREVIOUS))
    columns = play(scorer.graph, graph.starts, 4, choose).outcome()
    expected = [episode(graph, start, 4, consecutive_rule(graph)) for start in graph.starts]
    assert [tuple(each) for each in zip(*columns, strict=True)] == expected
    entry = written(tmp_path, PREVIOUS.replace('("previous",)', "()"))
    with pytest.raises(ValueError, match=r"'NoneType' object has no attribute 'actions'"):
        rule_episodes.ask_once(entry, tmp_path / "mine.py", scorer.rules)


PRESENT = "from recommit.horizon import Confidence\nclass One(Confidence):\n    reads = ('previous',)\nrule = One(1)"


FAILING = [
    ("def(", "mine.py: SyntaxError: "),
    ("import sys; sys.exit(0)", "mine.py, line 1: SystemExit: "),  # it would else look like success
    ("rule = 3", "got int"),
    ("from recommit.horizon import Repetition as rule", "got the class Repetition, which was not called"),
    (PRESENT, "rule: expected a rule of one number in "),
    ("def rule(plans):\n    return plans.depths", "mine.py, line 2: AttributeError: 'Plans' object has no"),
    ("def rule(plans):\n    return 4.0", "mine.py: TypeError: propose: expected integers, got float64"),
    ("def rule(plans):\n    exit(1)", "mine.py, line 2: SystemExit: 1"),
]


def test_a_rule_that_fails_says_where_before_anything_is_scored(scorer, tmp_path):
    ask = lambda text: rule_episodes.ask_once(written(tmp_path, text), tmp_path / "mine.py", scorer.rules)
    refused([(lambda text=text: ask(text), words) for text, words in FAILING], ValueError)
    (path := tmp_path / "two.py").write_text("raise SystemExit")
    taken = lambda: written(tmp_path, "def rule(plans):\n    return 1", "head.py")
    untrusted = lambda: rule_registry.from_code(path, trusted=False)
    words = "rule: expected a file whose name no rule here has, got head.py"
    refused([(untrusted, "rule: expected --run-code"), (taken, words)], ValueError)
