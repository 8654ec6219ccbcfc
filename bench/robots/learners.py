"""Depth heads that learn from episodes alone, which a robot can play, where the campaign's head needs branches.

    python -m bench.robots.learners --out learners    # the same command goes on where it was stopped
    python -m bench.robots.page --learners learners   # its tables into docs/robots.md

Both read the observation and the whole chunk of a frozen policy, and choose among the depths of all other rows.

* ``dehp``: PPO over commitments, as dynamic execution horizon prediction has it (arXiv 2606.11408, of whose method its
  abstract and project page were read): a categorical head, the return of the task alone. The network, the batches and
  all other numbers are ours.
* ``q``: a value of each depth, regressed on what episodes earned from there on. Bootstrapped, with the best value where
  the commitment ended, it overestimated shallow depths: ``docs/robots.md`` has what that came to.

What they earn is the campaign's utility: 1 for success, less the price of every query. A commitment of n ticks, those
of its latency too, discounts what follows by ``GAMMA ** n``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.robots import campaign, policies, rules
from bench.robots.policies import Nets, Policy
from bench.robots.tasks import DEPTHS, PRICE, Arm

from recommit import horizon

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Decisions = dict[str, NDArray[Any]]

GAMMA, WIDTH = 0.999, 128
#: Of PPO: the mix of returns, the clip, the weight of the entropy, passes over a batch, and the episodes of one.
LAMBDA, CLIP, ENTROPY, PASSES, BATCH = 0.95, 0.2, 0.01, 6, 40
#: Of the values: rounds of episodes, steps after each, and the share of depths that are drawn among all.
ROUNDS, STEPS, RANDOM = 4, 800, 0.2
#: Episodes that each of them learns from.
EPISODES = 800
SETTINGS = campaign.Settings(("basketball", "shelf-place", "soccer"))


def read(arm: Arm, policy: Policy, plans: horizon.Plans) -> NDArray[np.float32]:
    """The observation and the chunk."""
    return np.concatenate([policy.inputs(arm.observation)[0], plans.actions[0].ravel()]).astype(np.float32)


@dataclass(frozen=True)
class Greedy(horizon.Rule):
    """The depth of the largest output, of several networks on average."""

    arm: Arm
    policy: Policy
    nets: Nets

    def propose(self, plans: horizon.Plans) -> NDArray[np.integer]:
        """One depth for the one plan."""
        return np.array([DEPTHS[int(outputs(self.nets, read(self.arm, self.policy, plans)).argmax())]])


def outputs(nets: Nets, row: NDArray[np.float32]) -> NDArray[np.float32]:
    """[depths], the mean of the networks."""
    result: NDArray[np.float32] = nets(np.broadcast_to(row, (len(nets.layers[0][0]), 1, len(row)))).mean(axis=0)[0]
    return result


def episodes(arm: Arm, policy: Policy, choose: Callable[[Any, Any], int], numbers: Any) -> Decisions:
    """Every commitment of these episodes; ``choose(row, generator)`` is the column of its depth."""
    names = ("rows", "columns", "rewards", "ticks", "ends")
    found: dict[str, list[Any]] = {name: [] for name in names}
    for number in numbers:
        arm.reset(number)
        generator = np.random.default_rng(number)
        while not arm.over:
            plans, begin = arm.planned(policy), arm.t
            row = read(arm, policy, plans)
            column = choose(row, generator)
            arm.commit(plans.actions[0, : DEPTHS[column]])
            values = (row, column, arm.success - PRICE, arm.t - begin, arm.over)
            for name, value in zip(names, values, strict=True):
                found[name].append(value)
    return {name: np.array(each) for name, each in found.items()}


def discounts(data: Decisions) -> Floats:
    """Of what follows a commitment: nothing does after the last one of an episode."""
    result: Floats = np.where(data["ends"], 0.0, GAMMA ** data["ticks"])
    return result


def advantages(data: Decisions, values: Floats) -> Floats:
    """Generalised advantages over commitments."""
    result, ahead, after = np.zeros(len(values)), 0.0, 0.0
    for i, discount in reversed(list(enumerate(discounts(data)))):
        ahead = data["rewards"][i] + discount * after - values[i] + discount * LAMBDA * ahead
        result[i], after = ahead, values[i]
    return result


def surrogate(logits: Any, columns: Any, old: Any, gains: Any) -> Any:
    """PPO's clipped loss of a batch [N], less the weighted entropy; ``old`` are log-probabilities."""
    import torch

    logs = logits.log_softmax(dim=1)
    ratio = (logs.gather(1, columns[:, None])[:, 0] - old).exp()
    clipped = torch.minimum(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains)
    return -clipped.mean() + ENTROPY * (logs.exp() * logs).sum(dim=1).mean()


def ppo(play: Callable[[Any, int], Decisions], batches: int, seed: int) -> Nets:
    """A head of logits; ``play(choose, batch)`` are the decisions of a batch of episodes."""
    import torch

    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    actor: Any = None
    critic: Any = None
    for batch in range(batches):
        head: Nets | None = None if actor is None else policies.detached(actor)
        data = play(lambda row, draw, head=head: sampled(head, row, draw), batch)
        rows = torch.from_numpy(data["rows"])
        if actor is None:
            sizes = (rows.shape[1], WIDTH, WIDTH)
            actor, critic = (policies.network((*sizes, out), generator) for out in (len(DEPTHS), 1))
            for each in actor[-1]:  # begins with all depths alike, as the first batch is played
                each.data.zero_()
            optimiser = torch.optim.Adam([each for pair in (*actor, *critic) for each in pair], lr=1e-3)
        columns = torch.from_numpy(data["columns"])
        with torch.no_grad():
            values = policies.through(critic, rows[None])[0, :, 0].double().numpy()
            old = policies.through(actor, rows[None])[0].log_softmax(dim=1).gather(1, columns[:, None])[:, 0]
        gained = advantages(data, values)
        wanted = torch.from_numpy((gained + values).astype(np.float32))
        gains = torch.from_numpy(((gained - gained.mean()) / (gained.std() + 1e-8)).astype(np.float32))
        for _ in range(PASSES):
            for part in torch.randperm(len(rows), generator=generator).split(128):
                logits = policies.through(actor, rows[None, part])[0]
                off = policies.through(critic, rows[None, part])[0, :, 0] - wanted[part]
                optimiser.zero_grad()
                (surrogate(logits, columns[part], old[part], gains[part]) + 0.5 * off.square().mean()).backward()
                optimiser.step()
    return policies.detached(actor)


def sampled(head: Nets | None, row: Any, draw: np.random.Generator) -> int:
    """A column from the head's distribution; without one all are alike."""
    logits = np.zeros(len(DEPTHS)) if head is None else outputs(head, row)
    odds = np.exp(logits - logits.max())
    return int(draw.choice(len(DEPTHS), p=odds / odds.sum()))


def returns(data: Decisions) -> Floats:
    """What every commitment and all that followed it in its episode earned."""
    result: Floats = np.zeros(len(data["ends"]))
    for i, discount in reversed(list(enumerate(discounts(data)))):
        result[i] = data["rewards"][i] + (discount * result[i + 1] if discount else 0.0)
    return result


def q_head(data: Decisions, steps: int, seed: int) -> Nets:
    """Values of every depth, regressed on returns; what was not executed has no part in the loss."""
    import torch

    wanted, columns = torch.from_numpy(returns(data).astype(np.float32)), torch.from_numpy(data["columns"])
    loss = lambda out, part: (out.gather(2, columns[part][..., None])[..., 0] - wanted[part]).square().mean()
    return policies.fit(data["rows"], loss, len(DEPTHS), seed, steps, width=WIDTH, decay=0.05)


class Learners(campaign.Bench):
    """The pieces of one policy under one condition."""

    def run(self) -> None:
        """Each learner, and its test episodes beside those of the best constant."""
        value = lambda rows: {name: self.validate(rows[name]) for name in rows}
        values = self.kept("constants", lambda: value(rules.CONSTANTS))
        base = max(values, key=values.__getitem__)
        learned = {"dehp": self.dehp(), "q": self.q()}
        self.test({base: rules.CONSTANTS[base], **learned})
        self.kept("validation", lambda: {**values, **value(learned)})

    def decisions(self, choose: Callable[[Any, Any], int], number: int, size: int) -> Decisions:
        """Of the episodes of a batch or round."""
        numbers = self.numbers("branches", 100_000)[60_000:][number * size : (number + 1) * size]
        return episodes(self.arm, self.policy, choose, numbers)

    def trained(self, name: str, learn: Callable[[], Nets]) -> Greedy:
        """A network that is kept, at work on this arm."""
        path = self.folder / f"{name}.npz"
        campaign.piece(path, lambda: policies.arrays(**learn().arrays("nets")))
        return Greedy(self.arm, self.policy, Nets.kept(policies.loaded(path), "nets"))

    def dehp(self) -> Greedy:
        """PPO in batches of episodes."""
        play = lambda choose, batch: self.decisions(choose, batch, BATCH)
        return self.trained("dehp", lambda: ppo(play, EPISODES // BATCH, self.job.seed))

    def q(self) -> Greedy:
        """Random depths first, then the last values with some of them; each round learns from all decisions so far."""
        data: list[Decisions] = []
        join = lambda: {name: np.concatenate([part[name] for part in data]) for name in data[0]}
        learn = lambda: q_head(join(), STEPS, len(data))
        for number in range(ROUNDS):
            last = self.trained(f"q-{number - 1}", learn).nets if number else None
            choose = lambda row, draw, last=last: (
                int(draw.integers(len(DEPTHS)))
                if last is None or draw.random() < RANDOM
                else int(outputs(last, row).argmax())
            )
            path, played = self.folder / f"decisions-{number}.npz", (choose, number, EPISODES // ROUNDS)
            campaign.piece(path, lambda played=played: policies.arrays(**self.decisions(*played)))
            data.append(policies.loaded(path))
        return self.trained("q", learn)


def main() -> None:
    options = campaign.parser(__doc__).parse_args()
    campaign.keep_code(options.out)
    for job in campaign.jobs(options.out, replace(SETTINGS, conditions=campaign.EXACT))[1]:
        if job.task in options.task and job.seed in options.seed:
            Learners(job, job.policy(), Arm(job.task, job.condition, SETTINGS.ticks)).run()
            print(job.task, job.seed, job.condition, flush=True)


if __name__ == "__main__":
    main()
