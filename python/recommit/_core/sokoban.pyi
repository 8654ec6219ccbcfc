"""Sokoban."""

import numpy
import numpy.typing
import recommit._core
import typing

def action_masks(
    states: numpy.typing.NDArray[numpy.uint8], *, threads: typing.SupportsIndex | None = None
) -> numpy.typing.NDArray[numpy.bool_]:
    """which actions would change each state"""

def execute(
    states: numpy.typing.NDArray[numpy.uint8],
    actions: numpy.typing.NDArray[numpy.integer[typing.Any]],
    depths: numpy.typing.NDArray[numpy.integer[typing.Any]],
    *,
    threads: typing.SupportsIndex | None = None,
) -> tuple[
    numpy.typing.NDArray[numpy.uint8],
    numpy.typing.NDArray[numpy.int32],
    numpy.typing.NDArray[numpy.bool_],
    numpy.typing.NDArray[numpy.int32],
]:
    """open loop: (states, executed, solved, moved) after up to depths[i] actions, stopping at the goal"""

def generate_reverse(
    rows: typing.SupportsIndex,
    cols: typing.SupportsIndex,
    boxes: typing.SupportsIndex,
    count: typing.SupportsIndex,
    *,
    seed: typing.SupportsIndex,
    start: typing.SupportsIndex = 0,
    threads: typing.SupportsIndex | None = None,
) -> numpy.typing.NDArray[numpy.uint8]:
    """levels from reverse pulls, then walls; level i depends on (size, boxes, seed, start + i) alone"""

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

def step(
    states: numpy.typing.NDArray[numpy.uint8],
    actions: numpy.typing.NDArray[numpy.integer[typing.Any]],
    *,
    threads: typing.SupportsIndex | None = None,
) -> numpy.typing.NDArray[numpy.uint8]:
    """states after one action each; a blocked move leaves a state as it is"""
