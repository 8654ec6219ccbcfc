"""Train a depth head for a chunk policy: how many actions of each chunk to execute before the next query.

    python depth_head.py        # some 100 seconds of one core; needs numpy, gymnasium, torch and recommit.horizon

One file to copy. Replace ``make_env`` and ``ChunkPolicy`` by your own environment and policy; everything else stays.

1. A chunk policy is there: here it imitates a swing-up controller of Pendulum-v1, sixteen torques at a time.
2. Episodes in which every depth is drawn at random give transitions: what was observed, the chunk, its depth, the
   reward of the commitment less the price of its query, and what was observed next. Neither the simulator's state nor
   the policy's gradients are needed, so a robot or a policy behind a server will do.
3. The head is a Q-function over depths, fitted to these transitions: a semi-Markov decision process whose actions are
   the depths (Sutton, Precup and Singh 1999). It reads the observation and the chunk.
4. Every constant depth plays validation seeds. The best of them and the head then play the same fresh seeds; the
   differences are paired, with 95 % intervals.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import torch
from torch import nn

from recommit import horizon

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

HORIZON = 16
#: What the head chooses from; constants are tried at every depth.
DEPTHS = (1, 2, 4, 6, 8, 12, 16)
#: First seeds of the episodes of each kind.
DEMONSTRATIONS, TRAINING, VALIDATION, TEST = 100_000, 200_000, 300_000, 400_000


def make_env() -> gymnasium.Env[Any, Any]:
    """The environment."""
    return gymnasium.make("Pendulum-v1")


# 1. The chunk policy -------------------------------------------------------------------------------------------------


def controller(observation: NDArray[np.float32]) -> NDArray[np.float32]:
    """Swing up by energy, then balance: whom the policy imitates."""
    cos, sin, speed = observation
    swing = np.copysign(2.0, -speed if speed**2 / 6 + 5 * (cos - 1) > 0 else speed)
    balance = -16 * np.arctan2(sin, cos) - 4 * speed
    return np.clip([balance if cos > 0.9 else swing], -2, 2).astype(np.float32)


def demonstrations(episodes: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Observations, and the next ``HORIZON`` actions of the controller, whose hand shakes: so it is seen to recover."""
    env, rng = make_env(), np.random.default_rng(0)
    observations, chunks = [], []
    for seed in range(DEMONSTRATIONS, DEMONSTRATIONS + episodes):
        (observation, _), over, seen, done = env.reset(seed=seed), False, [], []
        while not over:
            seen.append(observation)
            done.append(controller(observation))
            shaken = done[-1] + rng.normal(size=1).astype(np.float32)
            observation, _, terminated, truncated, _ = env.step(shaken)
            over = terminated or truncated
        for tick in range(len(seen) - HORIZON + 1):
            observations.append(seen[tick])
            chunks.append(np.stack(done[tick : tick + HORIZON]))
    return np.stack(observations), np.stack(chunks)


class ChunkPolicy:
    """Observations [N, ...] -> chunks [N, H, D], and what the head reads beside them."""

    def __init__(self, episodes: int, steps: int) -> None:
        observations, chunks = map(torch.from_numpy, demonstrations(episodes))
        self.net = mlp(observations.shape[1], chunks[0].numel())

        def loss(rows: torch.Tensor) -> torch.Tensor:
            return (self.net(observations[rows]).view(-1, *chunks.shape[1:]) - chunks[rows]).square().mean()

        fit(self.net, loss, len(observations), steps)

    @torch.no_grad()
    def plan(self, observations: NDArray[np.float32]) -> horizon.Plans:
        chunks = self.net(torch.from_numpy(observations)).view(len(observations), HORIZON, -1).clamp(-2, 2)
        return horizon.Plans(chunks.numpy(), features=observations)


# 2. Episodes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Commitment:
    """A transition of the semi-Markov decision process."""

    observation: NDArray[np.float32]
    chunk: NDArray[np.float32]
    depth: int
    rewards: list[float]
    after: NDArray[np.float32]
    terminated: bool
    #: The time limit: the commitment was cut, or nothing is known of what follows.
    truncated: bool


@dataclass(frozen=True)
class Episode:
    """How one ended."""

    ret: float
    commitments: list[Commitment]

    @property
    def queries(self) -> int:
        return len(self.commitments)


def play(make: Callable[[], Any], policy: Any, rule: horizon.Rule, seeds: range, batch: int = 64) -> list[Episode]:
    """An episode of each seed, ``batch`` of them side by side, each queried again when its own queue is empty."""
    if len(seeds) > batch:
        return play(make, policy, rule, seeds[:batch], batch) + play(make, policy, rule, seeds[batch:], batch)
    envs, queue = [make() for _ in seeds], horizon.Queue(rule, len(seeds))
    now = [np.asarray(env.reset(seed=seed)[0], np.float32) for env, seed in zip(envs, seeds, strict=True)]
    running, episodes = np.arange(len(seeds)), [Episode(0.0, []) for _ in seeds]
    chunks: list[Any] = [None for _ in seeds]
    begun, rewards = [*now], [list[float]() for _ in seeds]

    def query(rows: NDArray[np.intp]) -> horizon.Plans:
        plans = policy.plan(np.stack([now[row] for row in rows]))
        for row, chunk in zip(rows, plans.actions, strict=True):
            chunks[row], begun[row], rewards[row] = chunk, now[row], []
        return plans  # type: ignore[no-any-return]

    while len(running):
        actions, over = queue.act(query, running), []
        for row, action in zip(running, actions, strict=True):
            observation, reward, terminated, truncated, _ = envs[row].step(action)
            now[row] = np.asarray(observation, np.float32)
            rewards[row].append(float(reward))
            if queue.remaining[row] == 0 or terminated or truncated:
                depth = len(rewards[row]) + int(queue.remaining[row])
                ends = bool(terminated), bool(truncated and not terminated)
                episodes[row].commitments.append(
                    Commitment(begun[row], chunks[row], depth, rewards[row], now[row], *ends)
                )
            if terminated or truncated:
                over.append(row)
        running = np.setdiff1d(running, over)
    return [Episode(sum(sum(each.rewards) for each in e.commitments), e.commitments) for e in episodes]


@dataclass(frozen=True)
class Random(horizon.Rule):
    """Depths drawn at random, to learn from."""

    rng: np.random.Generator

    def propose(self, plans: horizon.Plans) -> NDArray[np.integer]:
        return self.rng.choice(self.allowed(plans.horizon), len(plans))


# 3. The depth head ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DepthHead(horizon.Rule):
    """The depth of the highest value."""

    net: nn.Module

    @torch.no_grad()
    def propose(self, plans: horizon.Plans) -> NDArray[np.integer]:
        assert plans.features is not None
        values = self.net(inputs(plans.features, plans.actions))
        chosen: NDArray[np.integer] = self.allowed(plans.horizon)[values.argmax(-1).numpy()]
        return chosen


def inputs(observations: Any, chunks: Any) -> torch.Tensor:
    """What the head reads, [N, width]."""
    parts = [torch.as_tensor(np.asarray(each, np.float32)).flatten(1) for each in (observations, chunks)]
    return torch.cat(parts, dim=1)


def train_head(
    episodes: list[Episode],
    policy: Any,
    depths: tuple[int, ...],
    price: float,
    discount: float,
    rounds: int,
    steps: int,
) -> DepthHead:
    """Fitted Q iteration: in every round the values of the last one say what follows a commitment."""
    every = [each for episode in episodes for each in episode.commitments if not each.truncated]
    read = inputs([e.observation for e in every], [e.chunk for e in every])
    mean, spread = read.mean(0), read.std(0) + 1e-3
    after = [policy.plan(part) for part in np.array_split(np.stack([e.after for e in every]), len(every) // 4096 + 1)]
    follow = torch.cat([inputs(plans.features, plans.actions) for plans in after])
    chosen = torch.tensor([depths.index(e.depth) for e in every])[:, None]
    gains = torch.tensor([sum(discount**i * r for i, r in enumerate(e.rewards)) - price for e in every])
    scale = gains.std() + 1e-6
    later = torch.tensor([0.0 if e.terminated else discount ** len(e.rewards) for e in every])
    net = nn.Sequential(Normalised(mean, spread), mlp(read.shape[1], len(depths)))
    targets = gains / scale

    def loss(rows: torch.Tensor) -> torch.Tensor:
        return nn.functional.smooth_l1_loss(net(read[rows]).gather(1, chosen[rows])[:, 0], targets[rows])

    for _ in range(rounds):
        fit(net, loss, len(every), steps)
        with torch.no_grad():
            targets = gains / scale + later * net(follow).max(1).values
    return DepthHead(net, depths=depths)


class Normalised(nn.Module):
    """Inputs with mean 0 and deviation 1."""

    def __init__(self, mean: torch.Tensor, spread: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("spread", spread)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) / self.spread


def mlp(inward: int, outward: int, width: int = 128) -> nn.Module:
    """Two hidden layers."""
    return nn.Sequential(
        *(nn.Linear(inward, width), nn.ReLU()), *(nn.Linear(width, width), nn.ReLU()), nn.Linear(width, outward)
    )


def fit(net: nn.Module, loss: Callable[[torch.Tensor], torch.Tensor], rows: int, steps: int, batch: int = 256) -> None:
    """Adam at a falling rate."""
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(torch.randint(rows, (batch,))).backward()
        optimizer.step()
        schedule.step()


# 4. The comparison ---------------------------------------------------------------------------------------------------


def figures(episodes: list[Episode], price: float) -> NDArray[np.float64]:
    """[episodes, 3] value, return and queries."""
    return np.array([(e.ret - price * e.queries, e.ret, e.queries) for e in episodes])


def interval(values: NDArray[np.float64]) -> str:
    """The mean and its 95 % interval; episodes are many, so the normal law will do."""
    half = 1.96 * values.std(ddof=1) / len(values) ** 0.5
    return f"{values.mean():.2f} ({values.mean() - half:.2f} .. {values.mean() + half:.2f})"


def main() -> None:
    """Everything, in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--price", type=float, default=2.0, help="of a query, in the unit of the return")
    parser.add_argument("--discount", type=float, default=0.98, help="per action")
    parser.add_argument("--demonstrations", type=int, default=200, help="episodes that the policy imitates")
    parser.add_argument("--episodes", type=int, default=1000, help="episodes that the head learns from")
    parser.add_argument("--steps", type=int, default=6000, help="of the policy; the head has 15 rounds of a tenth")
    parser.add_argument("--validation", type=int, default=100, help="episodes by which the best constant is chosen")
    parser.add_argument("--test", type=int, default=512, help="fresh episodes of both")
    parser.add_argument("--seed", type=int, default=0, help="of networks and of random depths")
    parser.add_argument("--figure", default="", help="a file for a picture of it; needs matplotlib")
    asked = parser.parse_args()
    torch.set_num_threads(1)  # more are slower for networks of this size
    torch.manual_seed(asked.seed)

    policy = ChunkPolicy(asked.demonstrations, asked.steps)
    constants, seeds = {}, range(VALIDATION, VALIDATION + asked.validation)
    for depth in range(1, HORIZON + 1):
        constants[depth] = figures(play(make_env, policy, horizon.Fixed(depth), seeds), asked.price).mean(0)
        value, ret, queries = constants[depth]
        print(f"constant depth {depth:2d}: value {value:8.2f}, return {ret:8.2f}, {queries:5.1f} queries", flush=True)
    best = max(constants, key=lambda depth: float(constants[depth][0]))

    explore = Random(np.random.default_rng(asked.seed), depths=DEPTHS)
    learned = play(make_env, policy, explore, range(TRAINING, TRAINING + asked.episodes))
    head = train_head(
        learned, policy, DEPTHS, price=asked.price, discount=asked.discount, rounds=15, steps=asked.steps // 10
    )

    rules: dict[str, horizon.Rule] = {f"constant depth {best}": horizon.Fixed(best), "depth head": head}
    played = {name: play(make_env, policy, rule, range(TEST, TEST + asked.test)) for name, rule in rules.items()}
    print(f"\n{asked.test} fresh seeds, {asked.price:g} a query")
    ends = {name: figures(episodes, asked.price) for name, episodes in played.items()}
    for name, each in ends.items():
        print(f"{name}: value {interval(each[:, 0])}, return {interval(each[:, 1])}, {each[:, 2].mean():.1f} queries")
    apart = ends["depth head"] - ends[f"constant depth {best}"]
    print(
        "head minus constant:", *(f"{n} {interval(v)}" for n, v in zip(("value", "return"), apart.T[:2], strict=True))
    )
    taken = [each for episode in played["depth head"] for each in episode.commitments]
    shares = [np.mean([each.depth == depth for each in taken]) for depth in DEPTHS]
    print("depths of the head:", *(f"{depth}: {share:.0%}" for depth, share in zip(DEPTHS, shares, strict=True)))
    if asked.figure:
        draw(asked.figure, constants, figures(play(make_env, policy, head, seeds), asked.price).mean(0), taken)


def draw(path: str, constants: dict[int, Any], head: Any, taken: list[Commitment]) -> None:
    """Return against queries, and the depth that is chosen at each angle and speed."""
    from matplotlib.figure import Figure

    figure = Figure((9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(*zip(*[(each[2], each[1]) for each in constants.values()], strict=True), "o-", label="constant depths")
    for depth in (1, 4, 9, 12, 16):
        left.annotate(str(depth), constants[depth][[2, 1]], (4, -11), textcoords="offset points")
    left.plot(head[2], head[1], "*", markersize=14, label="depth head")
    left.set(xscale="log", xlabel="queries per episode", ylabel="return, validation seeds")
    left.set_xticks([12.5, 25, 50, 100, 200], ["12.5", "25", "50", "100", "200"], minor=False)
    left.set_xticks([], minor=True)
    left.legend(loc="lower right")
    seen, colours = np.stack([each.observation for each in taken]), [DEPTHS.index(each.depth) for each in taken]
    order = np.random.default_rng(0).permutation(len(seen))[:6000]
    angle = np.degrees(np.arctan2(seen[:, 1], seen[:, 0]))
    dots = right.scatter(angle[order], seen[order, 2], c=np.array(colours)[order], s=4, cmap="viridis", rasterized=True)
    right.set(xlabel="angle (0 is upright)", ylabel="speed")
    bar = figure.colorbar(dots, ticks=range(len(DEPTHS)), label="depth of the head")
    bar.ax.set_yticklabels(map(str, DEPTHS))
    figure.savefig(path, dpi=150, metadata={"Date": None})


if __name__ == "__main__":
    main()
