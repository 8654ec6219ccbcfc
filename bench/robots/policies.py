"""Chunk policies that are trained in minutes: an ensemble of five small networks predicts 32 actions, and one more what
will be observed after so many of them. Kept and run in numpy."""

from __future__ import annotations

import io
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from bench.robots.tasks import DEPTHS, Arm, H, starts

from recommit import horizon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MEMBERS, WIDTH = 5, 256
#: How far the demonstrator's hand shakes.
SHAKE = 0.15
#: Numbers of an observation that change: hand, gripper and objects, without the last frame and the goal.
SEEN = 18


@dataclass(frozen=True, eq=False)
class Nets:
    """Networks of one shape side by side: rows [members, N, in] -> [members, N, out], or one net for [N, in]."""

    layers: list[tuple[Floats, Floats]]

    def __call__(self, rows: Floats) -> Floats:
        """All members."""
        for number, (weight, bias) in enumerate(self.layers):
            rows = rows @ weight + bias
            if number + 1 < len(self.layers):
                rows = np.maximum(rows, 0.0)
        return rows

    def arrays(self, name: str) -> dict[str, Any]:
        """To be kept."""
        return {
            f"{name}-{i}-{part}": array
            for i, pair in enumerate(self.layers)
            for part, array in zip("wb", pair, strict=True)
        }

    @classmethod
    def kept(cls, arrays: Any, name: str) -> Nets:
        """From what was kept."""
        count = sum(each.startswith(f"{name}-") and each.endswith("-w") for each in arrays)
        return cls([(arrays[f"{name}-{i}-w"], arrays[f"{name}-{i}-b"]) for i in range(count)])


def arrays(**values: Any) -> bytes:
    """Arrays in one file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **values)
    return buffer.getvalue()


def loaded(path: Any) -> dict[str, Any]:
    """The arrays of a file."""
    with np.load(path, allow_pickle=False) as kept:
        return dict(kept)


def network(sizes: tuple[int, ...], generator: Any, members: int = 1) -> list[tuple[Any, Any]]:
    """Weights and biases in torch, as ``Nets`` has them."""
    import torch

    layers = []
    for wide, narrow in pairwise(sizes):
        scale = (2.0 / wide) ** 0.5
        weight = torch.randn(members, wide, narrow, generator=generator) * scale
        layers.append((weight.requires_grad_(), torch.zeros(members, 1, narrow, requires_grad=True)))
    return layers


def through(layers: list[tuple[Any, Any]], rows: Any) -> Any:
    """[members, N, in] -> [members, N, out] in torch."""
    import torch

    for number, (weight, bias) in enumerate(layers):
        rows = torch.baddbmm(bias, rows, weight)
        rows = rows if number + 1 == len(layers) else rows.relu()
    return rows


def detached(layers: list[tuple[Any, Any]]) -> Nets:
    """In numpy."""
    return Nets([tuple(each.detach().numpy().copy() for each in pair) for pair in layers])


def fit(
    inputs: Floats,
    loss: Any,
    outputs: int,
    seed: int,
    steps: int,
    *,
    members: int = MEMBERS,
    width: int = WIDTH,
    decay: float = 1e-5,
) -> Nets:
    """Adam with a falling rate; ``loss(outputs [members, batch, out], rows [members, batch])``."""
    import torch

    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    layers = network((inputs.shape[1], width, width, outputs), generator, members)
    optimiser = torch.optim.AdamW([each for pair in layers for each in pair], lr=1e-3, weight_decay=decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    data = torch.from_numpy(inputs)
    for _ in range(steps):
        rows = torch.randint(len(data), (members, 256), generator=generator)
        out = through(layers, data[rows])
        optimiser.zero_grad()
        loss(out, rows).backward()
        optimiser.step()
        schedule.step()
    return detached(layers)


def regress(inputs: Floats, wanted: Any, seed: int, steps: int, **options: Any) -> Nets:
    """``fit`` by squared errors from ``wanted`` [N, out]."""
    import torch

    targets = torch.from_numpy(np.asarray(wanted, np.float32))
    return fit(inputs, lambda out, rows: (out - targets[rows]).square().mean(), len(targets[0]), seed, steps, **options)


@dataclass(frozen=True, eq=False)
class Learned:
    """Networks that read rows by their means and deviations; what is kept of them are their fields."""

    mean: Floats
    scale: Floats

    def inputs(self, rows: Any) -> Floats:
        """[N, columns] as the networks read them."""
        return np.clip((np.atleast_2d(rows) - self.mean) / self.scale, -5, 5).astype(np.float32)

    def bytes(self) -> bytes:
        """To be kept."""
        every: dict[str, Any] = {}
        for name, each in vars(self).items():
            every |= each.arrays(name) if isinstance(each, Nets) else {name: each}
        return arrays(**every)

    @classmethod
    def read(cls, path: Any) -> Self:
        """From a file."""
        kept = loaded(path)
        return cls(**{each.name: kept.get(each.name, Nets.kept(kept, each.name)) for each in fields(cls)})


def spread(rows: Any) -> tuple[Floats, Floats]:
    """Means and standard deviations of columns; 1 for those that hardly vary."""
    scale = rows.std(axis=0)
    return rows.mean(axis=0).astype(np.float32), np.where(scale < 1e-4, 1.0, scale).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Policy(Learned):
    """Plans of an observation, and what is expected after some of them."""

    actors: Nets
    world: Nets

    def __call__(self, observation: Any) -> horizon.Plans:
        """The mean of the members, and each of them as a sample."""
        chunks = self.actors(np.broadcast_to(self.inputs(observation), (MEMBERS, 1, len(self.mean))))
        samples = np.clip(chunks.reshape(1, MEMBERS, H, 4), -1, 1)
        mean = samples.mean(axis=1)
        closed = mean[:, :, 3] > 0
        return horizon.Plans(mean, samples=samples, events=np.diff(closed, axis=1, prepend=closed[:, :1]))

    def expected(self, observations: Any, plans: Floats, depths: Any) -> Floats:
        """[N, 18] what will be seen after the first ``depths`` [N] actions of the plans [N, H, 4]."""
        change = self.world(imagined(self.inputs(observations), plans, depths)[None])[0]
        return np.atleast_2d(observations)[:, :SEEN] + change * self.scale[:SEEN]


def imagined(inputs: Floats, plans: Floats, depths: Any) -> Floats:
    """What the world model reads: the observation, the actions that run, and how many."""
    runs = np.arange(H) < np.asarray(depths)[:, None]
    actions = (plans * runs[:, :, None]).reshape(len(plans), -1)
    return np.concatenate([inputs, actions, np.asarray(depths)[:, None] / H], axis=1).astype(np.float32)


def demonstrations(task: str, seed: int, count: int, ticks: int) -> tuple[Floats, Floats]:
    """Moments of solved episodes of a hand that shakes, which go on beyond success: observations [N, H + 1, 39] and
    actions [N, H, 4] from there on."""
    from recommit.adapters.metaworld import expert

    arm, act, solved = Arm(task, "still", ticks + H), expert(f"{task}-v3"), 0
    moments: list[tuple[Any, Any]] = []
    for number in starts("demonstrations", seed, 4 * count):
        arm.reset(number)
        noise, left = np.random.default_rng(number), H
        seen, done = [], []
        while left and not (arm.t >= ticks and left == H):
            action = act(arm.observation)
            action[:3] += noise.normal(0, SHAKE, 3)
            seen.append(np.array(arm.observation))
            done.append(np.clip(action, -1, 1))
            arm.over = False  # on beyond success, so that every plan has its actions
            arm.commit([done[-1]])
            left -= arm.success or left < H
        if not left:
            moments += [(seen[t : t + H + 1], done[t : t + H]) for t in range(len(seen) - H)]
            solved += 1
        if solved == count:
            break
    if solved < count // 2:
        raise RuntimeError(f"{task}: expected {count} solved demonstrations, got {solved}")
    observed, actions = zip(*moments, strict=True)
    return np.array(observed), np.array(actions, np.float32)


def train(task: str, seed: int, count: int, steps: int, ticks: int) -> Policy:
    """From demonstrations."""
    seen, chunks = demonstrations(task, seed, count, ticks)
    policy = Policy(*spread(seen[:, 0]), Nets([]), Nets([]))
    inputs, rng = policy.inputs(seen[:, 0]), np.random.default_rng(seed)
    again = rng.integers(len(chunks), size=4 * len(chunks))
    depths = rng.choice(DEPTHS, len(again))
    change = (seen[again, depths, :SEEN] - seen[again, 0, :SEEN]) / policy.scale[:SEEN]
    actors = regress(inputs, chunks.reshape(len(chunks), -1), seed, steps)
    world = regress(imagined(inputs[again], chunks[again], depths), change, seed + 1, steps, members=1)
    return Policy(policy.mean, policy.scale, actors, world)
