from __future__ import annotations

import pytest

from recommit.policy.config import DecoderConfig, HeadConfig, PolicyConfig


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PolicyConfig(depths=(4, 2)), "depths: expected ascending numbers"),
        (lambda: PolicyConfig(depths=(0, 1)), r"depths: expected numbers 1..16, got \(0, 1\)"),
        (lambda: PolicyConfig(cell=-1), "cell: expected 0..112 pixels, got -1"),
        (lambda: PolicyConfig(tasks=("a",) * 65, prompts=("b",) * 65), r"tasks: expected 1\.\.64, got 65"),
        (lambda: DecoderConfig(z="suffix"), "decoder.z: expected prefix or cross, got suffix"),
        (lambda: HeadConfig(init="normal"), "head.init: expected zero, default or normal:STD .*, got normal"),
        (lambda: HeadConfig(init="normal:-1"), "head.init: expected zero, default or normal:STD .*, got normal:-1"),
        (lambda: HeadConfig(init="normal:x"), "head.init: expected zero, default or normal:STD .*, got normal:x"),
        (lambda: HeadConfig(init="uniform"), "head.init: expected zero, default or normal:STD .*, got uniform"),
        (lambda: DecoderConfig(width=30, heads=4), r"decoder.width: expected a multiple of heads \(4\), got 30"),
    ],
)
def test_configurations_check_themselves(make, message):
    with pytest.raises(ValueError, match=message):
        make()
