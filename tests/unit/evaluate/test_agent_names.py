"""Names of agents: read, written, and said in words."""

from __future__ import annotations

import pytest

from recommit.evaluate import agent_names
from recommit.evaluate.agent_names import AgentName, brief, readable


@pytest.mark.parametrize(
    ("text", "depth", "sampled", "seeds", "augmentations"),
    [
        ("fixed-4@/a/init", 4, False, 1, 0),
        ("fixed-8-sampled@b@c", 8, True, 2, 0),
        ("fixed-16", 16, False, 1, 0),
        ("fixed-17", 0, False, 1, 0),
        ("shuffled", 0, False, 5, 0),
        ("adaptive+aug1@/a/b", 0, False, 1, 1),
        ("confidence-least+memory+aug2", 0, False, 1, 2),
        ("fixed-4+rounds12+aug8x1@a", 4, False, 1, 8),
        ("fixed-4+aug3", 0, False, 1, 0),
    ],
)
def test_a_name_is_read_and_written(text, depth, sampled, seeds, augmentations):
    name = AgentName.parse(text)
    assert (name.depth, name.samples_actions, name.seeds, name.augmentations) == (depth, sampled, seeds, augmentations)
    assert str(name) == text
    assert text.startswith(name.base + f"+rounds{name.rounds}" * bool(name.rounds))


def test_augmentations_are_given_to_all_who_observe_and_do_not_say():
    names = ["adaptive", "fixed-4+aug2@run", "solver", "random-actions", "adaptive+aug1x4@run"]
    told = ["adaptive+aug8", "fixed-4+aug2@run", "solver", "random-actions", "adaptive+aug1x4@run"]
    assert agent_names.with_augmentations(names, 8) == tuple(told)
    assert agent_names.with_augmentations(names, 0)[:2] == ("adaptive", "fixed-4+aug2@run")


@pytest.mark.parametrize(
    ("name", "long", "short"),
    [
        ("fixed-4-sampled", "fixed depth 4, sampled actions (same plans)", "fixed 4, sampled actions (same plans)"),
        ("fixed-2@other/fixed-8-s12", "fixed depth 2 (RL at depth 8)", "fixed 2 (RL at depth 8)"),
        ("adaptive@adaptive-s3", "adaptive (another seed)", "adaptive (seed 3)"),
        ("fixed-1@sft", "fixed depth 1 (plans of sft)", "fixed 1 (sft)"),
        (
            "fixed-1+rounds4+aug8@adaptive-s0/init",
            "fixed depth 1, 4 rounds, 8 augmentations (warm start)",
            "fixed 1, 4 rounds, 8 augmentations (warm start)",
        ),
        ("adaptive@family/world-model-s0", "world model", "world model"),
        (
            "fixed-4+aug8x1",
            "fixed depth 4, 8 augmentations, distance over 1 (same plans)",
            "fixed 4, 8 augmentations, distance over 1 (same plans)",
        ),
        ("adaptive@conditioned-s1", "price- and budget-conditioned head", "conditioned head"),
        (
            "confidence-entropy+memory",
            "cumulative-entropy threshold with memory",
            "cumulative-entropy threshold with memory",
        ),
        ("somebody@<b>", "somebody (plans of <b>)", "somebody (<b>)"),
    ],
)
def test_agents_are_said_in_words(name, long, short):
    assert (readable(AgentName.parse(name)), brief(AgentName.parse(name))) == (long, short)
