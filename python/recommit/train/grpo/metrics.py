"""The metrics of a GRPO step, and warnings about them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.episodes import softmax
from recommit.train.validation import mean_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.graph.build import PolicyGraph
    from recommit.graph.graph import Floats
    from recommit.graph.policy_evaluation import GraphValues
    from recommit.rollout.trace import Trace
    from recommit.train.grpo.batch import GrpoBatch


#: Largest distances of the buckets near and mid.
NEAR, MID = 8, 16
BUCKETS = ("near", "mid", "far")
#: The depth head's entropy counts as collapsed below this share of its maximum.
COLLAPSED = 0.1


@dataclass
class Signals:
    """Metric sums over the episodes of one step on one rank; additive over ranks."""

    episodes: float
    solved: float
    actions: float
    decisions: float
    reward: float
    groups: float
    zero_std: float  #: groups of equal rewards
    exact: float  #: with ``exact``: share of visits to observed states, times groups
    advantage: float  #: sum of absolute advantages
    advantages: float  #: their number
    by_depth: Floats  #: [plan length]: decisions by depth
    buckets: Floats  #: [3, 2] decisions and depths by distance
    probs: Floats  #: [|H|] probabilities of the depth head, summed over states
    entropy: float  #: of these, summed over states
    states: float

    @classmethod
    def of_trace(
        cls,
        trace: Trace,
        followed: NDArray[np.int64],
        episodes: int,
        reward: Floats,
        zero_std: float,
        depths: tuple[int, ...],
    ) -> Signals:
        """From sampled commitments; ``followed`` is the candidate that each episode continued with."""
        rows = np.arange(len(trace))
        chosen = trace.proposals.depth[rows, followed]
        probs = softmax(trace.proposals.logits) if len(trace) else np.zeros((0, len(depths)))
        buckets = np.zeros((3, 2))
        np.add.at(buckets, _bucket(trace.distance), np.stack([np.ones(len(trace)), chosen], axis=1))
        return cls(
            episodes=episodes,
            solved=float(trace.solved[rows, followed].sum()),
            actions=float(trace.executed[rows, followed].sum()),
            decisions=len(trace),
            reward=float(reward.mean(axis=1).sum()) if len(reward) else 0.0,
            groups=len(reward),
            zero_std=zero_std * len(reward),
            exact=len(reward),
            advantage=float(np.abs(reward - reward.mean(axis=1, keepdims=True)).sum()),
            advantages=reward.size,
            by_depth=np.bincount(chosen, minlength=trace.proposals.actions.shape[-1] + 1)[1:].astype(np.float64),
            buckets=buckets,
            probs=probs.sum(axis=0),
            entropy=float(_entropy(probs).sum()),
            states=len(trace),
        )

    @classmethod
    def of_values(
        cls, graph: PolicyGraph, roots: NDArray[np.int64], values: GraphValues, probs: Floats, batch: GrpoBatch
    ) -> Signals:
        """From exact values: expectations in place of samples."""
        mass = values.visits.sum(axis=0)
        observed = np.flatnonzero(graph.planned & (mass > 0))
        share = mass[observed, None] * probs[observed]
        buckets = np.zeros((3, 2))
        depth = np.array(graph.depths)
        np.add.at(
            buckets, _bucket(values.distance[observed]), np.stack([mass[observed], (share * depth).sum(axis=1)], axis=1)
        )
        by_depth = np.zeros(graph.plan_length)
        by_depth[depth - 1] = share.sum(axis=0)
        head = softmax(graph.logits[observed])
        return cls(
            episodes=len(roots),
            solved=float((share * graph.goal[graph.landing[observed]]).sum()),
            actions=float((share * graph.executed[observed]).sum()),
            decisions=float(share.sum()),
            reward=float((values.begin @ values.value[:, roots]).sum()),
            groups=len(roots),
            zero_std=0.0,
            exact=values.exact_fraction * len(roots),
            advantage=float((batch.depth_weight * np.abs(batch.depth_advantage)).sum()),
            advantages=float(batch.depth_weight.sum()),
            by_depth=by_depth,
            buckets=buckets,
            probs=(mass[observed, None] * head).sum(axis=0),
            entropy=float((mass[observed] * _entropy(head)).sum()),
            states=float(mass[observed].sum()),
        )

    def over_ranks(self, total: Callable[[list[float]], list[float]]) -> Signals:
        """All-reduce the sums over ranks by ``total``."""
        own = {f.name: np.asarray(getattr(self, f.name), np.float64) for f in fields(self)}
        sums = np.array(total(np.concatenate([each.ravel() for each in own.values()]).tolist()))
        parts = np.split(sums, np.cumsum([each.size for each in own.values()])[:-1])
        shaped: dict[str, Any] = {
            name: part.reshape(each.shape) if each.ndim else float(part[0])
            for (name, each), part in zip(own.items(), parts, strict=True)
        }
        return Signals(**shaped)


def line_of(signals: Signals, learned: dict[str, float]) -> dict[str, Any]:
    """A log line: rates of ``signals`` and means of ``learned`` (sums by ``loss.MEASURES``)."""
    decisions, states = max(signals.decisions, 1e-9), max(signals.states, 1e-9)
    mean = signals.probs / states
    marginal = float(_entropy(mean[None])[0])
    weight = max(learned["states"], 1e-9)
    line: dict[str, Any] = {
        "loss": learned["loss"],
        "solve_rate": signals.solved / max(signals.episodes, 1),
        "actions": signals.actions / max(signals.episodes, 1),
        "decisions": signals.decisions / max(signals.episodes, 1),
        "reward": signals.reward / max(signals.groups, 1),
        "zero_std_fraction": signals.zero_std / max(signals.groups, 1),
        "exact_fraction": signals.exact / max(signals.groups, 1),
        "advantage": signals.advantage / max(signals.advantages, 1e-9),
        "depths": {str(i + 1): v / decisions for i, v in enumerate(signals.by_depth) if v},
        "mean_depth": {n: b[1] / b[0] for n, b in zip(BUCKETS, signals.buckets, strict=True) if b[0] > 0},
        "entropy_depth": signals.entropy / states,
        #: Between state and depth, in nats: entropy of the mean minus mean entropy.
        "mutual_information": max(marginal - signals.entropy / states, 0.0),
    }
    if learned["states"] > 0:  # not a step in which the depth head was updated alone
        line |= {
            "entropy_actions": learned["entropy_actions"] / max(learned["actions"], 1e-9),
            "kl_actions": learned["kl"] / max(learned["actions"], 1e-9),
            "kl_depth": learned["kl_depth"] / weight,
            "clipped": learned["clipped"] / max(learned["ratios"], 1),
            "max_ratio_deviation": learned["max_ratio_deviation"],
            "gradient_norm": learned["norm"],
        }
    return rounded(line)


def warnings(line: dict[str, Any], earlier: list[dict[str, Any]], depths: int, *, head: bool) -> list[str]:
    """Warnings about a diverging or collapsing run."""
    result = []
    if head and line["entropy_depth"] < COLLAPSED * np.log(depths) and line["mutual_information"] < 0.01:
        result.append(f"the depth head says the same in every state (entropy {line['entropy_depth']:.3f})")
    if line["zero_std_fraction"] > 0.9:
        result.append(
            f"{100 * line['zero_std_fraction']:.0f} % of the groups have equal rewards: nothing is learned from them"
        )
    if line.get("clipped", 0.0) > 0.5:
        result.append(f"{100 * line['clipped']:.0f} % of the ratios are clipped: lower the learning rates")
    if len(earlier) >= 20:
        before, after = earlier[-20:-10], earlier[-10:]
        mean = lambda lines, name: sum(each[name] for each in lines) / len(lines)
        if (
            mean(after, "reward") > mean(before, "reward") + 0.02
            and mean(after, "solve_rate") < mean(before, "solve_rate") - 0.02
        ):
            result.append("the reward rises while fewer episodes are solved")
    return result


def averaged(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean of several lines; a depth absent from a line counts 0."""
    none = dict.fromkeys((depth for line in lines for depth in line["depths"]), 0.0)
    return mean_of([{**line, "depths": {**none, **line["depths"]}} for line in lines])


def rounded(value: Any) -> Any:
    """Round nested numbers to six decimals."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return round(float(value), 6)


def _bucket(distance: NDArray[np.integer]) -> NDArray[np.int64]:
    """0 near, 1 mid, 2 far or lost."""
    return np.where(distance < 0, 2, (distance > NEAR).astype(int) + (distance > MID))


def _entropy(probs: Floats) -> Floats:
    return -(probs * np.log(np.maximum(probs, 1e-300))).sum(axis=-1)
