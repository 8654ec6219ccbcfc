"""How deep should a robot commit? A chunk policy crosses a windy bridge; prints the table of docs/guides/chunks.md.

python docs/figures/chunks.py            # two minutes with torch on one core; draws docs/assets/chunks.svg
python docs/figures/chunks.py --quick    # the same in little, without a figure: seconds
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from recommit import horizon

H, DEPTHS = 16, (1, 2, 4, 8, 16)
#: Where the bridge is, how far from its middle one falls, and the wind on it per tick.
BRIDGE, EDGE, GUST = (0.4, 0.6), 0.08, 0.025
STEP = np.array([0.02, 0.06])
#: Ticks until an episode is over, and ticks that a look takes.
DEADLINE, LATENCY = 110, 3
FALL = 300.0


class Crossing(gymnasium.vector.VectorEnv):
    """Points that go from left to right, over a bridge where the wind blows; ``step`` moves those in ``rows``."""

    def __init__(self, count: int) -> None:
        self.num_envs = count
        self.single_observation_space = spaces.Box(-1, 2, (2,), np.float64)
        self.single_action_space = spaces.Box(-1, 1, (2,), np.float64)

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        """All at the left."""
        self.rng = np.random.default_rng(seed)
        self.at = np.stack([np.full(self.num_envs, 0.05), self.rng.uniform(0.35, 0.65, self.num_envs)], axis=1)
        self.ticks = np.zeros(self.num_envs)
        self.state = np.zeros(self.num_envs, int)  # 0 on its way, 1 arrived, 2 fallen, 3 late
        return self.at.copy(), {}

    @property
    def running(self):
        """The environments that are still on their way."""
        return np.flatnonzero(self.state == 0)

    def wait(self, rows, ticks: float) -> None:
        """A look takes time, and the point stands still."""
        self.ticks[rows] += ticks

    def step(self, actions, rows=None):
        """One tick."""
        rows = np.arange(self.num_envs) if rows is None else rows
        windy = (self.at[rows, 0] >= BRIDGE[0]) & (self.at[rows, 0] < BRIDGE[1])
        gusts = windy * self.rng.normal(0, GUST, self.num_envs)[rows]
        self.at[rows] += np.clip(actions, -1, 1) * STEP
        self.at[rows, 1] += gusts
        self.ticks[rows] += 1
        x, y = self.at[rows].T
        fallen = (x >= BRIDGE[0]) & (x < BRIDGE[1]) & (np.abs(y - 0.5) > EDGE)
        late = self.ticks[rows] > DEADLINE
        self.state[rows] = np.select([fallen, late, x >= 0.95], [2, 3, 1], 0)
        return self.at.copy(), (self.state == 1) * 1.0, self.state == 1, self.state > 1, {}


def expert(at, rng):
    """Straight on, and back to the middle; a hand that shakes a little."""
    wanted = np.stack([np.ones(len(at)), (0.5 - at[:, 1]) / STEP[1]], axis=1)
    return np.clip(wanted, -1, 1) + rng.normal(0, 0.05, at.shape)


def demonstrations(count: int):
    """Positions [N, 2], and the expert's next H actions from there [N, H, 2]."""
    env, rng = Crossing(count), np.random.default_rng(1)
    env.reset(seed=1)
    seen, done = [], []
    for _ in range(64):
        seen.append(env.at.copy())
        done.append(expert(env.at, rng))
        env.step(done[-1])
    actions = np.stack(done, axis=1)
    chunks = [actions[:, t : t + H] for t in range(len(seen) - H)]
    return np.concatenate(seen[: len(chunks)]), np.concatenate(chunks)


def net(outputs: int) -> nn.Module:
    """A small perceptron on positions."""
    return nn.Sequential(nn.Linear(6, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, outputs))


def inputs(at) -> torch.Tensor:
    """The position, and its waves: small nets see no edges in numbers alone."""
    waves = [f(2 * np.pi * k * at[:, 0]) for k in (1, 3) for f in (np.sin, np.cos)]
    return torch.tensor(np.stack([2 * at[:, 0] - 1, 5 * (at[:, 1] - 0.5), *waves], axis=1), dtype=torch.float32)


def fit(model: nn.Module, loss, rows: int, steps: int) -> nn.Module:
    """Adam with a falling rate on batches of 512."""
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        optimiser.zero_grad()
        loss(torch.randint(rows, (512,), generator=generator)).backward()
        optimiser.step()
        schedule.step()
    return model.eval()


class Cloned:
    """Behaviour cloning: the mean of the next H actions, and how far the expert strays from it at each place."""

    def __init__(self, count: int, steps: int) -> None:
        torch.manual_seed(0)
        at, chunks = demonstrations(count)
        x, y = inputs(at), torch.tensor(chunks, dtype=torch.float32).flatten(1)
        self.model = net(4 * H)

        def loss(rows):
            mean, log = self.model(x[rows]).chunk(2, dim=1)
            return (log + 0.5 * ((y[rows] - mean) / log.exp()) ** 2).mean()

        fit(self.model, loss, len(x), steps)
        self.rng = np.random.default_rng(2)

    def plans(self, at) -> horizon.Plans:
        """Means, 16 samples, exact entropies, and the positions as features."""
        with torch.no_grad():
            mean, log = (part.numpy().reshape(-1, H, 2) for part in self.model(inputs(at)).chunk(2, dim=1))
        samples = mean[:, None] + np.exp(log)[:, None] * self.rng.normal(size=(len(at), 16, H, 2)).astype(np.float32)
        entropies = (log + 0.5 * np.log(2 * np.pi * np.e)).sum(axis=2).astype(np.float64)
        return horizon.Plans(mean, samples=samples, features=at, entropies=entropies)


@dataclass(frozen=True)
class Random(horizon.Rule):
    """Any depth: what the learned rule learns from."""

    def propose(self, plans):
        """Drawn from the bytes of the plan, so that a run can be repeated."""
        rng = np.random.default_rng(np.abs(plans.features).sum().view(np.uint64))
        return rng.choice(DEPTHS, len(plans))


@dataclass(frozen=True)
class Learned(horizon.Rule):
    """The depth with the least expected ticks; a fall counts as 300."""

    model: nn.Module

    def propose(self, plans):
        """The least of five outputs."""
        with torch.no_grad():
            return np.array(DEPTHS)[self.model(inputs(plans.features)).argmin(dim=1).numpy()]


@dataclass
class Result:
    """One rule's episodes, and every look: where it was, and how deep."""

    env: Crossing
    looks: np.ndarray  # [N, 5]: environment, ticks before, x, y, depth

    @property
    def row(self):
        """Arrived, fallen and late in percent, ticks of those that arrived, looks per episode."""
        share = [100 * float((self.env.state == state).mean()) for state in (1, 2, 3)]
        ticks = self.env.ticks[self.env.state == 1]
        return *share, float(ticks.mean()) if len(ticks) else float("nan"), len(self.looks) / self.env.num_envs


def play(policy: Cloned, rule, count: int, seed: int, latency: float = LATENCY) -> Result:
    """All episodes side by side, with a queue for each."""
    env, queue, looks = Crossing(count), horizon.Queue(rule, count), []
    env.reset(seed=seed)
    while len(env.running):
        rows = queue.empty(env.running)
        if len(rows):
            before, at = env.ticks[rows], env.at[rows]
            env.wait(rows, latency)
            depths = queue.fill(policy.plans(at), rows)
            looks.append(np.column_stack([rows, before, at, depths]))
        running = env.running
        env.step(queue.pop(running), running)
    return Result(env, np.concatenate(looks))


def learn(policy: Cloned, count: int, rounds: int, steps: int) -> Learned:
    """Fitted Q iteration on looks of random depths: each is followed by the best depth at the next."""
    result = play(policy, Random(), count, seed=3)
    looks = result.looks[np.lexsort((result.looks[:, 1], result.looks[:, 0]))]
    last = np.append(looks[1:, 0] != looks[:-1, 0], True)
    ends = np.where(last, result.env.ticks[looks[:, 0].astype(int)], np.append(looks[1:, 1], 0))
    fall = last & (result.env.state[looks[:, 0].astype(int)] != 1)
    cost = torch.tensor((ends - looks[:, 1] + FALL * fall) / 100, dtype=torch.float32)
    x, on = inputs(looks[:, 2:4]), torch.tensor(~last)
    depth = torch.tensor(np.searchsorted(DEPTHS, looks[:, 4]))
    torch.manual_seed(1)
    model, target = net(len(DEPTHS)), cost
    for _ in range(rounds):
        values = target

        def loss(rows, values=values):
            return ((model(x[rows]).gather(1, depth[rows, None])[:, 0] - values[rows]) ** 2).mean()

        fit(model, loss, len(x), steps)
        with torch.no_grad():
            target = cost + on * model(x.roll(-1, 0)).min(dim=1).values
    return Learned(model)


def rules(policy: Cloned, learned: Learned, count: int):
    """Every rule of the table; those with a threshold take the best of ten on episodes of their own."""
    result = {f"fixed-{depth}": horizon.Fixed(depth) for depth in DEPTHS}
    result["entropy-jump"] = horizon.EntropyJump()
    families = {
        "disagreement": (lambda v: horizon.Disagreement(v, least=1), np.linspace(1.1, 5, 10)),
        "agreement": (lambda v: horizon.Agreement(0.5, tolerance=v), np.linspace(0.1, 0.9, 10)),
        "consecutive": (lambda v: horizon.Consecutive(v, first=8), np.linspace(0.05, 0.8, 10)),
    }
    for name, (make, values) in families.items():
        scores = [play(policy, make(float(v)), count, seed=4).row[0] for v in values]
        result[name] = make(float(values[int(np.argmax(scores))]))
    return {**result, "learned": learned}


def draw(results: dict[str, Result]) -> None:
    """The depth of each rule by the place of the observation; and arrivals against observations."""
    from recommit.report import plotting

    with plotting.style(**{"text.parse_math": True}):
        figure = plotting.figure(9, 3.7)
        panels(figure, results)
        plotting.save(figure, Path(__file__).resolve().parents[1] / "assets" / "chunks.svg")


#: Where a name stands beside its mark, in points, where it would meet another.
BESIDE = {
    "agreement": (-40, -3),
    "disagreement": (-18, 6),
    "consecutive": (5, -9),
    "fixed-8": (5, 5),
    "fixed-1": (-4, 7),
    "fixed-2": (-14, 7),
    "entropy-jump": (-22, 18),
}


def panels(figure, results: dict[str, Result]) -> None:
    left, right = figure.subplots(1, 2)
    left.axvspan(*BRIDGE, color="#e7f5ff")
    bins = np.linspace(0.05, 0.95, 19)
    for name in ("fixed-4", "disagreement", "agreement", "learned"):
        looks = results[name].looks
        place = np.digitize(looks[:, 2], bins)
        there = [i for i in range(1, len(bins)) if (place == i).any()]
        left.plot(
            [(bins[i] + bins[i - 1]) / 2 for i in there], [looks[place == i, 4].mean() for i in there], ".-", label=name
        )
    left.set(xlabel="place of the observation (the bridge is blue)", ylabel="mean depth", yscale="log", yticks=DEPTHS)
    left.set_yticklabels(DEPTHS)
    left.legend(fontsize=8)
    for name, result in results.items():
        arrived, *_, looks = result.row
        right.plot(
            looks, arrived, "s" if name.startswith("fixed") else "o", color="#868e96" if "fixed" in name else "#d9480f"
        )
        right.annotate(name, (looks, arrived), BESIDE.get(name, (5, 3)), textcoords="offset points", fontsize=7)
    right.set(xlabel="observations per episode", ylabel="arrived in time, %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few episodes and steps, no figure")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    few, many, steps = (40, 60, 60) if quick else (1000, 4000, 3000)
    policy = Cloned(few, steps)
    learned = learn(policy, few, 2 if quick else 12, steps // 6)
    results = {}
    print("| rule | arrived | fell | late | ticks | observations |\n|---|---|---|---|---|---|")
    for name, rule in rules(policy, learned, few).items():
        results[name] = play(policy, rule, many, seed=5)
        arrived, fell, late, ticks, looks = results[name].row
        print(f"| {name} | {arrived:.1f} % | {fell:.1f} % | {late:.1f} % | {ticks:.1f} | {looks:.1f} |")
    depths = Counter(results["learned"].looks[:, 4].astype(int).tolist())
    print("learned depths:", ", ".join(f"{depth}: {depths[depth] / sum(depths.values()):.0%}" for depth in DEPTHS))
    if not quick:
        draw(results)


if __name__ == "__main__":
    main()
