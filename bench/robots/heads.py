"""A depth head from branches: networks regress how much better or worse each depth is than the base depth.

It reads what is observed, the plan and where its five members disagree, what the last plan had left, and how far the
world model was off since the last observation. A depth is preferred to the base where the mean of the members is above
``doubt`` times their spread; ``doubt`` is chosen on validation episodes, where infinity is the base depth itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.robots.policies import MEMBERS, SEEN, Learned, Nets, Policy, regress, spread
from bench.robots.tasks import DEPTHS, PRICE, TICKS, Arm, H

from recommit import horizon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WIDTH = 128
#: How sure the members have to be, in their own spread.
DOUBTS = (0.0, 0.5, 1.0, 2.0, np.inf)
PLACES = np.array(DEPTHS) - 1
#: Parts of an observation: hand, gripper, first object.
HAND, OBJECT = slice(0, 3), slice(4, 7)


def features(arm: Arm, policy: Policy, plans: horizon.Plans) -> Floats:
    """What the head reads at this query."""
    seen, chunk = np.asarray(arm.observation), plans.actions[0]
    assert plans.samples is not None
    apart = np.abs(plans.samples[0] - chunk).mean(axis=(0, 2))
    windows = np.split(apart, PLACES[:-1] + 1)
    ahead = policy.expected(np.repeat(seen[None], len(DEPTHS), 0), np.repeat(plans.actions, len(DEPTHS), 0), DEPTHS)
    goal = seen[-3:]
    parts = [
        policy.inputs(seen)[0],
        chunk[PLACES].ravel(),
        np.cumsum(chunk[:, :3], axis=0)[PLACES].ravel() / H,
        np.log(1e-3 + apart[PLACES]),
        np.log(1e-3 + np.array([each.max() for each in windows])),
        np.cumsum(np.abs(np.diff(np.sign(chunk[:, 3]), prepend=np.sign(chunk[0, 3]))))[PLACES] / 2,
        10 * np.linalg.norm(ahead[:, OBJECT] - goal, axis=1),
        10 * np.linalg.norm(ahead[:, HAND] - ahead[:, OBJECT], axis=1),
        [arm.t / TICKS, arm.k / 20],
        since(arm, policy, plans),
    ]
    return np.concatenate(parts).astype(np.float32)


def since(arm: Arm, policy: Policy, plans: horizon.Plans) -> Any:
    """Of the last query: how deep it was, what its plan had left against this one, and what came otherwise than the
    world model expected."""
    if arm.before is None or not len(arm.before[1]) or plans.previous is None:
        return np.zeros(9)
    seen, actions = arm.before
    rest, left = plans.previous.actions[0], int(plans.previous.remaining[0])
    differs = [np.abs(plans.actions[0, :n] - rest[:n]).mean() if 0 < n <= left else -1.0 for n in (1, 4, min(16, left))]
    whole = np.zeros((1, H, 4), np.float32)
    whole[0, : len(actions)] = actions
    off = 20 * (policy.expected(seen, whole, [len(actions)])[0] - np.asarray(arm.observation)[:SEEN])
    wrong = [np.linalg.norm(off[part]) for part in (HAND, slice(3, 4), OBJECT)]
    return np.array([1.0, np.log2(len(actions)) / 5, left / H, *differs, *np.log1p(wrong)])


@dataclass(frozen=True, eq=False)
class Head(Learned):
    """Networks of advantages over the base depth, and how sure they have to be."""

    nets: Nets
    base: int

    def advantages(self, rows: Floats) -> Floats:
        """[members, N, depths]"""
        inputs = self.inputs(rows)
        return self.nets(np.broadcast_to(inputs, (MEMBERS, *inputs.shape)))

    def depths(self, rows: Floats, doubt: float) -> NDArray[np.int64]:
        """[N] the depth with the largest lower bound, or the base where none is above it."""
        every = self.advantages(rows)
        every = every - every[:, :, DEPTHS.index(self.base)][:, :, None]
        lower = every.mean(axis=0) - doubt * every.std(axis=0)
        lower[:, DEPTHS.index(self.base)] = 0.0
        return np.array(DEPTHS)[lower.argmax(axis=1)]


def learn(rows: Floats, success: Any, queries: Any, base: int, seed: int, steps: int) -> Head:
    """Regress success less the price of the queries, less that of the base depth, [N, depths]."""
    values = success - PRICE * queries
    wanted = values - values[:, [DEPTHS.index(base)]]
    head = Head(*spread(rows), Nets([]), base)
    return replace(head, nets=regress(head.inputs(rows), wanted, seed, steps, width=WIDTH, decay=0.05))


@dataclass(frozen=True)
class HeadRule(horizon.Rule):
    """The head at work on an arm."""

    arm: Arm
    policy: Policy
    head: Head
    doubt: float

    def propose(self, plans: horizon.Plans) -> NDArray[np.integer]:
        """One depth for the one plan."""
        if np.isinf(self.doubt):
            return np.array([self.head.base])
        return self.head.depths(features(self.arm, self.policy, plans)[None], self.doubt)
