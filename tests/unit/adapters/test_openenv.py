"""The OpenEnv server: with stand-ins for its classes, and with the package itself in its own environment."""

from __future__ import annotations

import base64
import os

import numpy as np
import pytest
from tests.unit.adapters import peers
from tests.unit.zero_shot.servers import pixels

from recommit.puzzles import levels
from recommit.puzzles.solutions import Limits
from recommit.zero_shot.game_spec import GameSpec

WEB = "ENABLE_WEB_INTERFACE"
SPEC = GameSpec("sliding", (3,), length=(8, 12), count=8, cell=28)


@pytest.fixture
def openenv(monkeypatch):
    class Observation(peers.Model):
        done: bool = False
        reward: float | None = None

    class Environment:
        def __init__(self, transform=None, rubric=None):
            self.transform, self.rubric = transform, rubric

    class State(peers.Model):
        episode_id: str | None = None
        step_count: int = 0

    class EnvironmentMetadata(peers.Model):
        name: str
        description: str
        version: str

    for package in ("openenv", "openenv.core", "openenv.core.env_server"):
        peers.module(monkeypatch, package, __path__=[])
    here = "openenv.core.env_server."
    peers.module(monkeypatch, here + "http_server", create_app=lambda *a, **k: (a, k))
    peers.module(monkeypatch, here + "interfaces", Environment=Environment)
    kinds = {"Observation": Observation, "State": State, "EnvironmentMetadata": EnvironmentMetadata}
    peers.module(monkeypatch, here + "types", Action=peers.Model, **kinds)
    return peers.adapter(monkeypatch, "openenv")


def test_the_oracle_earns_one_and_the_picture_is_the_board(openenv):
    session = openenv.CommitEnvironment(SPEC, oracle=True, show_distance=True)
    seen, earned = session.reset(split="test", index=3), 0.0
    shown = pixels(base64.b64decode(seen.image))
    assert np.array_equal(
        SPEC.puzzle.decode(np.ascontiguousarray(shown)[None], cell=28)[0], SPEC.starts("test").states[3]
    )
    assert seen.distance == SPEC.starts("test").length[3]
    assert "JSON" in seen.prompt
    while not seen.done:
        seen = session.step(openenv.CommitAction(actions=seen.optimal))
        earned += seen.reward
    assert earned == 1.0
    assert session.step(openenv.CommitAction(actions=["up"])).reward == 0.0
    assert session.state.solved


def test_nonsense_spends_an_observation_and_text_is_read(openenv):
    session = openenv.CommitEnvironment(SPEC)
    remaining = session.reset(seed=9).decisions_left
    seen = session.step(openenv.CommitAction(text="I would go left."))
    assert (seen.outcome, seen.decisions_left, seen.optimal, seen.distance) == ("no_object", remaining - 1, None, None)
    assert session.step(openenv.CommitAction(text='{"h": 1, "actions": ["up"]}')).outcome == "ok"


#: Ten boxes in a hall: a search of hours.
HALL = """
##############
#@           #
# $ $ $ $ $  #
#            #
# $ $ $ $ $  #
#            #
#            #
#            #
# . . . . .  #
#            #
# . . . . .  #
#            #
#            #
##############
"""


def test_a_board_that_would_be_searched_for_ever_is_refused(openenv, monkeypatch):
    """Any client may send one, and every observation asks for its distance."""
    monkeypatch.setattr(openenv, "SOON", Limits(nodes=2_000))
    session = openenv.CommitEnvironment(GameSpec("sokoban", count=1))
    with pytest.raises(ValueError, match="injected_state: expected a board that 2000 nodes of a search decide"):
        session.reset(injected_state=levels.parse_levels(HALL)[0].tolist())


def test_injected_states_and_tasks(openenv):
    session = openenv.CommitEnvironment(SPEC)
    solved = session.reset(injected_state=[[1, 2, 3], [4, 5, 6], [7, 8, 0]])
    assert (solved.done, solved.reward) == (True, 0.0)
    assert session.list_splits() == ["train", "validation", "test"]
    assert session.num_tasks("test") == len(session.list_tasks("test")) == 8
    task = session.get_task("test", 5)
    assert task["state"] == SPEC.starts("test").states[5].tolist()
    assert session.get_task_range("test", 6, None) == session.list_tasks("test")[6:]
    with pytest.raises(IndexError, match=r"index: expected 0\.\.7, got 8"):
        session.get_task("test", 8)


def test_the_web_shows_what_it_is_sent_as_text(openenv):
    session = openenv.CommitEnvironment(SPEC)
    assert session.render_web({"text": "<b>"}) == "<pre>&lt;b&gt;</pre>"
    assert session.render_web({"image": "aGk="}).endswith('base64,aGk=">')
    assert next(action for _, action in session.web_actions({})) == {"actions": ["up"]}
    assert session.web_actions({"optimal": ["up", "up"]})[-1] == ("optimal", {"actions": ["up", "up"]})


def test_the_server_is_made_of_these(openenv, monkeypatch):
    told, create = [], openenv.create_app
    monkeypatch.setattr(openenv, "create_app", lambda *a, **k: (told.append(os.environ.get(WEB)), create(*a, **k))[1])
    monkeypatch.delenv(WEB, raising=False)
    openenv.app(SPEC)
    assert WEB not in os.environ
    monkeypatch.setenv(WEB, "1")
    (factory, action, seen), how = openenv.app(SPEC, sessions=3, web=False)
    assert (told, os.environ[WEB]) == (["true", "false"], "1")
    assert (action, seen, how["max_concurrent_envs"]) == (openenv.CommitAction, openenv.BoardObservation, 3)
    assert factory().spec is SPEC
    assert factory().get_metadata().name == "recommit"


@pytest.mark.nightly
def test_the_package_itself():
    """64 sessions at once over its own client; the board at /web; what ``openenv validate`` says."""
    shown = peers.run("openenv")
    assert shown["sessions"] == shown["solved"] == 64
    assert shown["web"] == 200
    assert shown["splits"] == ["train", "validation", "test"]
    assert shown["injected"] == 0.0
    assert shown["validate"], shown
