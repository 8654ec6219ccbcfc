"""The nets of a world model: what is drawn follows the plan, and distances are means over the picture's symmetries."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from recommit.policy.config import HeadConfig, WorldModelConfig
from recommit.policy.depth_head import candidates
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


def test_only_depths_that_the_plan_leaves_open_are_judged(net, cells, monkeypatch):
    probs = torch.tensor([[0.9, 0.8, 0.7, 0.6], [0.9, 0.8, 0.2, 0.1], [0.5, 0.4, 0.3, 0.2], [0.2] * 4, [1.0] * 4])
    among = candidates(probs, 0.3, 0.5)
    for row, kept in zip(probs.tolist(), among.tolist(), strict=True):
        first = max([place for place, prob in enumerate(row) if prob > 0.5], default=0)
        assert kept == [i == first or (i > first and prob >= 0.3) for i, prob in enumerate(row)]
    assert among.sum(1).tolist() == [1, 1, 3, 1, 1]
    assert candidates(probs, 0.0, 1.0).all()
    plan, judged = torch.randint(0, 4, (5, 8), generator=torch.Generator().manual_seed(2)), []
    whole, right = net(cells[:5], plan, DEPTHS, False), net.expected
    monkeypatch.setattr(net, "expected", lambda pictures: judged.append(len(pictures)) or right(pictures))
    said = net.compare(cells[:5], plan, DEPTHS, among)
    assert judged == [3], "nothing where one depth is left"
    assert torch.allclose(said[2, 1:4], whole[2, 1:4], atol=1e-5)
    assert said[:, 1:5].argmin(1)[[0, 1, 3, 4]].tolist() == [3, 1, 0, 3]
    assert (said[:, 1:5][~among] > CONFIG.lost).all()
    with pytest.raises(ValueError, match=r"head\.unsure: expected 0 <= low"):
        HeadConfig("z", unsure=(0.3, 0.5))
