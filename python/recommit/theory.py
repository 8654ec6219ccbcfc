"""The paper's theory as code: its formulas, and corrected theorems.

In the paper's model a commitment of depth h fails with probability u = c h^alpha, and an episode of T actions at a
fixed depth succeeds with probability p0 (1 - u)^(T/h). The best depth maximises the log success per action, g(h) =
log(1 - c h^alpha) / h. Varying c and alpha are arrays with one entry per action; a commitment uses those of the step at
which it is decided. The corrected theorems are ``regime_value`` (T1), ``bellman_gap`` (T2) and ``budget_value`` (T3);
docs/theory.md has what refutes the paper's.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Depths = Sequence[int]
    Policy = Literal["adaptive", "fixed", "greedy"]

#: The paper's depths.
DEPTHS = (1, 2, 4, 8)
#: Log successes closer than this, relative to their size, count as equal.
TIE = 1e-12


def F(u: ArrayLike) -> Floats:
    """(1 - u)(-log(1 - u)) / u on (0, 1): decreasing from 1 to 0, and alpha at a critical depth."""
    v = -np.log1p(-np.asarray(u, float))
    return v / np.expm1(v)  # the same ratio, without the cancellation at small u


def u_star(alpha: ArrayLike) -> Floats:
    """The u at which F(u) = alpha: how often one commitment of the critical depth fails, whatever c is."""
    alpha = np.asarray(alpha, float)
    if not np.all((alpha > 0) & (alpha < 1)):
        raise ValueError(f"alpha: expected values in (0, 1), got {alpha}")
    # F is v / (e^v - 1) in v = -log(1 - u), which lies between 1 - v/2 and e^(-v/2): that brackets the root.
    low, high = 2 * (1 - alpha), -2 * np.log(alpha)
    for _ in range(100):
        middle = (low + high) / 2
        above = middle / np.expm1(middle) > alpha
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return -np.expm1(-(low + high) / 2)


def log_success(h: ArrayLike, c: ArrayLike, alpha: ArrayLike) -> Floats:
    """log(1 - c h^alpha) of one commitment; -inf where it is certain to fail."""
    u = np.asarray(c, float) * np.asarray(h, float) ** np.asarray(alpha, float)
    with np.errstate(divide="ignore"):
        result: Floats = np.log1p(-np.minimum(u, 1.0))
    return result


def rate(h: ArrayLike, c: ArrayLike, alpha: ArrayLike) -> Floats:
    """g(h): the log success per action."""
    return log_success(h, c, alpha) / np.asarray(h, float)


def h_star_cont(c: ArrayLike, alpha: ArrayLike) -> Floats:
    """The critical depth (u*/c)^(1/alpha), for alpha in (0, 1). Below 1 it is no optimum: h = 1 is."""
    return (u_star(alpha) / np.asarray(c, float)) ** (1 / np.asarray(alpha, float))


def h_star_grid(c: float, alpha: float, largest: int = 8) -> int:
    """The best of the depths 1, 2, 4, ..., largest, the smaller one of a tie: doubling h pays iff 2^alpha < 2 - u."""
    h = 1
    while h < largest and 2**alpha < 2 - c * h**alpha:
        h *= 2
    return h


def interior_exists(c: ArrayLike, alpha: ArrayLike) -> NDArray[np.bool_]:
    """Whether a depth in (1, c^(-1/alpha)) beats depth 1, for c in (0, 1): iff alpha < F(c), where the paper has 1."""
    return np.asarray(np.asarray(alpha, float) < F(c))


def p_fixed(h: ArrayLike, horizon: int, c: float, alpha: float, p0: float = 1.0, relaxed: bool = False) -> Floats:
    """Success at a fixed depth. The last commitment is cut at the horizon; ``relaxed`` is the paper's power T/h."""
    h = np.asarray(h, float)
    whole, rest = np.divmod(horizon, h)
    if relaxed:
        whole, rest = horizon / h, np.zeros_like(h)
    return p0 * np.exp(log_success(h, c, alpha)) ** whole * np.exp(log_success(rest, c, alpha))


def dp_value(
    c: ArrayLike, alpha: ArrayLike, policy: Policy = "adaptive", depths: Depths = DEPTHS, cut: bool = True
) -> float:
    """The log success (without p0) of a class of policies over a horizon of len(c) actions, by dynamic programming.

    ``adaptive`` chooses any depth at any decision, ``fixed`` the best single one, and ``greedy`` the smallest depth of
    the highest rate there. A commitment that passes the horizon is cut to what remains; ``cut=False`` forbids it.
    """
    if policy == "fixed":
        return max(dp_value(c, alpha, "adaptive", (h,), cut) for h in depths)
    if policy not in ("adaptive", "greedy"):
        raise ValueError(f"policy: expected adaptive, fixed or greedy, got {policy!r}")
    c, alpha, wanted = np.asarray(c, float)[:, None], np.asarray(alpha, float)[:, None], np.asarray(depths)
    executed = np.minimum(wanted, np.arange(len(c), 0, -1)[:, None])
    gain = np.where((executed == wanted) | cut, log_success(executed, c, alpha), -inf)
    if policy == "greedy":
        best = rate(wanted, c, alpha).argmax(axis=1)
        gain[np.arange(len(wanted)) != best[:, None]] = -inf
    value = np.zeros(len(c) + 1)
    for t in range(len(c) - 1, -1, -1):
        value[t] = (gain[t] + value[t + executed[t]]).max()
    return float(value[0])


class Regimes(NamedTuple):
    """T1: both optima (without log p0), the best depths of each block, and whether adaptive beats every fixed depth."""

    adaptive: float
    fixed: float
    best: tuple[frozenset[int], ...]
    strict: bool


def regime_value(c: ArrayLike, alpha: ArrayLike, lengths: Sequence[int], depths: Depths = DEPTHS) -> Regimes:
    """T1: blocks of constant c and alpha, each a multiple of every depth, where no commitment crosses or is cut.

    Adaptive is strictly better iff no depth is best in all blocks.
    """
    if any(length < 1 or length % h for length in lengths for h in depths):
        raise ValueError(f"lengths: expected positive multiples of all of {tuple(depths)}, got {tuple(lengths)}")
    g = rate(np.asarray(depths), np.asarray(c, float)[:, None], np.asarray(alpha, float)[:, None])
    peak = g.max(axis=1)
    best = tuple(
        frozenset(h for h, value in zip(depths, row, strict=True) if value >= top * (1 + TIE))
        for row, top in zip(g, peak, strict=True)
    )
    time = np.asarray(lengths, float)
    return Regimes(float(time @ peak), float((time @ g).max()), best, not frozenset.intersection(*best))


class Gap(NamedTuple):
    """T2: both values from the start; gap and visits are [remaining decisions 0..K, states]."""

    optimal: float
    fixed: float
    gap: Floats
    visits: Floats

    @property
    def strict(self) -> bool:
        """Whether a state with a positive gap is visited: iff the optimum beats the fixed action."""
        return bool(((self.visits > 0) & (self.gap > TIE * max(1.0, self.gap.max()))).any())


def bellman_gap(transition: Floats, reward: Floats, start: Floats, budget: int, action: int) -> Gap:
    """T2: what always taking ``action`` loses against the optimum within ``budget`` decisions.

    ``transition`` is [actions, states, states], and rows that sum to less than 1 end the episode; ``reward`` is
    [actions, states] and finite. The loss is exactly the sum of visits, those of ``action`` itself, times V* - Q*.
    A horizon in actions, or anything else that changes with time, is part of the state.
    """
    optimal, fixed = np.zeros((budget + 1, len(start))), np.zeros((budget + 1, len(start)))
    gap, visits = np.zeros_like(optimal), np.zeros_like(optimal)
    for remaining in range(1, budget + 1):
        q = reward + transition @ optimal[remaining - 1]
        optimal[remaining] = q.max(axis=0)
        gap[remaining] = optimal[remaining] - q[action]
        fixed[remaining] = reward[action] + transition[action] @ fixed[remaining - 1]
    visits[budget] = start
    for remaining in range(budget, 0, -1):
        visits[remaining - 1] = visits[remaining] @ transition[action]
    return Gap(float(start @ optimal[budget]), float(start @ fixed[budget]), gap, visits)


def budget_value(c: ArrayLike, alpha: ArrayLike, budget: int, progress: int, depths: Depths = DEPTHS) -> float:
    """T3: the greatest log success of at most ``budget`` commitments whose depths sum to ``progress`` or more.

    c and alpha broadcast to [budget, progress]: by decision, and by the progress made before it. -inf if out of reach;
    one depth in ``depths`` gives the value of that fixed depth.
    """
    shape = (budget, progress, 1)
    c, alpha = (np.broadcast_to(np.asarray(x, float), shape[:2])[..., None] for x in (c, alpha))
    gain = log_success(np.asarray(depths), c, alpha)
    landing = np.minimum(np.arange(progress)[:, None] + np.asarray(depths), progress)
    value = np.append(np.full(progress, -inf), 0.0)
    for decision in range(budget - 1, -1, -1):
        value[:-1] = (gain[decision] + value[landing]).max(axis=1)
    return float(value[0])
