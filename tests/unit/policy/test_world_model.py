"""The nets of a world model: what is drawn follows the plan, and distances are means over the picture's symmetries."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from recommit.policy.config import WorldModelConfig
from recommit.policy.world_model import WorldModel

CONFIG = WorldModelConfig("sokoban", 5, 5, 7, 8, 8, 1, 10)
DEPTHS = (1, 2, 4, 8)


@pytest.fixture
def net():
    torch.manual_seed(3)
    return WorldModel(CONFIG)


@pytest.fixture
def cells():
    return torch.randint(0, 7, (6, 5, 5), generator=torch.Generator().manual_seed(1))


def test_turned_pictures_are_as_far(net, cells):
    expected = net.probs(cells)
    for turned in (cells.flip(1), cells.flip(2), cells.transpose(1, 2)):
        assert torch.allclose(net.probs(turned), expected, atol=1e-5)
    alone = WorldModel(replace(CONFIG, augmentations=1))
    alone.load_state_dict(net.state_dict())
    assert not torch.allclose(alone.probs(cells.flip(1)), alone.probs(cells), atol=1e-5)  # planted: no symmetry


def test_what_is_said_of_a_depth_is_that_of_the_picture_there(net, cells):
    with torch.no_grad():
        net.moves[-1].weight.mul_(50.0)  # so that actions change something
    plan = torch.randint(0, 4, (6, 8), generator=torch.Generator().manual_seed(2))
    said, here = net(cells, plan, DEPTHS), cells
    assert said.shape == (6, 10)
    for place in range(8):
        here = net.next_scores(here, plan[:, place]).argmax(dim=1)
        if place + 1 in DEPTHS:
            column = 1 + DEPTHS.index(place + 1)
            probs = net.probs(here)
            remaining = (probs * torch.tensor([*range(11), 46.0])).sum(-1)  # a lost level counts as 46
            assert torch.allclose(said[:, column], remaining, atol=1e-4)
            assert torch.allclose(said[:, 5 + column], probs[:, -1], atol=1e-6)
    assert not torch.equal(here, cells)
    assert torch.allclose(net(cells, plan, DEPTHS, now=False), said * torch.tensor([0.0, 1, 1, 1, 1] * 2), atol=1e-4)
    late = plan.clone()
    late[:, 4:] = (late[:, 4:] + 1) % 4
    assert torch.allclose(net(cells, late, DEPTHS)[:, :4], said[:, :4], atol=1e-5)  # what comes later changes nothing
