"""Imitation: targets of labelled states (paths, all optimal actions along them, weights), and the supervised loss of
all admissible commitments of a state from one pass.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from recommit import rng
from recommit.data.rows import covered
from recommit.policy.config import PLAN_LENGTH
from recommit.policy.tensors import to_device
from recommit.puzzles.sokoban import Sokoban

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.data.rows import LabelledRows
    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import TargetConfig


@dataclass(frozen=True)
class Targets:
    """N states and what to imitate in each. Where a weight is 0, action and mask mean nothing."""

    states: NDArray[np.uint8]
    actions: NDArray[np.int64]  #: [N, 8], or as many as the policy's plans have, 0 behind the goal
    optimal: NDArray[np.bool_]  #: [N, 8, 4]: all actions that would have been optimal after the path so far
    distance: NDArray[np.int32]
    remaining: NDArray[np.int64]  #: decisions, which no expert path says: sampled, for a policy that is told
    #: The same with the player of each state on D other cells.
    elsewhere: Elsewhere | None = None

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, key: slice | NDArray[np.intp]) -> Targets:
        values: list[Any] = [getattr(self, f.name) for f in fields(self)]
        picked: list[Any] = [None if value is None else value[key] for value in values]
        return Targets(*picked)


@dataclass(frozen=True)
class Elsewhere:
    """What to imitate where the player stands on other cells of N states. Their pictures are not drawn: the backbone
    reads a state's own picture at these cells."""

    cells: NDArray[np.int64]  #: [N, D]: row * columns + column
    actions: NDArray[np.int64]  #: [N, D, 8]
    optimal: NDArray[np.bool_]  #: [N, D, 8, 4]
    distance: NDArray[np.int32]  #: [N, D]; 0: there are not so many cells

    def __getitem__(self, key: slice | NDArray[np.intp]) -> Elsewhere:
        return Elsewhere(*(getattr(self, f.name)[key] for f in fields(self)))


#: What all other cells of a state weigh together, where its own weighs 1.
OTHERS = 1.5


#: Sokoban's player, and cells with and without it.
PLAYER = 5
_WITHOUT_PLAYER = np.array([0, 1, 2, 3, 4, 0, 2], np.uint8)
_WITH_PLAYER = np.array([5, 1, 6, 3, 4, 5, 6], np.uint8)
#: Added to the logarithm of what must not count; finite, so that no NaN can come of it.
_NEVER = -1e9


def make(
    task: Puzzle,
    content: LabelledRows,
    config: TargetConfig,
    *,
    seed: int,
    first: int,
    length: int = PLAN_LENGTH,
    among: Callable[..., tuple[NDArray[np.uint8], NDArray[np.int32]]] | None = None,
    threads: int = 1,
) -> Targets:
    """The targets of some rows, plans of ``length`` actions; row i is number ``first + i`` of the run, which fixes its
    random choices. ``among`` puts states that the policy has come to in the places of some: states and distances ->
    states and distances. Tables of new levels are made by ``threads``, with the same answers."""
    number = first + np.arange(len(content), dtype=np.uint64)
    states, distance = content.states, content.distance.astype(np.int32)
    if config.augment and task.turns:
        states = turned(states, symmetries(seed, number))
    if among is not None:
        states, distance = among(states, distance)
    path = content.actions if config.paths == "dataset" else None
    actions, optimal = paths(task, states, rng.streams(seed, rng.Purpose.PATH, number), path, length, threads)
    remaining = 1 + rng.below(rng.draw(rng.streams(seed, rng.Purpose.REMAINING, number), 0), config.budget)
    others = None
    if config.dense and dense(task):
        others = _elsewhere(task, states, config.dense, seed, number, length, threads)
    return Targets(states, actions, optimal, distance, remaining, others)


def paths(
    task: Puzzle,
    states: NDArray[np.uint8],
    stream: NDArray[np.uint64],
    path: NDArray[np.uint8] | None = None,
    length: int = PLAN_LENGTH,
    threads: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """``length`` actions of each state's ``path``, or of an optimal one drawn from its stream, and all that would have
    been optimal at every step."""
    optimal = np.zeros((len(states), length, 4), bool)
    actions = np.zeros((len(states), length), np.int64)
    here = states
    for i in range(length):
        optimal[:, i] = task.optimal_actions(here, threads=threads)
        live = optimal[:, i].any(axis=1)
        if path is None:
            chosen = pick(optimal[:, i], rng.draw(stream, i))
        else:
            chosen = np.where(live, path[:, i], 0).astype(np.int64)
        actions[:, i] = np.where(live, chosen, 0)
        if i + 1 < length:
            # A solved state has no optimal action; whatever is played there, its mask stays unused.
            after = task.step(here, actions[:, i].astype(np.uint8), threads=threads)
            here = np.where(live.reshape(-1, 1, 1), after, here)
    return actions, optimal


def dense(task: Puzzle) -> bool:
    """Has a puzzle a player that may stand elsewhere?"""
    return isinstance(task, Sokoban)


def _elsewhere(
    task: Puzzle,
    states: NDArray[np.uint8],
    many: int,
    seed: int,
    number: NDArray[np.uint64],
    length: int,
    threads: int,
) -> Elsewhere:
    """``many`` cells of each state, drawn from those where the player has something optimal to do."""
    assert isinstance(task, Sokoban)
    count, (rows, cols) = len(states), states.shape[1:]
    stream = rng.streams(seed, rng.Purpose.ELSEWHERE, number)
    may = task.optimal_actions_everywhere(states, threads=threads).any(axis=-1).reshape(count, -1)
    may &= states.reshape(count, -1) < PLAYER
    words = np.stack([rng.draw(stream, cell) >> np.uint64(1) for cell in range(rows * cols)], axis=1)
    cells = np.argsort(np.where(may, words, np.uint64(1 << 63)), axis=1, kind="stable")[:, :many]
    there = np.take_along_axis(may, cells, axis=1)
    cells = np.where(there, cells, (states.reshape(count, -1) >= PLAYER).argmax(axis=1)[:, None])
    still = np.where(states >= PLAYER, _WITHOUT_PLAYER[states], states).reshape(count, 1, -1)
    moved = np.repeat(still, many, axis=1)
    np.put_along_axis(moved, cells[..., None], _WITH_PLAYER[np.take_along_axis(moved, cells[..., None], 2)], axis=2)
    asked = moved.reshape(-1, rows, cols)
    each = (number[:, None] * np.uint64(rows * cols) + cells.astype(np.uint64)).ravel()
    stream = rng.streams(seed + 1, rng.Purpose.ELSEWHERE, each)
    actions, optimal = paths(task, asked, stream, length=length, threads=threads)
    distance = np.where(there, task.distance(asked, threads=threads).reshape(count, many), 0).astype(np.int32)
    return Elsewhere(cells, actions.reshape(count, many, -1), optimal.reshape(count, many, length, 4), distance)


def nothing(batch: Targets) -> Targets:
    """One state of a batch, to go through the model without any weight."""
    return replace(batch[:1], distance=np.zeros(1, np.int32), elsewhere=None)


def pick(optimal: NDArray[np.bool_], words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """One of each row's true columns, evenly; 0 where there is none."""
    count = optimal.sum(axis=1)
    which = rng.below(words, np.maximum(count, 1))
    result: NDArray[np.int64] = (np.cumsum(optimal, axis=1) > which[:, None]).argmax(axis=1)
    return result


def symmetries(seed: int, number: NDArray[np.uint64]) -> NDArray[np.int64]:
    """One of the eight, drawn for each number."""
    return rng.below(rng.draw(rng.streams(seed, rng.Purpose.AUGMENT, number), 0), 8)


def turned(states: NDArray[np.uint8], symmetry: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Mirrored (1), turned by 180 degrees (2), transposed (4, square grids only), in this order: together the eight
    symmetries."""
    bits = [(symmetry >> i & 1).astype(bool)[:, None, None] for i in range(3)]
    states = np.where(bits[0], states[:, :, ::-1], states)
    states = np.where(bits[1], states[:, ::-1, ::-1], states)
    if states.shape[1] == states.shape[2]:
        states = np.where(bits[2], states.transpose(0, 2, 1), states)
    return np.ascontiguousarray(states)


def weights(
    distance: NDArray[np.int32],
    depths: Sequence[int] = (1, 2, 4, 8),
    weighting: str = "action",
    length: int = PLAN_LENGTH,
) -> NDArray[np.float32]:
    """float32[N, length]: what position j of a state's target weighs.

    A commitment of depth h is a sample where h <= distance, and shorter ones are prefixes of longer ones, so that one
    target with these weights has the gradient of all samples. ``action``: every action of every sample counts alike
    (4, 3, 2, 2, 1, 1, 1, 1 for depths 1, 2, 4, 8); ``sample``: every sample does, whatever its depth.
    """
    depth = np.array(sorted(depths))
    each = 1.0 / depth if weighting == "sample" else np.ones(len(depth))
    result: NDArray[np.float32] = (covered(distance, sorted(depths), length) * each).sum(axis=2).astype(np.float32)
    return result


def action_losses(logits: Tensor, actions: Tensor, optimal: Tensor, kind: str) -> Tensor:
    """[N, 8]: minus the log probability of the optimal actions together (soft), or of the path's action (hard)."""
    logs = F.log_softmax(logits.float(), dim=-1)
    if kind == "soft":
        return -torch.logsumexp(logs.masked_fill(~optimal, _NEVER), dim=-1)
    return -logs.gather(-1, actions[..., None])[..., 0]


def total_weight(batch: Targets, config: TargetConfig) -> float:
    """What the losses of a batch are divided by: known before any pass, so that micro-batches add up exactly."""
    total = float(_weights(batch, config).sum(dtype="float64"))
    if batch.elsewhere is not None:
        total += float(_weights_elsewhere(batch.elsewhere, config).sum(dtype="float64"))
    return total


def _weights(batch: Targets, config: TargetConfig) -> NDArray[np.float32]:
    """float32[N, 8]"""
    return weights(batch.distance, config.depths, config.weighting, batch.actions.shape[1])


def _weights_elsewhere(others: Elsewhere, config: TargetConfig) -> NDArray[np.float32]:
    """float32[N * D, 8]"""
    each = weights(others.distance.ravel(), config.depths, config.weighting, others.actions.shape[2])
    return each * np.float32(OTHERS / others.cells.shape[1])


def sft_loss(
    policy: CommitPolicy, task: Puzzle, batch: Targets, config: TargetConfig, divisor: float
) -> tuple[Tensor, Tensor]:
    """(sum of weighted losses / ``divisor``, logits [N, 8, 4] of the deepest plans).

    A decoder that does not see the depth answers for all depths at once; one that does is asked once per depth, still
    from one pass of the backbone.
    """
    if batch.elsewhere is not None:
        return _dense_loss(policy, task, batch, config, divisor)
    z = policy.encode(task, batch.states, batch.remaining)
    device = z.device
    actions, optimal = to_device(batch.actions, device), to_device(batch.optimal, device)
    index, before = policy.task_index(task), actions[:, :-1]
    if policy.config.decoder.depth_conditioning == "none":
        logits = policy.decoder(z, before, index)
        weight = to_device(_weights(batch, config), device)
        return weighted(action_losses(logits, actions, optimal, config.kind), weight) / divisor, logits
    loss = z.new_zeros((), dtype=torch.float32)
    for depth in sorted(config.depths):
        condition = policy.conditioning(torch.full((len(batch),), depth, device=device))
        logits = policy.decoder(z, before, index, depths=condition)
        weight = to_device(_weights(batch, replace(config, depths=(depth,))), device)
        loss = loss + weighted(action_losses(logits, actions, optimal, config.kind), weight)
    return loss / divisor, logits


def _dense_loss(
    policy: CommitPolicy, task: Puzzle, batch: Targets, config: TargetConfig, divisor: float
) -> tuple[Tensor, Tensor]:
    """The same, of each state's own place and the others', from one pass of the backbone."""
    others = batch.elsewhere
    assert others is not None
    if policy.config.decoder.depth_conditioning != "none":
        raise ValueError("targets.dense: expected 0 for plans that are told their depth (decoder.depth_conditioning)")
    z = policy.encode_at(task, batch.states, others.cells)
    actions = np.concatenate([batch.actions, others.actions.reshape(-1, batch.actions.shape[1])])
    optimal = np.concatenate([batch.optimal, others.optimal.reshape(-1, *batch.optimal.shape[1:])])
    weight = to_device(np.concatenate([_weights(batch, config), _weights_elsewhere(others, config)]), z.device)
    path = to_device(actions, z.device)
    logits = policy.decoder(z, path[:, :-1], policy.task_index(task))
    losses = action_losses(logits, path, to_device(optimal, z.device), config.kind)
    return weighted(losses, weight) / divisor, logits[: len(batch)]


def weighted(losses: Tensor, weight: Tensor) -> Tensor:
    """Sum; positions of weight 0 have neither value nor gradient."""
    return (losses.masked_fill(weight == 0, 0.0) * weight).sum()


def accuracy(logits: Tensor, optimal: Tensor) -> tuple[Tensor, Tensor]:
    """Per position: in how many states the likeliest action is optimal, and in how many one is (both [8])."""
    best = optimal.gather(-1, logits.argmax(dim=-1, keepdim=True))[..., 0]
    live = optimal.any(dim=-1)
    return (best & live).sum(0), live.sum(0)
