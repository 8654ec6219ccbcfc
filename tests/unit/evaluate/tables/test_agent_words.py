"""Names that a person reads."""

from __future__ import annotations

import pytest

from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.agent_words import readable


@pytest.mark.parametrize(
    ("base", "run", "said"),
    [
        ("adaptive", "", "adaptive depth"),
        ("fixed-4", "", "the same plans, always 4"),
        ("fixed-4-sampled", "", "the same plans, always 4, actions drawn"),
        ("fixed-8", "fixed-8-s0", "plans trained for depth 8, always 8"),
        ("fixed-2", "other/fixed-8-s12", "plans trained for depth 8, always 2"),
        ("random", "random-s1", "plans trained under random depths, depths drawn evenly"),
        ("adaptive", "depth-only-s0", "plans of the warm start, the depth head trained alone, adaptive depth"),
        ("fixed-1", "sft", "plans of sft, always 1"),
        ("fixed-1", "adaptive-s0/init", "plans of the warm start, always 1"),
        ("adaptive", "paper-s0", "the paper's recipe, adaptive depth"),
        ("adaptive", "family/foresight-s0", "depth by foresight"),
        ("adaptive", "stakes-s1", "depth by foresight and stakes"),
        ("fixed-4", "foresight-s0", "the plans that foresight goes by, always 4"),
        ("fixed-2", "fixed-2", "plans trained for depth 2, always 2"),
        ("fixed-9", "", "fixed-9"),
        ("somebody", "<b>", "plans of <b>, somebody"),
    ],
)
def test_agents_are_said_in_words(base, run, said):
    assert readable(AgentName(base, run)) == said
