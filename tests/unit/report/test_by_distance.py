"""Depths by distance against counting in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from recommit.report import by_distance
from recommit.report.reading import Folder


@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_shares_count_decisions(evaluations, task):
    folder = Folder(evaluations[task])
    found = by_distance.depth_counts(folder)
    assert [one.agent.base for one in found] == ["adaptive", "shuffled", "oracle-dp"]
    own = found[0]
    (rows,) = folder.decisions(folder.first)
    assert own.counts.sum() + own.dead == len(rows.depth)
    for r in range(len(own.counts)):
        which = (rows.before > 0) & ((rows.before - 1) // own.width == r)
        assert own.counts[r].tolist() == np.bincount(rows.depth[which], minlength=9)[1:].tolist()
