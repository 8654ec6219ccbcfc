"""The rollout: commitments sampled from the policy, executed, and measured by the exact distance.

``Actor`` observes each state once and samples ``candidates`` depths and plans; every sample is keyed by the episode,
the turn and the candidate, so that it depends neither on the rest of the batch nor on the number of ranks.
``rollout`` continues with one candidate per state, all episodes in lock step, until the last one has ended. The result
is a ``Trace`` (``trace.py``): one row per decision, in order. ``train/grpo/reward.py`` computes its rewards, and
``rollout/decision_rows.py`` turns it into rows of an evaluation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit import rng
from recommit.graph.build import exact_distance, run_directly
from recommit.graph.episodes import turns
from recommit.policy.config import PASS
from recommit.policy.depth_head import head_inputs
from recommit.policy.tensors import log_prob, to_device, to_host
from recommit.policy.threads import threads
from recommit.rollout.trace import Proposals, Trace, joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.graph.build import RunPass
    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.rollout.variants import Variant


class Actor:
    """Samples commitments, which depend on the state and the counter alone, never on the rest of the batch."""

    def __init__(
        self,
        policy: CommitPolicy,
        task: Puzzle,
        variant: Variant,
        *,
        seed: int,
        run_pass: RunPass = run_directly,
        max_over_ranks: Callable[[int], int] = int,
    ) -> None:
        self.policy, self.task, self.variant, self.seed = policy, task, variant, seed
        self.run_pass, self.max_over_ranks = run_pass, max_over_ranks
        #: States that a rank without any observes, so that it runs as many passes as the others.
        self.idle: NDArray[np.uint8] | None = None

    def propose(
        self,
        states: NDArray[np.uint8],
        count: int,
        number: NDArray[np.uint64],
        depths: NDArray[np.int64] | None = None,
        remaining: NDArray[np.int64] | None = None,
    ) -> Proposals:
        """Sample ``count`` commitments per state; ``number`` is the key of each state's random stream. ``depths``
        [count], if given, replace the variant's choice; ``remaining``: see ``CommitPolicy.encode``."""
        parts = []
        for begin in range(0, max(self.max_over_ranks(len(states)), 1), PASS):
            part = slice(begin, begin + PASS)
            piece, numbers = states[part], number[part]
            if not len(piece):
                if self.idle is not None:
                    self._propose(self.idle, count, np.zeros(1, np.uint64), depths, np.ones(1, np.int64))
                continue
            parts.append(self._propose(piece, count, numbers, depths, None if remaining is None else remaining[part]))
        return joined(parts) if parts else Proposals.none(count, self.policy.config)

    def _propose(
        self,
        states: NDArray[np.uint8],
        count: int,
        number: NDArray[np.uint64],
        depths: NDArray[np.int64] | None,
        remaining: NDArray[np.int64] | None,
    ) -> Proposals:
        own, length = self.policy.config.depths, self.policy.config.plan_length
        stream = rng.streams(
            self.seed, rng.Purpose.SAMPLE, (number[:, None] * np.uint64(1024) + np.arange(count, dtype=np.uint64))
        )
        uniform = rng.uniforms(stream, len(own) + 4 * length)
        forced = None if depths is None else np.broadcast_to(depths, stream.shape).copy()
        if forced is None and not self.variant.head:
            drawn = rng.below(rng.draw(stream, uniform.shape[-1]), len(own))
            forced = np.full_like(drawn, self.variant.depth) if self.variant.depth else np.array(own)[drawn]
        device = self.policy.depth_head.weight.device
        with threads(self.policy):
            choice, actions, depth_log, action_log, logits = self.run_pass(
                # The host needs the outputs to execute them: the only synchronisation of a pass.
                lambda: to_host(*self._pass(states, to_device(uniform, device), forced, remaining))
            )
        depth = np.array(own)[choice] if forced is None else forced
        return Proposals(depth, choice, actions.astype(np.uint8), depth_log, action_log, logits)

    @torch.no_grad()
    def _pass(
        self,
        states: NDArray[np.uint8],
        uniform: Tensor,
        forced: NDArray[np.int64] | None,
        remaining: NDArray[np.int64] | None,
    ) -> tuple[Tensor, ...]:
        (rows, count, _), length = uniform.shape, self.policy.config.plan_length
        many = len(self.policy.config.depths)
        z, index = self.policy.encode(self.task, states, remaining), self.policy.task_index(self.task)
        inputs = head_inputs(self.policy, self.task, states, z, remaining=remaining)
        logits = self.policy.depth_head(inputs).float()
        choice = (logits[:, None] - torch.log(-torch.log(uniform[..., :many]))).argmax(-1)
        depth_log = log_prob(logits[:, None].expand(-1, count, -1), choice)
        own = to_device(np.array(self.policy.config.depths), z.device)
        depth = own[choice] if forced is None else to_device(forced, z.device)
        actions, scores = self.policy.decoder.plans(
            z.repeat_interleave(count, dim=0),
            index,
            depths=self.policy.conditioning(depth.flatten()),
            noise=uniform[..., many:].reshape(rows * count, length, 4),
        )
        action_log = log_prob(scores, actions)
        return choice, actions.view(rows, count, -1), depth_log, action_log.view(rows, count, -1), logits


def rollout(
    actor: Actor,
    starts: NDArray[np.uint8],
    budget: NDArray[np.int64] | int,
    *,
    numbers: NDArray[np.uint64],
    candidates: int = 1,
    follow: Callable[[Trace], NDArray[np.int64]] | None = None,
    end_when_lost: bool = False,
) -> Trace:
    """Play one episode from every start, in lock step, for as many decisions as ``budget`` allows each.

    ``candidates`` commitments are tried at every state, on copies; the episode continues with the first one, or with
    the one that ``follow`` chooses. An episode's number fixes its randomness. All ranks take part until
    the last episode of all ranks has ended. A state whose distance is not known ends all episodes, with an error.
    """
    task, budgets = actor.task, np.broadcast_to(np.asarray(budget, np.int64), (len(starts),))
    states, distance = starts.copy(), exact_distance(task, starts)
    over = task.is_solved(starts) | (end_when_lost & (distance < 0))
    parts: list[Trace] = []
    for turn, who in turns(over, budgets, actor.max_over_ranks):
        number = numbers[who] * np.uint64(256) + np.uint64(turn)
        part = _decide(actor, states[who], distance[who], who, budgets[who] - turn, number, candidates)
        parts.append(part)
        chosen = np.zeros(len(who), np.int64) if follow is None else follow(part)
        rows = np.arange(len(who))
        states[who], distance[who] = part.after[rows, chosen], part.after_distance[rows, chosen]
        over[who] = part.solved[rows, chosen] | (end_when_lost & (distance[who] < 0))
    if not parts:  # nothing to decide, on any rank
        none = np.zeros(0, np.int64)
        parts = [_decide(actor, starts[:0], distance[:0], none, none, none.astype(np.uint64), candidates)]
    return joined(parts)


def _decide(
    actor: Actor,
    states: NDArray[np.uint8],
    distance: NDArray[np.int32],
    who: NDArray[np.int64],
    remaining: NDArray[np.int64],
    number: NDArray[np.uint64],
    candidates: int,
) -> Trace:
    task = actor.task
    proposals = actor.propose(states, candidates, number, remaining=remaining)
    many, shape = len(states), states.shape[1:]
    outcome = task.execute(
        np.repeat(states, candidates, axis=0),
        proposals.actions.reshape(-1, proposals.actions.shape[-1]),
        proposals.depth.reshape(-1).astype(np.int32),
    )
    after = exact_distance(task, outcome.states).reshape(many, candidates)
    return Trace(
        states,
        distance,
        who,
        remaining,
        proposals,
        outcome.states.reshape(many, candidates, *shape),
        after,
        _last_distance(task, states, distance, proposals.actions, after),
        outcome.executed.reshape(many, candidates),
        outcome.solved.reshape(many, candidates),
    )


def _last_distance(
    task: Puzzle,
    states: NDArray[np.uint8],
    distance: NDArray[np.int32],
    actions: NDArray[np.uint8],
    after: NDArray[np.int32],
) -> NDArray[np.int32]:
    """See ``Trace.last_distance``. Unsolvable states stay unsolvable, so that the walk need not stop at the depth."""
    result = after.copy()
    row, plan = np.nonzero((distance[:, None] >= 0) & (after < 0))
    here, last = states[row], distance[row]
    for step in range(actions.shape[-1] - 1 if len(row) else 0):
        here = task.step(here, actions[row, plan, step])
        now = exact_distance(task, here)
        last = np.where(now >= 0, now, last)
    result[row, plan] = last
    return result
