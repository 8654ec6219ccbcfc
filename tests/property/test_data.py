"""Data sets, whatever is asked for: splits share nothing, and the bytes do not depend on who builds, or on when a build
was killed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")
from tests.crash import killer
from tests.crash.changes import content, differences

import recommit.data
from recommit.data import assignment, sampling
from recommit.data.builder import build
from recommit.data.spec import DataSpec, Difficulty

SEEDS = st.integers(0, 2**63 - 1)
COUNTS = st.tuples(*(st.integers(0, 12) for _ in range(3))).filter(any)


@st.composite
def specs(draw):
    """A small data set of any puzzle, generator and way of keeping splits apart."""
    task, size, lengths, boxes = draw(
        st.sampled_from(
            [("sliding", (3, 3), (7, 14), 0), ("sliding", (2, 4), (7, 12), 0), ("sokoban", (6, 6), (2, 12), 1),
             ("ice", (7, 8), (2, 6), 0)]
        )
    )  # fmt: skip
    kind = recommit.puzzles.registry.puzzle(task)
    low, high = sorted(draw(st.tuples(st.integers(*lengths), st.integers(*lengths))))
    disjoint = draw(st.sampled_from(kind.splits))
    count, validation, test = draw(COUNTS)
    return DataSpec(
        task, size, (Difficulty((low, high), boxes),), count, validation, test,
        seed=draw(SEEDS),
        ties=draw(st.sampled_from(["first", "random"])),
        perturbed=0 if disjoint == "regions" else draw(st.integers(0, 2)),
        disjoint=disjoint,
        generator=draw(st.sampled_from(kind.generators)),
        shard=draw(st.integers(3, 9)),
    )  # fmt: skip


@settings(max_examples=25)
@given(specs())
def test_splits_share_nothing_up_to_symmetry(spec):
    starts = {
        split: [sampling.starts(spec, split, i).states for i in range(spec.shards(split))] for split in spec.counts
    }
    keys = {split: np.concatenate([np.zeros(0, np.uint64), *(assignment.split_keys(spec, s) for s in parts)])
            for split, parts in starts.items()}  # fmt: skip
    assert [len(each) for each in keys.values()] == list(spec.counts.values())
    for one, other in (("train", "validation"), ("train", "test"), ("validation", "test")):
        assert not set(keys[one].tolist()) & set(keys[other].tolist())


@settings(max_examples=5)
@given(specs(), st.integers(1, 2), st.lists(st.integers(1, 40), max_size=3))
def test_a_build_depends_on_its_spec_alone(spec, workers, kills):
    """Not on workers, nor on the operations on the disk at which earlier calls were killed."""
    with tempfile.TemporaryDirectory() as name:
        build(spec, Path(name) / "calm")
        for at in kills:
            killer.run(Path(name) / "set", killer.Suicidal(at, "before"), spec)
        build(spec, Path(name) / "set", workers=workers)
        assert differences(Path(name) / "set", content(Path(name) / "calm")) == []
        recommit.data.verify(recommit.data.open(Path(name) / "set", None), labels=True)
