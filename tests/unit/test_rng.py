"""Draws in numpy are those of the core."""

from __future__ import annotations

import numpy as np

from recommit import rng


def test_draws_are_the_core_ones():
    """SplitMix64 on a hashed key, in Python integers, as core/rng.hpp has it."""
    mask, golden = 2**64 - 1, 0x9E3779B97F4A7C15

    def mix(z):
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        return z ^ (z >> 31)

    for seed, purpose, index in ((0, 0, 0), (2**63 - 1, 17, 2**62), (5, 4, 3)):
        key = mix(mix(mix((seed + golden) & mask) ^ (purpose + golden & mask)) ^ (index + golden & mask))
        for number in range(4):
            key = (key + golden) & mask
            assert int(rng.draw(rng.streams(seed, purpose, index), number)[0]) == mix(key)
        each = rng.draw(np.repeat(rng.streams(seed, purpose, index), 4), np.arange(4))
        assert each.tolist() == [int(rng.draw(rng.streams(seed, purpose, index), n)[0]) for n in range(4)]


def test_numbers_below_a_bound_are_even():
    words = rng.draw(rng.streams(1, 2, np.arange(200_000)), 0)
    counts = np.bincount(rng.below(words, 7), minlength=7)
    assert abs(counts - 200_000 / 7).max() < 1000


def test_uniform_numbers_are_the_upper_53_bits():
    stream = rng.streams(1, 2, np.arange(1000))
    words = rng.draw(stream, 3)
    assert rng.uniform(stream, 3).tolist() == [(int(word) >> 11) * 2.0**-53 for word in words]
    assert ((rng.uniforms(stream, 2) > 0) & (rng.uniforms(stream, 2) < 1)).all()
