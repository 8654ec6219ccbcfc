"""Estimates of the paper's recipes on eight A100, as docs/a100.md has them."""

from __future__ import annotations

import pytest

from recommit.estimate import EstimateOptions, text

PICTURE_FIRST = "model.policy.prompts=[sliding-v1, sokoban-v1]"
#: Recipe, stage, and what is changed: tokens of an observation, weights that learn, FLOPs of a step of all ranks, bytes
#: of a rank.
STAGES = {
    ("paper-sliding", "sft"): (74, 46_421_508, 67_049_218_662_400, 20_253_450_218),
    ("paper-sliding", "grpo"): (74, 46_435_848, 453_142_604_111_872, 18_635_595_004),
    ("paper-sokoban", "sft"): (89, 46_421_508, 129_829_725_110_272, 22_098_670_304),
    ("paper-sokoban", "grpo"): (89, 46_435_848, 955_382_364_241_920, 19_963_628_322),
    ("paper-sliding", "sft", PICTURE_FIRST): (62, 46_421_508, 208_217_914_212_352, 25_165_759_670),
    ("paper-sokoban", "grpo", PICTURE_FIRST): (77, 46_435_848, 1_869_858_372_583_424, 21_520_279_368),
}


@pytest.mark.parametrize(
    "case",
    [case if case == ("paper-sliding", "grpo") else pytest.param(case, marks=pytest.mark.nightly) for case in STAGES],
)
def test_the_papers_stages_fit_eight_a100(case):
    recipe, stage, *changes = case
    board = {"paper-sliding": "sliding-3x3", "paper-sokoban": "sokoban-7x7"}[recipe]
    (said,) = EstimateOptions(recipe, stage, (board,), gpus=8, set=tuple(changes)).estimates()
    tokens, trained, flops, peak = STAGES[case]
    assert sum(said.tokens[0]) == tokens
    assert sum(said.trained.values()) == trained
    # transformers 5.17 multiplies angles by a product of matrices in every pass: 2e-10 of all.
    assert 8 * said.phases[0].flops == pytest.approx(flops, rel=1e-9)
    assert said.memory.peak == pytest.approx(peak, rel=1e-3)
    assert said.fits
    assert 30 < said.seconds[0] < said.seconds[1]
    assert "it fits" in text(said)
    assert 0 < 4 * sum(said.phases[0].launches.values()) < sum(said.phases[0].kernels.values())
