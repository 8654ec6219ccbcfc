"""Rules of one's own: files of Python, which run only where that is asked for, and tables of depths."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.graph import cases
from tests.unit.graph.test_score import consecutive_rule, episode

from recommit.graph import rule_episodes, rules, score
from recommit.graph.episodes import play
from recommit.graph.score import GraphScorer
from recommit.prices import Prices, Setting

SETTINGS = (Setting(2, Prices()), Setting(3, Prices(0.01, 0.02)))


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def graph(request):
    return cases.some(request.param, 20, wrong=3)


@pytest.fixture(scope="module")
def scorer(graph):
    return GraphScorer(graph, SETTINGS)


def written(folder, text, name="mine.py"):
    """A file with this text, as a rule."""
    (folder / name).write_text(text)
    return rules.from_code(folder / name, trusted=True)


RULE = """
from dataclasses import dataclass
from recommit.horizon import Rule

@dataclass(frozen=True)
class Two(Rule):
    def propose(self, plans):
        return plans.actions[:, 0] * 0 + 2

rule = Two()
"""


def test_a_rule_of_ones_own(scorer, tmp_path):
    path = tmp_path / "two.py"
    path.write_text(RULE)
    with pytest.raises(ValueError, match="rule: expected --run-code"):
        rules.from_code(path, trusted=False)
    own, fixed = (
        score.score(scorer, [entry]) for entry in (rules.from_code(path, trusted=True), rules.named("fixed-2"))
    )
    assert [row.value for row in own] == [row.value for row in fixed]
    assert own[0].rule == "two"
    path.write_text("rule = 3")
    with pytest.raises(ValueError, match=r"got int$"):
        rules.from_code(path, trusted=True)


def test_a_table_of_ones_own(scorer, graph, tmp_path):
    np.save(tmp_path / "four.npy", np.full(len(graph), 4))
    table, fixed = (
        score.score(scorer, [entry]) for entry in (rules.from_table(tmp_path / "four.npy"), rules.named("fixed-4"))
    )
    assert [row.value for row in table] == [row.value for row in fixed]
    np.save(tmp_path / "short.npy", np.full(3, 4))
    with pytest.raises(ValueError, match="table: expected a depth for each of"):
        score.score(scorer, [rules.from_table(tmp_path / "short.npy")])
    np.save(tmp_path / "floats.npy", np.full(3, 4.0))
    with pytest.raises(ValueError, match=r"table: expected whole numbers \[nodes\], got float64"):
        rules.from_table(tmp_path / "floats.npy")
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"table: expected a \.npy file of numbers"):
        rules.from_table(tmp_path / "objects.npy")


def header(text):
    """Of a file of that kind, with no numbers behind it."""
    return b"\x93NUMPY\x01\x00" + (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04" + bytes(40),
        header("[" * 50),
        header("{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000,)}"),
        header("{'descr': '<i8', 'fortran_order': False, 'shape': (-5,)}"),
    ],
)
def test_a_file_that_is_no_table_is_a_sentence(tmp_path, data):
    (tmp_path / "table.npy").write_bytes(data)
    with pytest.raises(ValueError, match=r"table: expected a \.npy file of numbers, got .*table\.npy"):
        rules.from_table(tmp_path / "table.npy")


@pytest.mark.parametrize("depth", [2**63, -(2**40), 2**32 + 4])
def test_depths_of_a_table_are_not_cut_to_fewer_bits(scorer, graph, tmp_path, depth):
    np.save(tmp_path / "table.npy", np.full(len(graph), depth, np.uint64 if depth >= 2**63 else np.int64))
    with pytest.raises(ValueError, match=r"propose: expected depths in 1\.\.8"):
        score.score(scorer, [rules.from_table(tmp_path / "table.npy")])


@pytest.mark.parametrize("text", ["def(", "1 / 0", "import sys; sys.exit(0)"])
def test_a_file_of_python_that_fails_is_a_sentence(tmp_path, text):
    """One that ends the process would else look like success."""
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(ValueError, match=r"rule: .*mine\.py(, line 1)?: (SyntaxError|ZeroDivisionError|SystemExit): "):
        rules.from_code(tmp_path / "mine.py", trusted=True)


def test_a_function_will_do(scorer, tmp_path):
    """With what the file imports, and with a memory beside it."""
    entry = written(tmp_path, "import numpy as np\ndef rule(plans):\n    return np.full(len(plans), 3)\n")
    own = score.score(scorer, rules.with_memory(entry))
    named = score.score(scorer, [rules.named("fixed-3"), rules.named("fixed-3+memory")])
    assert [row.rule for row in own] == ["mine", "mine", "mine+memory", "mine+memory"]
    assert [row.value for row in own] == [row.value for row in named]


def test_a_memory_is_the_one_of_rules_by_name(scorer, tmp_path):
    entry = written(tmp_path, "from recommit.horizon import Fixed, WithMemory\nrule = WithMemory(Fixed(3))")
    assert entry.name == "mine+memory"
    assert rules.with_memory(entry) == [entry]
    (one, *_), (other, *_) = score.score(scorer, [entry]), score.score(scorer, [rules.named("fixed-3+memory")])
    assert one.value == other.value


def test_a_number_is_chosen_as_that_of_other_rules(scorer, tmp_path):
    entry = written(tmp_path, "from recommit.horizon import Confidence\nrule = Confidence(0.1)")
    own, named = (score.score(scorer, [each]) for each in (entry, rules.named("confidence-product")))
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


def test_a_rule_of_one_number_reads_the_present_plan(tmp_path):
    text = "from recommit.horizon import Confidence\nclass One(Confidence):\n    reads = ('previous',)\nrule = One(1)"
    with pytest.raises(ValueError, match=r"rule: expected a rule of one number in .*mine\.py to read the present plan"):
        written(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def rule(plans):\n    return plans.depths", r"mine\.py, line 2: AttributeError: 'Plans' object has no"),
        (
            "def rule(plans):\n    return plans.actions[:, 0] * 0",
            r"mine\.py: ValueError: propose: expected depths",
        ),
        ("def rule(plans):\n    return 4.0", r"mine\.py: TypeError: propose: expected integers, got float64"),
        ("def rule(plans):\n    exit(1)", r"mine\.py, line 2: SystemExit: 1"),
    ],
)
def test_a_rule_that_fails_says_where_before_anything_is_scored(scorer, tmp_path, text, message):
    entry = written(tmp_path, text)
    with pytest.raises(ValueError, match=message):
        rule_episodes.ask_once(entry, tmp_path / "mine.py", scorer.rules)


def test_a_class_that_nobody_called_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"got the class Repetition, which nobody called$"):
        written(tmp_path, "from recommit.horizon import Repetition as rule")


def test_the_name_of_another_rule_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"rule: expected a file whose name no rule here has, got head\.py"):
        written(tmp_path, "def rule(plans):\n    return 1", "head.py")
    np.save(tmp_path / "fixed-4.npy", np.ones(3, int))
    with pytest.raises(ValueError, match=r"no rule here has, got fixed-4\.npy"):
        rules.from_table(tmp_path / "fixed-4.npy")
