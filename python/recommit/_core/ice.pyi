"""The icy cave."""

import collections.abc
import numpy
import numpy.typing
import recommit._core
import typing

def action_masks(
    states: numpy.typing.NDArray[numpy.uint8], *, threads: typing.SupportsIndex | None = None
) -> numpy.typing.NDArray[numpy.bool_]:
    """which actions would change each state"""

def decode(
    images: numpy.typing.NDArray[numpy.uint8],
    *,
    cell: typing.SupportsIndex,
    theme: str,
    crop: bool,
    threads: typing.SupportsIndex | None = None,
) -> typing.Any:
    """the states that pictures show"""

def distance(
    states: numpy.typing.NDArray[numpy.uint8],
    *,
    nodes: typing.SupportsIndex,
    bytes: typing.SupportsIndex,
    seconds: typing.SupportsFloat | typing.SupportsIndex,
    threads: typing.SupportsIndex | None = None,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> typing.Any:
    """exact number of actions to the goal; -1 where there is no way"""

def execute(
    states: numpy.typing.NDArray[numpy.uint8],
    actions: numpy.typing.NDArray[numpy.integer[typing.Any]],
    depths: numpy.typing.NDArray[numpy.integer[typing.Any]],
    *,
    stop: bool = True,
    threads: typing.SupportsIndex | None = None,
) -> tuple[
    numpy.typing.NDArray[numpy.uint8],
    numpy.typing.NDArray[numpy.int32],
    numpy.typing.NDArray[numpy.bool_],
    numpy.typing.NDArray[numpy.int32],
]:
    """open loop: (states, executed, solved, moved) after up to depths[i] actions, with `stop` no further than the goal"""

def generate(
    rows: typing.SupportsIndex,
    cols: typing.SupportsIndex,
    count: typing.SupportsIndex,
    *,
    shortest: typing.SupportsIndex,
    longest: typing.SupportsIndex,
    seed: typing.SupportsIndex,
    start: typing.SupportsIndex = 0,
    threads: typing.SupportsIndex | None = None,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> tuple[typing.Any, ...]:
    """caves whose optimal length lies in shortest..longest, and the lengths; cave i depends on (size, window, seed, start + i) alone"""

def is_solved(
    states: numpy.typing.NDArray[numpy.uint8], *, threads: typing.SupportsIndex | None = None
) -> numpy.typing.NDArray[numpy.bool_]:
    """is each state a goal?"""

def make_bank(levels: numpy.typing.NDArray[numpy.uint8]) -> recommit._core.LevelBank:
    """start states, checked once, for any number of running episodes"""

def make_episodes(
    bank: recommit._core.LevelBank,
    *,
    slots: typing.SupportsIndex,
    max_steps: typing.SupportsIndex,
    autoreset: recommit._core.Autoreset,
    threads: typing.SupportsIndex | None = None,
) -> recommit._core.Episodes:
    """running episodes, stepped together and in place"""

def optimal_actions(
    states: numpy.typing.NDArray[numpy.uint8],
    *,
    nodes: typing.SupportsIndex,
    bytes: typing.SupportsIndex,
    seconds: typing.SupportsFloat | typing.SupportsIndex,
    threads: typing.SupportsIndex | None = None,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> typing.Any:
    """which actions lower the distance by one"""

def patches_bfloat16(
    states: numpy.typing.NDArray[numpy.uint8],
    *,
    cell: typing.SupportsIndex,
    theme: str,
    crop: bool,
    out: numpy.typing.NDArray[numpy.uint16] | None = None,
    threads: typing.SupportsIndex | None = None,
) -> tuple[typing.Any, ...]:
    """(pixel_values, image_grid_thw) of the drawn states, as the Qwen2.5-VL image processor makes them"""

def patches_float32(
    states: numpy.typing.NDArray[numpy.uint8],
    *,
    cell: typing.SupportsIndex,
    theme: str,
    crop: bool,
    out: numpy.typing.NDArray[numpy.float32] | None = None,
    threads: typing.SupportsIndex | None = None,
) -> tuple[typing.Any, ...]:
    """(pixel_values, image_grid_thw) of the drawn states, as the Qwen2.5-VL image processor makes them"""

def redraw(
    states: numpy.typing.NDArray[numpy.uint8],
    drawn: numpy.typing.NDArray[numpy.uint8],
    images: numpy.typing.NDArray[numpy.uint8],
    *,
    cell: typing.SupportsIndex,
    theme: str,
    crop: bool,
    threads: typing.SupportsIndex | None = None,
) -> None:
    """draws into `images` the cells in which `states` differs from `drawn`, and updates `drawn`"""

def render(
    states: numpy.typing.NDArray[numpy.uint8],
    *,
    cell: typing.SupportsIndex,
    theme: str,
    crop: bool,
    out: numpy.typing.NDArray[numpy.uint8] | None = None,
    threads: typing.SupportsIndex | None = None,
) -> typing.Any:
    """uint8[N, rows * cell, columns * cell, 3]: a picture of each state"""

def solve(
    states: numpy.typing.NDArray[numpy.uint8],
    *,
    random: bool,
    seed: typing.SupportsIndex,
    nodes: typing.SupportsIndex,
    bytes: typing.SupportsIndex,
    seconds: typing.SupportsFloat | typing.SupportsIndex,
    threads: typing.SupportsIndex | None = None,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> tuple[typing.Any, ...]:
    """optimal plans: (actions, offsets, length, nodes, status, bound)"""

def step(
    states: numpy.typing.NDArray[numpy.uint8],
    actions: numpy.typing.NDArray[numpy.integer[typing.Any]],
    *,
    threads: typing.SupportsIndex | None = None,
) -> numpy.typing.NDArray[numpy.uint8]:
    """states after one action each; a blocked move leaves a state as it is"""
