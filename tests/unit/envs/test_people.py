"""What people see and press: text, a window or the terminal, keys."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
import types
from typing import Any

import gymnasium
import numpy as np
import pytest

import recommit
from recommit.envs.observations import Window

LEVEL = "#####\n#@$.#\n#####\n"


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)


def sokoban(**options: Any) -> Any:
    env = gymnasium.make("recommit/Sokoban-v0", levels=recommit.parse_levels(LEVEL), **options)
    env.reset(seed=0)
    return env


def test_text_is_that_of_a_level_file() -> None:
    env = sokoban(render_mode="ansi")
    assert env.render() == LEVEL
    env.step(3)
    assert env.render() == "#####\n# @*#\n#####\n"
    envs = gymnasium.make_vec("recommit/Sliding-v0", num_envs=2, render_mode="ansi")
    states, _ = envs.reset(seed=0)
    again = [recommit.parse_levels(text).states[0] for text in envs.render()]
    assert np.array_equal(np.stack(again), states)


def test_a_vector_has_no_window() -> None:
    with pytest.raises(ValueError, match="render_mode: expected None or one of rgb_array, ansi, got 'human'"):
        gymnasium.make_vec("recommit/Ice-v0", num_envs=2, render_mode="human")


class Toolkit(types.ModuleType):
    """Stands in for tkinter; what is shown is kept."""

    TclError = RuntimeError

    def __init__(self, display: bool) -> None:
        super().__init__("tkinter")
        self.display, self.shown, self.open = display, [], False

    def Tk(self) -> Any:
        if not self.display:
            raise self.TclError("no display name and no $DISPLAY environment variable")
        self.open = True
        root = types.SimpleNamespace(title=lambda _: None, protocol=self._protocol, update=lambda: None)
        root.destroy = lambda: setattr(self, "open", False)
        return root

    def _protocol(self, name: str, closed: Any) -> None:
        assert name == "WM_DELETE_WINDOW"
        self.press_close = closed

    def Label(self, *_: Any, **__: Any) -> Any:
        return types.SimpleNamespace(pack=lambda: None, configure=lambda image: self.shown.append(image))

    def PhotoImage(self, data: bytes, format: str) -> bytes:
        assert format == "PPM"
        return data


@pytest.fixture
def toolkit(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(display: bool) -> Toolkit:
        module = Toolkit(display)
        monkeypatch.setitem(sys.modules, "tkinter", module)
        return module

    return install


def test_a_window_shows_every_state(toolkit: Any) -> None:
    module, pictures = toolkit(True), sokoban(render_mode="rgb_array", cell=8)
    env = sokoban(render_mode="human", cell=8)
    env.step(3)
    assert env.render() is None
    header = b"P6 40 24 255\n"
    first = header + pictures.render().tobytes()
    pictures.step(3)
    assert module.shown == [first, *[header + pictures.render().tobytes()] * 2]
    module.press_close()
    assert not module.open
    env.reset()
    env.close()
    assert len(module.shown) == 3, "a window that was closed stays closed"


@pytest.mark.parametrize("module", [None, "no display"])
def test_the_terminal_does_without_a_window(
    module: Any, toolkit: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if module is None:
        monkeypatch.setitem(sys.modules, "tkinter", None)
    else:
        toolkit(False)
    env = sokoban(render_mode="human")
    env.step(3)
    assert capsys.readouterr().out == LEVEL + "\n#####\n# @*#\n#####\n\n"
    env.close()


def test_pictures_stay_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    now = iter([0.0, 0.0, 0.1, 0.25, 0.6, 0.6])
    monkeypatch.setitem(sys.modules, "tkinter", None)
    monkeypatch.setattr("recommit.envs.observations.time.sleep", slept.append)
    monkeypatch.setattr("recommit.envs.observations.time.monotonic", lambda: next(now))
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    window = Window("sliding", pace=4)
    for _ in range(3):
        window.show(np.zeros((4, 4, 3), np.uint8), "")
    assert slept == [0.0, pytest.approx(0.15), 0.0]


@pytest.mark.parametrize("name", ["Sliding", "Sokoban", "Ice"])
def test_actions_have_names_and_keys(name: str) -> None:
    env = gymnasium.make(f"recommit/{name}-v0")
    assert env.get_wrapper_attr("action_names") == ("up", "down", "left", "right")
    keys = env.get_wrapper_attr("get_keys_to_action")()
    assert [keys[(letter,)] for letter in "wsad"] == [0, 1, 2, 3]
    assert sorted(keys.values()) == [0, 0, 1, 1, 2, 2, 3, 3]


PLAY = """
import os
os.environ["SDL_VIDEODRIVER"] = "dummy"
import gymnasium, pygame, recommit
from gymnasium.utils.play import play

env = gymnasium.make("recommit/Sokoban-v0", levels=recommit.parse_levels({level!r}), render_mode="rgb_array")
keys, seen = [pygame.K_UP, pygame.K_s, pygame.K_RIGHT], []

def press(*before):
    for key in before:
        pygame.event.post(pygame.event.Event(pygame.KEYUP, key=key))
    rest = keys[len(seen):]
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=rest[0]) if rest else pygame.event.Event(pygame.QUIT))

def callback(before, after, action, reward, terminated, truncated, info):
    seen.append((int(action), float(reward), terminated))
    press(keys[len(seen) - 1])

pygame.init()
pygame.display.set_mode((10, 10))
pygame.event.clear()
press()
play(env, fps=1000, callback=callback, wait_on_player=True)
print(seen)
"""


@pytest.mark.skipif(importlib.util.find_spec("pygame") is None, reason="pygame is not installed")
def test_gymnasium_plays_by_keys() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PLAY.format(level=LEVEL)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[(0, 0.0, False), (1, 0.0, False), (3, 1.0, True)]"
