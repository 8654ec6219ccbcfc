"""Estimates of the paper's recipes on eight A100, as docs/a100.md has them."""

from __future__ import annotations

import pytest

from recommit.estimate import EstimateOptions, text

#: Recipe and stage: tokens of an observation, weights that learn, FLOPs of a step of all ranks, bytes of a rank.
STAGES = {
    ("paper-sliding", "sft"): (62, 46_421_508, 308_872_134_787_072, 20_860_942_476),
    ("paper-sliding", "grpo"): (62, 46_435_848, 1_276_604_490_055_680, 20_172_989_628),
    ("paper-sliding", "evaluate"): (62, 0, 151_329_386_712_268_800, 19_128_941_392),
    ("paper-sokoban", "sft"): (77, 46_421_508, 393_092_411_686_912, 20_366_555_788),
    ("paper-sokoban", "grpo"): (77, 46_435_848, 1_931_774_787_846_144, 19_742_197_436),
    ("paper-sokoban", "evaluate"): (77, 0, 375_747_609_823_805_440, 19_476_004_536),
}


@pytest.mark.parametrize(
    ("recipe", "stage"),
    [
        case if case == ("paper-sliding", "evaluate") else pytest.param(*case, marks=pytest.mark.nightly)
        for case in STAGES
    ],
)
def test_the_papers_stages_fit_eight_a100(recipe, stage):
    (said,) = EstimateOptions(recipe, stage, gpus=8).estimates()
    tokens, trained, flops, peak = STAGES[recipe, stage]
    assert said.model.visual_tokens + said.model.text_tokens == tokens
    assert sum(said.model.trained.values()) == trained
    # transformers 5.17 multiplies angles by a product of matrices in every pass: 2e-10 of all.
    assert 8 * said.phases[0].flops == pytest.approx(flops, rel=1e-9)
    assert said.memory.peak == pytest.approx(peak, rel=1e-3)
    assert said.fits
    assert said.seconds > 60
    assert "it fits" in text(said)
