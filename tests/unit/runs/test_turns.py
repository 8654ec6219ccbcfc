"""Every item is one rank's, and no rank waits for more passes than there must be."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from recommit.policy.config import PASS
from recommit.runs.ranks import Team, divided, turns


@pytest.mark.parametrize("world", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [1, 2, 7, 64, PASS, 8 * PASS + 1])
def test_every_item_is_looked_at_once_and_no_rank_has_a_pass_more(count, world):
    pieces = divided(np.arange(count), world)
    each = [turns(pieces, Team(rank, world), together=True) for rank in range(world)]
    assert sorted(np.concatenate([piece for mine in each for piece in mine])) == list(range(count))
    assert len({len(mine) for mine in each}) == 1, "ranks that must go together have as many passes"
    assert len(each[0]) == -(-count // (world * PASS))
    assert max(map(len, pieces)) <= PASS


def test_pieces_of_a_size_do_not_depend_on_the_ranks():
    one, four = (divided(np.arange(300), world, 128) for world in (1, 4))
    assert [len(piece) for piece in one] == [len(piece) for piece in four] == [128, 128, 44]
    assert [len(turns(four, Team(rank, 4), together=False)) for rank in range(4)] == [1, 1, 1, 0]
    assert divided(np.arange(0), 4) == []
