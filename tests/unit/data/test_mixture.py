"""Several data sets in one stream: exact shares, one order whatever the ranks, going on at the exact next row."""

from __future__ import annotations

import numpy as np
import pytest

import recommit.data
from recommit import rng
from recommit.data import loading
from recommit.data.loading import Feed, Mixture
from recommit.data.spec import DataSpec, Difficulty, set_names

SETS = (
    DataSpec("sliding", (2, 3), (Difficulty((3, 9)), Difficulty((10, 14))), 12),
    DataSpec("sliding", (3, 2), (Difficulty((4, 12)),), 8),
    DataSpec("sokoban", (6, 6), (Difficulty((2, 9), 1),), 10),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    for i, recipe in enumerate(SETS):
        recommit.data.build(recipe, folder / str(i))
    return [recommit.data.open(folder / str(i)) for i in range(len(SETS))]


def rows(portions):
    """Which rows a batch has: data set and number, and what they hold."""
    every = []
    for i, portion in enumerate(portions):
        assert len(portion.rows) == max(portion.count, 1)
        states = portion.rows.states[: portion.count]
        every += [(i, portion.first + k, state.tobytes()) for k, state in enumerate(states)]
    return every


def step(streams):
    """The rows of one step of all ranks."""
    return [row for stream in streams for row in rows(next(stream))]


def slow(seed, weights, count):
    """Data set and number of each row, row by row: the first rows of each block's sorted draws are the first set's."""
    numbers, order = [0] * len(weights), []
    for row in range(count):
        block, place = divmod(row, sum(weights))
        words = [int(rng.draw(rng.streams(seed, 19, block * sum(weights) + i), 0)[0]) for i in range(sum(weights))]
        slot = sorted(range(len(words)), key=words.__getitem__)[place]
        number = next(i for i in range(len(weights)) if slot < sum(weights[: i + 1]))
        order.append((number, numbers[number]))
        numbers[number] += 1
    return order


@pytest.mark.parametrize("weights", [(1, 1, 2), (5, 1, 1)])
def test_the_row_by_row_twin(data, weights):
    stream = Mixture(data, 9, weights=weights, seed=3)
    fast = [(i, number) for _ in range(6) for i, number, _ in rows(next(stream))]
    order = slow(3, weights, 54)
    for begin in range(0, 54, 9):
        assert sorted(order[begin : begin + 9]) == fast[begin : begin + 9]
    assert order != slow(4, weights, 54)


def test_one_data_set_alone_is_its_feed(data):
    stream, feed = Mixture(data[:1], 7, seed=5, rank=1, world=2), Feed(data[0], 7, seed=5, rank=1, world=2)
    for _ in range(30):
        (portion,), content = next(stream), next(feed)
        assert portion.count == 7
        assert all(
            np.array_equal(getattr(portion.rows, name), getattr(content, name)) for name in ("states", "actions")
        )
    assert stream.state_dict() == feed.state_dict()


def test_each_data_set_keeps_its_own_order(data):
    stream, feeds = Mixture(data, 10, seed=1), [Feed(each, 1, seed=1) for each in data]
    for _ in range(25):
        for portion, feed in zip(next(stream), feeds, strict=True):
            alone = [next(feed).states[0] for _ in range(portion.count)]
            assert np.array_equal(
                portion.rows.states[: portion.count], np.array(alone).reshape(-1, *feed.dataset.spec.size)
            )


def test_shares_are_exact(data):
    stream = Mixture(data, 12)
    assert stream.weights == (2, 1, 3), "every task alike, and every difficulty of a task"
    assert [portion.count for portion in next(stream)] == [4, 2, 6]
    assert stream.most == [4, 2, 6]
    assert stream.total == sum(Feed(each, 1).total for each in data)
    assert loading.even_weights([SETS[0], SETS[0]]) == (1, 1)


def test_which_rows_are_whose_is_drawn(data):
    blocks = Mixture(data, 12).deal(np.arange(40))
    assert (np.sort(blocks, axis=1) == [0, 0, 1, 2, 2, 2]).all()
    assert len(set(map(tuple, blocks.tolist()))) > 20
    assert not np.array_equal(blocks, Mixture(data, 12, seed=1).deal(np.arange(40)))


@pytest.mark.parametrize("world", [2, 3, 6])
def test_any_number_of_ranks_takes_the_same_rows(data, world):
    alone = Mixture(data, 24, seed=2)
    ranks = [Mixture(data, 24 // world, seed=2, rank=rank, world=world) for rank in range(world)]
    for _ in range(10):
        assert sorted(step([alone])) == sorted(step(ranks))


@pytest.mark.parametrize("batch", [1, 4, 6, 7, 13])
@pytest.mark.parametrize("weights", [(2, 1, 3), (7, 1, 1)])
def test_no_batch_has_more_than_is_told(data, batch, weights):
    ranks = [Mixture(data, batch, weights=weights, rank=rank, world=3) for rank in range(3)]
    counts = np.array([[portion.count for portion in next(rank)] for _ in range(40) for rank in ranks])
    assert (counts.sum(axis=1) == batch).all()
    assert (counts <= ranks[0].most).all()


def test_it_goes_on_at_the_exact_next_row(data):
    straight, begun = Mixture(data, 10, seed=4), Mixture(data, 10, seed=4)
    for _ in range(7):
        next(straight), next(begun)
    ranks = [Mixture(data, 5, seed=4, rank=rank, world=2) for rank in range(2)]
    for rank in ranks:
        rank.load_state_dict(begun.state_dict())
    assert sorted(step([straight])) == sorted(step(ranks))
    with pytest.raises(ValueError, match="state: expected one of"):
        Mixture(data, 10, seed=5).load_state_dict(begun.state_dict())
    with pytest.raises(ValueError, match="state: expected one of"):
        Mixture(data, 10, seed=4, weights=(1, 1, 1)).load_state_dict(begun.state_dict())


@pytest.mark.parametrize("weights", [(1, 1), (1, 0, 1), (1, 1, 1, 1)])
def test_wrong_weights_are_refused(data, weights):
    with pytest.raises(ValueError, match=r"mix: expected a number from 1 on for each of 3 data sets, got \["):
        Mixture(data, 8, weights=weights)


def test_names():
    assert set_names([*SETS, SETS[0]]) == ["sliding-2x3-1", "sliding-3x2", "sokoban-6x6", "sliding-2x3-2"]
