"""One puzzle as a Gymnasium environment."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from recommit import ACTIONS, _core
from recommit.envs import starts
from recommit.envs.base import RENDER_MODES, EnvOptions, Episodes
from recommit.puzzles import checks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Info = dict[str, Any]

_ONE = np.ones(1, np.bool_)


class PuzzleEnv(Episodes, gymnasium.Env[Any, Any]):
    """A puzzle; reward 1 for the action that solves it, else 0. Options are ``EnvOptions``.

    Episode k after ``reset(seed=s)`` starts from a level that depends on (s, k) and the bank alone; ``reset()`` goes on
    to the next episode. ``info`` holds ``action_mask`` (which actions would change the state; blocked ones are
    allowed, and count), ``solved``, and ``distance`` where it is asked for. An episode is truncated after ``max_steps``
    actions unless the last one solved it.
    """

    metadata: dict[str, Any] = {"render_modes": [*RENDER_MODES], "render_fps": 4}
    #: What the actions 0..3 are called.
    action_names = ACTIONS

    def __init__(self, **options: Any) -> None:
        self._prepare(EnvOptions(**options), slots=1, threads=1, autoreset=AutoresetMode.DISABLED)
        self.observation_space = self._view.space()
        self.action_space = spaces.Discrete(4)

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
        state = episodes.grids()[0]
        return self._observe(state), self._info(state, masks[0], bool(solved[0]))

    def step(self, action: Any) -> tuple[Bytes, float, bool, bool, Info]:
        """One action: 0 up, 1 down, 2 left, 3 right."""
        episodes = self._open()
        if not self._seeded:
            raise ResetNeeded("step: expected a call of reset first, got none")
        try:
            state, reward, terminated, truncated, mask = episodes.step_one(index(action))
        except TypeError:
            raise TypeError(f"action: expected an integer 0..3, got {type(action).__name__}") from None
        except _core.EpisodeOver:
            raise ResetNeeded("step: expected a running episode, got one that is over; call reset first") from None
        return self._observe(state), reward, terminated, truncated, self._info(state, mask, terminated)

    def render(self) -> Bytes | str | None:
        """The state as ``uint8[height, width, 3]``, or as text."""
        rendered = self._rendered()
        return None if rendered is None else rendered[0]

    def close(self) -> None:
        """Free the episodes; closing twice is fine."""
        self._episodes = None

    def _observe(self, state: Bytes) -> Bytes:
        return self._view.frames(state[None], 1)[0] if self._view.rgb else state

    def _info(self, state: Bytes, mask: Any, solved: bool) -> Info:
        info: Info = {"action_mask": mask, "solved": solved}
        return info | ({"distance": int(self._distances(state[None])[0])} if self._info_distance else {})
