"""What an engine remembers: in parts of bounded size, checked before any weight changes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import save_file

from recommit.train.engine import base as engine_state

STATES = [
    {"weight": torch.arange(6.0).view(2, 3), "exp_avg": torch.ones(2, 3), "step": torch.tensor(4.0)},
    {"weight": torch.arange(4.0)},
]
SHAPES = [torch.Size([2, 3]), torch.Size([4])]


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(("limit", "files"), [(1 << 20, 1), (1, 2)])
def test_it_comes_back_from_any_number_of_files(tmp_path, limit, files):
    engine_state.save_states(tmp_path, STATES, limit=limit)
    assert len(list(tmp_path.iterdir())) == files
    assert all(equal(*pair) for pair in zip(engine_state.load_states(tmp_path, SHAPES), STATES, strict=True))


def test_ranks_that_do_not_write_go_through_every_state(tmp_path):
    gathered = []
    engine_state.save_states(tmp_path, (gathered.append(state) or state for state in STATES), write=False)
    assert gathered == STATES
    assert not list(tmp_path.iterdir())


def test_a_file_of_an_earlier_version_is_read(tmp_path):
    save_file(
        {f"{i}.{k}": v for i, state in enumerate(STATES) for k, v in state.items()}, tmp_path / "engine.safetensors"
    )
    assert all(equal(*pair) for pair in zip(engine_state.load_states(tmp_path, SHAPES), STATES, strict=True))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([torch.Size([2, 3]), torch.Size([5])], r"expected weight 1 of shape \(5,\), got \(4,\)"),
        ([torch.Size([2, 3])], r"expected the state of 1 weights, got 1\.weight besides"),
        ([*SHAPES, torch.Size([1])], r"expected weight 2 of shape \(1,\), got None"),
    ],
)
def test_the_state_of_other_weights_is_refused_before_the_first(tmp_path, shapes, message):
    engine_state.save_states(tmp_path, STATES)
    with pytest.raises(ValueError, match=message):
        next(engine_state.load_states(tmp_path, shapes))
