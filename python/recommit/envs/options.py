"""What the environments of all puzzles take beside their sizes, and their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymnasium.vector import AutoresetMode

if TYPE_CHECKING:
    from recommit.envs.starts import Length


@dataclass(frozen=True, kw_only=True)
class EnvOptions:
    """Options of one environment."""

    observation: str = "grid"
    """``"grid"`` (cell codes) or ``"rgb"``."""
    cell: int = 28
    """Pixels per cell of ``"rgb"`` observations and of ``render()``."""
    theme: str = "light"
    """``"light"`` or ``"dark"``."""
    crop: bool = False
    """Leave the constant outer wall out of the pictures."""
    max_steps: int = 200
    """Actions after which an episode is truncated."""
    bank_size: int = 1024
    """Levels in the generated bank."""
    bank_seed: int = 0
    """The seed that they come from."""
    length: Length | None = None
    """Exact optimal length of every generated start, or (shortest, longest); None: as the generator draws."""
    reward: str = "sparse"
    """``"sparse"``, ``"progress"`` or ``"distance"``; see ``Rewards``."""
    discount: float = 1.0
    """The learner's discount, for the two shaped rewards."""
    info_distance: bool = False
    """Adds ``distance`` to ``info``: the exact number of actions to the goal, -1 where there is no way."""
    render_mode: str | None = None
    """None, ``"rgb_array"``, ``"ansi"``, or ``"human"`` (one environment only)."""


@dataclass(frozen=True, kw_only=True)
class VectorOptions(EnvOptions):
    """Options of a vector of environments."""

    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP
    """NEXT_STEP, SAME_STEP or DISABLED."""
    copy: bool = True
    """False: observations are a read-only window on the live states, valid until the next call."""
    action_mask: bool = True
    """False leaves ``action_mask`` out of ``info``."""
    threads: int | None = None
    """At most this many threads; None for all cores. Results do not depend on it."""
