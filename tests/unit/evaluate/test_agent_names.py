"""Names of agents are read in one place, and those that older versions had still are."""

from __future__ import annotations

import pytest

from recommit.evaluate import agent_names
from recommit.evaluate.agent_names import AGENTS, MEMORY, RULES, USES, AgentName

pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("text", "base", "run", "depth", "drawn", "seeds"),
    [
        ("adaptive", "adaptive", "", 0, False, 1),
        ("fixed-4@/a/init", "fixed-4", "/a/init", 4, False, 1),
        ("fixed-8-sampled@b@c", "fixed-8-sampled", "b@c", 8, True, 2),
        ("fixed-9", "fixed-9", "", 0, False, 1),
        ("shuffled", "shuffled", "", 0, False, 5),
    ],
)
def test_a_name_is_read_and_written(text, base, run, depth, drawn, seeds):
    name = AgentName.parse(text)
    assert (name.base, name.run, name.depth, name.draws_actions, name.seeds) == (base, run, depth, drawn, seeds)
    assert str(name) == text


def test_older_names_are_taken_with_a_notice():
    with pytest.warns(FutureWarning, match="agents: wary@a is called adaptive-memory@a now"):
        assert agent_names.renamed(["adaptive", "wary@a"]) == ("adaptive", "adaptive-memory@a")
    with pytest.warns(FutureWarning, match="walker is called random-actions now"):
        assert agent_names.renamed(["walker"]) == ("random-actions",)
    assert agent_names.renamed(["adaptive", "fixed-4@wary"]) == ("adaptive", "fixed-4@wary"), "a folder is a folder"


def test_decisions_of_older_names_are_looked_for():
    assert agent_names.file_names("adaptive-memory@15") == ["adaptive-memory@15", "wary@15"]
    assert agent_names.file_names("random-actions-of-run-1234@6-s1")[1] == "walker-of-run-1234@6-s1"
    assert agent_names.file_names("adaptive@15") == ["adaptive@15"]
    assert agent_names.file_names("random@15-s0") == ["random@15-s0"]


def test_what_an_older_version_played_is_not_played_again(tmp_path):
    from recommit.evaluate.store import EvaluationStore
    from recommit.rollout.episodes import join

    with EvaluationStore(tmp_path) as store:
        store.keep("wary@15", join([]))
        assert store.rows("adaptive-memory@15") is not None
        assert store.rows("random-actions@15") is None


@pytest.mark.parametrize("text", ["fixed-4+views8", "adaptive+views1@/a/b", "confidence-least-shared+memory+views2"])
def test_views_are_part_of_a_name(text):
    name = AgentName.parse(text)
    assert str(name) == text
    assert name.views == int(text.partition("+views")[2][0])
    assert "+views" not in agent_names.check(name.base)
    assert f"+views{name.views}" in agent_names.file_name(name, 6, 0)
    assert AgentName.parse("fixed-4+views3").base == "fixed-4+views3", "which is no agent"


def test_views_are_given_to_all_who_look_and_do_not_say():
    names = ["adaptive", "fixed-4+views2@run", "solver", "random-actions", "wary"]
    told = ["adaptive+views8", "fixed-4+views2@run", "solver", "random-actions", "adaptive-memory+views8"]
    assert agent_names.with_views(names, 8) == tuple(told)
    assert agent_names.with_views(names, 0)[:2] == ("adaptive", "fixed-4+views2@run")


def test_every_agent_says_what_it_uses():
    every = {name: AgentName(name).uses for name in (*AGENTS, *RULES, *(f"{rule}{MEMORY}" for rule in RULES))}
    assert set(every.values()) == set(USES)
    simulator = [name for name, uses in every.items() if uses == "simulator"]
    assert simulator == ["oracle-dp", "oracle-delta", "oracle-rate", "solver"]
    memory = [name for name, uses in every.items() if uses == "memory"]
    assert memory == ["adaptive-memory", "consecutive", *(f"{rule}{MEMORY}" for rule in RULES)]
