"""How a commitment is judged: one class per kind of group that is compared, and each reads only what it counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from recommit.graph.prices import Prices
from recommit.train.parsing import check_choices, check_least

#: A price for the whole run, or where it begins and where it ends: it moves in a straight line from step to step. A
#: price that is high from the start can get stuck at shallow depths.
Price: TypeAlias = "float | tuple[float, float]"


@dataclass(frozen=True)
class PricedCredit:
    """What all kinds have in common."""

    #: Candidates or episodes per group (the paper: 4 for sliding, 8 for Sokoban); ``exact``: plans per state.
    size: int = 4
    #: What an executed action costs.
    price_action: Price = 0.0
    #: What a look costs: every decision has one, whatever its depth. Of sampled credit it is paid, like the price of an
    #: action, by what succeeded: groups that all fail would differ only in length, and teach depth 1.
    price_observation: Price = 0.0
    #: Added to the deviation that advantages are divided by, so that rewards that hardly differ are not blown up.
    floor: float = 1e-6

    def __post_init__(self) -> None:
        check_choices("credit", self)
        check_least("credit", self, floor=0)
        for name in ("price_action", "price_observation"):
            if min(_ends(getattr(self, name))) < 0:
                raise ValueError(f"credit.{name}: expected at least 0, got {getattr(self, name)}")

    @property
    def prices(self) -> Prices:
        """Both as one number each: of a step (see ``at_prices``), or where the run ends."""
        return Prices(_ends(self.price_action)[1], _ends(self.price_observation)[1])

    def prices_at(self, done: float) -> Prices:
        """What an action and a look cost when this share of the run is over."""
        return Prices(_between(self.price_action, done), _between(self.price_observation, done))


def _ends(price: Price) -> tuple[float, float]:
    return price if isinstance(price, tuple) else (price, price)


def _between(price: Price, done: float) -> float:
    first, last = _ends(price)
    return first + (last - first) * done


C = TypeVar("C", bound=PricedCredit)


def at_prices(credit: C, prices: Prices) -> C:
    """The same credit at one price of an action and one of a look."""
    return replace(credit, price_action=prices.action, price_observation=prices.observation)


@dataclass(frozen=True)
class SampledCredit(PricedCredit):
    """Sampled commitments or episodes, compared within groups by a reward: a success term, progress, prices."""

    #: The bounded progress term, of D lowered distance in n actions: ``mean`` tanh(D / n) (the paper), ``total``
    #: tanh(D / 4), ``potential`` D / 8, ``solved`` nothing.
    reward: Literal["mean", "total", "potential", "solved"] = "mean"
    #: Weight of the progress term (the paper: 0.20).
    progress: float = 0.2
    #: D is a sum over ``action``s, and one into a state that cannot be solved any more counts 0 (the paper): what was
    #: gained before it counts. Or over ``commitment``s: one that ends in such a state counts 0 as a whole.
    progress_per: Literal["action", "commitment"] = "commitment"
    #: A state that cannot be solved any more: its loss of distance counts nothing (the paper), costs ``penalty``, or
    #: also ends the episode.
    deadlock: Literal["zero", "penalty", "terminate"] = "zero"
    penalty: float = 0.2
    #: Advantages are divided by the standard deviation of their group (the paper), of the batch, or by nothing.
    scale: Literal["group", "batch", "none"] = "group"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least("credit", self, progress=0, penalty=0)
        if self.size < 2:
            raise ValueError(f"credit.size: expected at least 2 to compare, got {self.size}")


@dataclass(frozen=True)
class StateCredit(SampledCredit):
    """Candidates of one state, judged by their own actions (the paper's operational sentence)."""

    group: Literal["state"] = "state"
    #: Which candidate an episode goes on with; the first is a sample of the policy.
    follow: Literal["first", "best", "random"] = "first"


@dataclass(frozen=True)
class EpisodeCredit(SampledCredit):
    """Whole episodes from one start (the paper's return)."""

    group: Literal["episode"] = "episode"


@dataclass(frozen=True)
class BranchCredit(SampledCredit):
    """Candidates of one state, each played to the end of the budget by the policy itself."""

    group: Literal["branch"] = "branch"
    #: As in ``StateCredit``.
    follow: Literal["first", "best", "random"] = "first"


@dataclass(frozen=True)
class ExactCredit(PricedCredit):
    """The value of every depth by a dynamic program over the states that greedy plans reach, and of sampled plans by
    where they lead. It counts levels solved, and the prices of actions and looks."""

    group: Literal["exact"] = "exact"
    #: Advantages are divided by the root of their mean square over the batch, or by nothing.
    scale: Literal["batch", "none"] = "batch"
    #: States looked at per instance and decision; what lies beyond is valued by distance and decisions left.
    width: int = 4
    #: Equal parts of the episodes have each of these numbers of decisions, or ``rollout.budget`` where that is less;
    #: all have that one if none is named. The policy does not see which.
    budgets: tuple[int, ...] = ()
    #: A plan's credit weighs depths as the head chooses them, or all alike. A plan gets better where it is used and is
    #: used where it is better, so that a head that leaves a depth early may never find out what it could be.
    depth_weighting: Literal["chosen", "even"] = "chosen"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least("credit", self, size=1, width=1)
        if min(self.budgets, default=1) < 1:
            raise ValueError(f"credit.budgets: expected numbers from 1 on, got {self.budgets}")


Credit: TypeAlias = StateCredit | EpisodeCredit | BranchCredit | ExactCredit
