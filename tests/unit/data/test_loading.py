"""The feed: every row once an epoch, the same order again, going on at the exact next row, sharded by rank."""

from __future__ import annotations

import numpy as np
import pytest

import recommit
import recommit.data
from recommit.data import labels, samples, table
from recommit.data.loading import Feed
from recommit.data.spec import DataSpec

SEEDS = {"seed": 5, "window": 400, "epochs": 1}


def played() -> np.ndarray:
    """States that random play leads to, some of them dead and none of them solved."""
    task, generator = recommit.Sokoban(6, 1), np.random.default_rng(0)
    states = task.generate(2000, seed=1, length=(2, 9)).states
    for _ in range(6):
        moved = task.step(states, generator.integers(0, 4, len(states)).astype(np.uint8))
        states = np.where(task.is_solved(moved)[:, None, None], states, moved)
    return states


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Seven shards of several row groups each."""
    folder, states = tmp_path_factory.mktemp("set") / "set", played()
    plan = DataSpec("sokoban", (6, 6), (), len(states), states=labels.states_sha256(states), shard=300, ties="random")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "GROUP", 100)
        recommit.data.build(plan, folder, states=states)
    return recommit.data.open(folder)


def names(content):
    """Something that tells rows apart, at least as multisets."""
    parts = zip(content.instance.tolist(), content.t.tolist(), content.kind.tolist(), content.states, strict=True)
    return [(i, t, k, s.tobytes()) for i, t, k, s in parts]


def test_every_row_that_is_not_dead_comes_once_per_epoch(data):
    feed = Feed(data, 1, epochs=2, window=500)
    stream = [name for content in feed for name in names(content)]
    content = data.columns()
    expected = sorted(names(content[~content.dead]))
    assert content.dead.any()
    assert feed.total == len(expected)
    assert sorted(stream[: feed.total]) == sorted(stream[feed.total :]) == expected
    assert stream[: feed.total] != stream[feed.total :]


def test_it_shuffles_well(data):
    """Rows that lie together in a file come far apart: at least as the window allows."""
    feed = Feed(data, 1000, window=1000)
    position = {name: i for i, name in enumerate(names(data.columns()))}
    order = np.array([position[name] for name in names(next(feed))])
    assert len(set((order // 100).tolist())) >= 10
    assert abs(np.corrcoef(order, np.arange(1000))[0, 1]) < 0.15
    assert (np.abs(np.diff(order)) == 1).mean() < 0.02


@pytest.mark.parametrize("stop", [0, 1, 7, 30, 61])
def test_goes_on_at_the_exact_next_row(data, stop):
    whole = Feed(data, 64, seed=3, window=400)
    stream = [names(next(whole)) for _ in range(70)]
    first = Feed(data, 64, seed=3, window=400)
    for _ in range(stop):
        next(first)
    second = Feed(data, 64, seed=3, window=400)
    second.load_state_dict(first.state_dict())
    assert [names(next(second)) for _ in range(70 - stop)] == stream[stop:]


def test_another_seed_another_order(data):
    assert names(next(Feed(data, 64, seed=1))) != names(next(Feed(data, 64, seed=2)))


@pytest.mark.parametrize("world", [2, 3])
def test_ranks_share_the_batches(data, world):
    """All ranks together see what one would, and the number of ranks may change on the way."""
    alone = Feed(data, 60, window=400)
    feeds = [Feed(data, 60 // world, window=400, rank=rank, world=world) for rank in range(world)]
    for _ in range(40):
        assert [name for feed in feeds for name in names(next(feed))] == names(next(alone))
    feeds[0].load_state_dict(feeds[-1].state_dict())
    alone.load_state_dict(feeds[0].state_dict())
    assert names(next(feeds[0])) == names(next(alone))[: 60 // world]


def test_states_of_other_feeds_are_refused(data):
    state = Feed(data, 8, seed=1).state_dict()
    with pytest.raises(ValueError, match="state: expected one of"):
        Feed(data, 8, seed=2).load_state_dict(state)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"batch": 0}, "batch: expected at least 1, got 0"),
        ({"batch": 1, "world": 0}, "world: expected at least 1, got 0"),
        ({"batch": 1, "rank": 1}, r"rank: expected 0\.\.0, got 1"),
        ({"batch": 1, "window": 0}, "window: expected at least 1, got 0"),
    ],
)
def test_wrong_arguments(data, wrong, message):
    with pytest.raises(ValueError, match=message):
        Feed(data, **wrong)


def test_nothing_to_feed(data):
    with pytest.raises(recommit.data.DataError, match="at least one row"):
        Feed(recommit.data.open(data.folder, "test"), 1)


def test_loader(data):
    torch = pytest.importorskip("torch")
    from recommit.data.torch_loader import Loader

    for ahead in (1, 3):
        loader = Loader(data, 64, **SEEDS, ahead=ahead)
        feed = Feed(data, 64, **SEEDS)
        for i, batch in enumerate(loader):
            content = next(feed)
            assert torch.equal(batch.states, torch.from_numpy(content.states))
            weights = samples.position_weights(content.distance)
            assert np.array_equal(batch.weights.numpy(), weights)
            assert np.array_equal(batch.actions.numpy(), np.where(weights > 0, content.actions, 0))
            if i == 3:
                state = loader.state_dict()
                after = names(next(feed_at(data, state)))
        assert i == feed.total // 64 - 1
        again = Loader(data, 64, **SEEDS, ahead=ahead)
        again.load_state_dict(state)
        assert names(next(iter(again)).rows) == after


def feed_at(data, state):
    feed = Feed(data, 64, **SEEDS)
    feed.load_state_dict(state)
    return feed


def test_loader_raises_what_its_thread_raised(data, monkeypatch):
    pytest.importorskip("torch")
    from recommit.data.torch_loader import Loader

    loader = Loader(data, 64)
    monkeypatch.setattr(loader, "make", lambda _content: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        next(iter(loader))


def test_loader_with_pixels(data):
    torch = pytest.importorskip("torch")
    from recommit.data.torch_loader import Loader

    for dtype in ("float32", "bfloat16"):
        for reuse in (False, True):
            loader = Loader(data, 4, pixels=True, dtype=dtype, reuse=reuse)
            for _, batch in zip(range(9), loader, strict=False):
                assert batch.image_grid_thw.tolist() == [[1, 12, 12]] * 4
                values, _grid = data.puzzle.patches(batch.rows.states, dtype=dtype)
                expected = torch.from_numpy(values)
                expected = expected.view(torch.bfloat16) if dtype == "bfloat16" else expected
                assert torch.equal(batch.pixel_values, expected)
