"""One puzzle as a Gymnasium environment."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from recommit import ACTIONS, _core
from recommit.envs import observations, starts
from recommit.envs.options import EnvOptions
from recommit.envs.rewards import Rewards
from recommit.puzzles import checks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

    Bytes = NDArray[np.uint8]
    Info = dict[str, Any]

_ONE = np.ones(1, np.bool_)
_NONE = np.zeros(0, np.int64)


class PuzzleEnv(gymnasium.Env[Any, Any]):
    """A puzzle; reward 1 for the action that solves it, else 0, unless ``reward`` says otherwise.

    Episode k after ``reset(seed=s)`` starts from a level that depends on (s, k) and the bank alone; ``reset()`` goes on
    to the next episode. ``info`` holds ``action_mask`` (which actions would change the state; blocked ones are
    allowed, and count), ``solved``, and ``distance`` where it is asked for. An episode is truncated after ``max_steps``
    actions unless the last one solved it.

    A copy (``copy.deepcopy``, ``pickle``) goes on exactly as the environment would, and leaves it alone.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 4}
    #: What the actions 0..3 are called.
    action_names = ACTIONS

    def __init__(self, task: Puzzle, levels: Bytes | None, **options: Any) -> None:
        chosen = EnvOptions(**options)
        self.task = task
        self.render_mode = observations.check_render_mode(chosen.render_mode, (*self.metadata["render_modes"],))
        self.max_steps = checks.integer("max_steps", chosen.max_steps, 1, observations.MAX_STEPS)
        self._bank = starts.bank(task, levels, chosen.bank_size, chosen.bank_seed, chosen.length)
        self._view = observations.View(task, self._bank.core, chosen)
        self.observation_space = self._view.space(task.highest)
        self.action_space = spaces.Discrete(4)
        self._rewards = Rewards(task, chosen, slots=1, threads=1)
        self._episodes: _core.Episodes | None = self._make_episodes()
        self._window: observations.Window | None = None
        self._seeded = False

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Bytes, Info]:
        """Begin episode 0 of ``seed``, or the next episode.

        ``options={"state": grid}`` starts it from this state, ``options={"level": i}`` from number i of the bank.
        """
        episodes = self._open()
        options = starts.check_names(options, ("state", "level"))
        super().reset(seed=seed)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(checks.MAX_SEED))
        episodes.reset([None if seed is None else checks.integer("seed", seed, 0, checks.MAX_SEED)])
        starts.place(episodes, self._bank, options, _ONE)
        self._seeded = True
        masks, solved = episodes.describe()
        states = episodes.grids()
        self._rewards.begin(states, _ONE)
        self._show()
        return self._observe(states[0]), self._info(masks[0], bool(solved[0]))

    def step(self, action: Any) -> tuple[Bytes, float, bool, bool, Info]:
        """One action: 0 up, 1 down, 2 left, 3 right."""
        episodes = self._open()
        if not self._seeded:
            raise ResetNeeded("step: expected a call of reset first, got none")
        try:
            grid, reward, terminated, truncated, mask = episodes.step_one(index(action))
        except TypeError:
            raise TypeError(f"action: expected an integer 0..3, got {type(action).__name__}") from None
        except _core.EpisodeOver:
            raise ResetNeeded("step: expected a running episode, got one that is over; call reset first") from None
        if self._rewards.measures:
            reward = float(self._rewards.earn(np.array([reward], np.float32), grid[None], None, _NONE, grid[None])[0])
        self._show()
        return self._observe(grid), reward, terminated, truncated, self._info(mask, terminated)

    def render(self) -> Bytes | str | None:
        """The state as ``uint8[height, width, 3]``, as text, or, for ``"human"``, in a window."""
        states = self._open().grids()
        if self.render_mode in (None, "human"):
            self._show()
            return None
        return (
            observations.text(self.task, states[0]) if self.render_mode == "ansi" else self._view.frames(states, 1)[0]
        )

    def set_length(self, length: starts.Length | None) -> None:
        """Later episodes start from a bank of this exact optimal length; the one that runs goes on."""
        self._bank = self._bank.of_length(length)
        self._open().draw_from(self._bank.core)

    def get_keys_to_action(self) -> dict[tuple[str | int, ...], int]:
        """Keys for ``gymnasium.utils.play.play(env, wait_on_player=True)``: the arrows, and W, S, A and D."""
        return {(key,): action for keys in observations.KEYS for action, key in enumerate(keys)}

    def close(self) -> None:
        """Free the episodes; closing twice is fine."""
        self._episodes = None
        if self._window is not None:
            self._window.close()

    def __copy__(self) -> PuzzleEnv:
        from copy import deepcopy

        return deepcopy(self)  # a copy that shared its episode would be no copy

    def __getstate__(self) -> Info:
        saved = None if self._episodes is None else self._episodes.save()
        return {**self.__dict__, "_episodes": saved, "_window": None}

    def __setstate__(self, state: Info) -> None:
        self.__dict__.update(state)
        if state["_episodes"] is not None:
            self._episodes = self._make_episodes()
            self._episodes.restore(*state["_episodes"])

    def _make_episodes(self) -> _core.Episodes:
        episodes: _core.Episodes = self.task.core.make_episodes(
            self._bank.core, slots=1, max_steps=self.max_steps, autoreset=_core.Autoreset.DISABLED, threads=1
        )
        return episodes

    def _open(self) -> _core.Episodes:
        if self._episodes is None:
            raise ClosedEnvironmentError("env: expected an open environment, got one that was closed")
        return self._episodes

    def _observe(self, grid: Bytes) -> Bytes:
        return self._view.frames(grid[None], 1)[0] if self._view.rgb else grid

    def _info(self, mask: Any, solved: bool) -> Info:
        info: Info = {"action_mask": mask, "solved": solved}
        if self._rewards.shown:
            info["distance"] = int(self._rewards.distances[0])
        return info

    def _show(self) -> None:
        """Shows the state to people, in a window that opens with the first one."""
        if self.render_mode != "human":
            return
        if self._window is None:
            self._window = observations.Window(self.task.task, self.metadata["render_fps"])
        states = self._open().grids()
        self._window.show(self._view.frames(states, 1)[0], observations.text(self.task, states[0]))
