"""Streams of rows: every row once an epoch, the same order again, exact shares, going on at the exact next row, and one
order whatever the ranks."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.storage.test_files import reseal

import recommit.data
from recommit import rng
from recommit.data import manifest, parquet
from recommit.data.loading import Mixture, Order, even_weights
from recommit.data.spec import DataSpec, Difficulty, set_names
from recommit.storage import errors

SETS = (
    DataSpec("sliding", (2, 3), (Difficulty((3, 9)), Difficulty((10, 14))), 12),
    DataSpec("sliding", (3, 2), (Difficulty((4, 12)),), 8),
    DataSpec("sokoban", (6, 6), (Difficulty((2, 9), 1),), 10),
)
#: Several shards of several row groups each, some of whose rows are dead.
ALONE = DataSpec("sokoban", (6, 6), (Difficulty((2, 9), 1),), 200, perturbed=5, shard=30, ties="random")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("set") / "set"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "GROUP", 100)
        recommit.data.build(ALONE, folder)
    return recommit.data.open(folder)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    for i, recipe in enumerate(SETS):
        recommit.data.build(recipe, folder / str(i))
    return [recommit.data.open(folder / str(i)) for i in range(len(SETS))]


def names(content):
    """Something that tells rows apart, at least as multisets."""
    parts = zip(content.instance.tolist(), content.t.tolist(), content.kind.tolist(), content.states, strict=True)
    return [(i, t, k, s.tobytes()) for i, t, k, s in parts]


def batch(stream):
    """The next batch of a stream of one data set."""
    return names(next(stream)[0].rows)


def test_every_row_that_is_not_dead_comes_once_per_epoch(data):
    order, content = Order(data, window=500), data.columns()
    stream, expected = names(order.take(0, 2 * order.total)), sorted(names(content[~content.dead]))
    assert content.dead.any()
    assert order.total == len(expected)
    assert sorted(stream[: order.total]) == sorted(stream[order.total :]) == expected
    assert stream[: order.total] != stream[order.total :]
    position = {name: i for i, name in reversed(list(enumerate(names(content))))}
    apart = np.array([position[name] for name in names(Order(data, window=1000).take(0, 1000))])
    assert len(set((apart // 100).tolist())) >= 10, "rows that lie together in a file come far apart"
    assert abs(np.corrcoef(apart, np.arange(1000))[0, 1]) < 0.15
    assert (np.abs(np.diff(apart)) == 1).mean() < 0.02


def test_rows_that_are_missing_are_not_looked_for_without_end(data, tmp_path):
    """A stranger's manifest, whose checksum is right, says of its dead rows that there are none."""
    place = shutil.copytree(data.folder, tmp_path / "set")
    plain = json.loads((place / manifest.NAME).read_text())
    for record in plain["shards"]:
        record["dead"] = 0
    reseal(place, plain)
    order = Order(recommit.data.open(place))
    whole = lambda: order.take(0, order.total)
    refused([(whole, "parquet: expected 0 dead rows as the manifest says, got ")], errors.Damaged)


@pytest.mark.parametrize("stop", [0, 7, 61])
def test_goes_on_at_the_exact_next_row(data, stop):
    whole, first, second = (Mixture([data], 64, seed=3, window=400) for _ in range(3))
    stream = [batch(whole) for _ in range(70)]
    for _ in range(stop):
        next(first)
    second.load_state_dict(first.state_dict())
    assert [batch(second) for _ in range(70 - stop)] == stream[stop:]
    other, place = Mixture([data], 64, seed=2, window=400), first.state_dict()
    rows = [(lambda: other.load_state_dict(place), "state: expected one of")]
    for position in (-1, 1 << 63, 10**30, 1.5, "3", None):
        wrong = {**place, "position": position}
        rows.append((lambda wrong=wrong: second.load_state_dict(wrong), "state: expected a position of 0"))
    refused(rows)


def test_wrong_arguments(data, several):
    refused(
        [
            (lambda: Mixture([data], 0), "batch: expected at least 1, got 0"),
            (lambda: Mixture([data], 1, rank=1), "rank: expected 0..0, got 1"),
            (lambda: Order(recommit.data.open(data.folder, "test")), "at least one row"),
            (lambda: Mixture(several, 8, weights=(1, 1)), "mix: expected a number from 1 on for each of 3 data sets"),
            (lambda: Mixture(several, 8, weights=(1, 0, 1)), "mix: expected a number from 1 on"),
            (lambda: recommit.data.open(data.folder, "tset"), "split: expected one of train, validation, test or all"),
            (lambda: recommit.data.open(data.folder.parent), "expected a finished data set"),
        ],
        ValueError,
    )


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
def test_the_row_by_row_twin(several, weights):
    stream = Mixture(several, 9, weights=weights, seed=3)
    fast = [(i, number) for _ in range(6) for i, number, _ in rows(next(stream))]
    order = slow(3, weights, 54)
    for begin in range(0, 54, 9):
        assert sorted(order[begin : begin + 9]) == fast[begin : begin + 9]
    assert order != slow(4, weights, 54)


def test_each_data_set_keeps_its_own_order(several):
    stream, orders = Mixture(several, 10, seed=1), [Order(each, seed=1) for each in several]
    for _ in range(25):
        for portion, order in zip(next(stream), orders, strict=True):
            expected = order.take(portion.first, portion.first + max(portion.count, 1))
            assert names(portion.rows) == names(expected)


def test_shares_are_exact(several):
    stream = Mixture(several, 12)
    assert stream.weights == (2, 1, 3), "every task alike, and every difficulty of a task"
    assert [portion.count for portion in next(stream)] == stream.most == [4, 2, 6]
    assert stream.total == sum(Order(each).total for each in several)
    assert even_weights([SETS[0], SETS[0]]) == (1, 1)
    blocks = stream.deal(np.arange(40))
    assert (np.sort(blocks, axis=1) == [0, 0, 1, 2, 2, 2]).all()
    assert len(set(map(tuple, blocks.tolist()))) > 20
    assert not np.array_equal(blocks, Mixture(several, 12, seed=1).deal(np.arange(40)))


@pytest.mark.parametrize("batch", [1, 6, 13])
@pytest.mark.parametrize("weights", [(2, 1, 3), (7, 1, 1)])
def test_no_batch_has_more_than_is_told(several, batch, weights):
    ranks = [Mixture(several, batch, weights=weights, rank=rank, world=3) for rank in range(3)]
    counts = np.array([[portion.count for portion in next(rank)] for _ in range(40) for rank in ranks])
    assert (counts.sum(axis=1) == batch).all()
    assert (counts <= ranks[0].most).all()


@pytest.mark.parametrize("world", [2, 5])
def test_any_number_of_ranks_goes_on_at_the_exact_next_row(several, world):
    straight, begun = Mixture(several, 10, seed=4), Mixture(several, 10, seed=4)
    for _ in range(7):
        next(straight), next(begun)
    ranks = [Mixture(several, 10 // world, seed=4, rank=rank, world=world) for rank in range(world)]
    for rank in ranks:
        rank.load_state_dict(begun.state_dict())
    for _ in range(5):
        assert sorted(step([straight])) == sorted(step(ranks))
    others = Mixture(several, 10, seed=5), Mixture(several, 10, seed=4, weights=(1, 1, 1))
    refused([(lambda o=o: o.load_state_dict(begun.state_dict()), "state: expected one of") for o in others])


def test_names():
    assert set_names([*SETS, SETS[0]]) == ["sliding-2x3-1", "sliding-3x2", "sokoban-6x6", "sliding-2x3-2"]
