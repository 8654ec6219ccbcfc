"""PPO from reward alone on Sokoban, in one file: ``python docs/examples/ppo_sokoban.py --minutes 8 --seed 0``.

After CleanRL's ``ppo.py``: one network, clipped objective, GAE, Adam. Environments are compiled, so nearly all of the
time is the network's. It is tested on 1,024 levels, of which none is a training level, turned or mirrored, by the
likeliest action; the first row is of random actions that change the board. Needs ``pip install '.[train,envs]'``.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time

import gymnasium
import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn

import recommit

ENVS, STEPS, EPOCHS, BATCH = 512, 16, 1, 1024
GAMMA, LAMBDA, CLIP, ENTROPY, VALUE, RATE = 0.97, 0.95, 0.2, 0.01, 0.5, 1e-3


class Net(nn.Module):
    """Policy and value. A convolution learns more per step, at ten times the cost, and so less per second of a CPU."""

    def __init__(self, inputs: int, width: int = 256) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(inputs, width), nn.Linear(width, width)
        self.heads = nn.Linear(width, 5)
        nn.init.orthogonal_(self.heads.weight, 0.01)

    def forward(self, planes: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log probabilities of the actions that change the board, and its value."""
        x = F.relu(self.first(planes.flatten(1)))
        out = self.heads(x + F.relu(self.second(x)))
        return out[:, :4].masked_fill(~mask, -1e9).log_softmax(-1), out[:, 4]


def make(levels: np.ndarray, envs: int) -> gymnasium.vector.VectorEnv:
    """Levels side by side; 120 actions an episode."""
    options = {"observation": "onehot", "max_steps": 120, "autoreset_mode": "SAME_STEP"}
    return gymnasium.make_vec("recommit/Sokoban-v0", num_envs=envs, levels=levels, **options)


def tensors(observation: np.ndarray, info: dict[str, np.ndarray]) -> tuple[Tensor, Tensor]:
    """Planes without the wall around the board, and which actions change it."""
    mask = torch.from_numpy(info["action_mask"].copy())
    mask[~mask.any(dim=1)] = True
    return torch.from_numpy(observation[:, :, 1:-1, 1:-1].astype(np.float32)), mask


@torch.no_grad()
def solved(net: Net | None, levels: np.ndarray) -> float:
    """Share of the levels that the likeliest actions solve, each played once; without a network, random ones."""
    envs = make(levels, len(levels))
    observation, info = envs.reset(seed=0, options={"level": np.arange(len(levels))})
    running, won = np.ones(len(levels), bool), 0
    while running.any():
        planes, mask = tensors(observation, info)
        logs = net(planes, mask)[0] if net else mask.float().multinomial(1)
        actions = logs.argmax(-1) if net else logs[:, 0]
        observation, reward, over, cut, info = envs.step(actions.numpy())
        won += int((reward[running] > 0).sum())
        running &= ~(over | cut)
    return won / len(levels)


def main() -> None:
    """Train, and print a curve as CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--size", type=int, default=7, help="rows and columns")
    parser.add_argument("--boxes", type=int, default=1, help="of every level")
    parser.add_argument("--bank", type=int, default=200_000, help="levels to train on")
    parser.add_argument("--minutes", type=float, default=8, help="of CPU time")
    parser.add_argument("--seed", type=int, default=0, help="of network, levels and actions")
    parser.add_argument("--out", help="file for the weights, as safetensors")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # threads of so small a network wait for each other
    torch.manual_seed(arguments.seed)
    task = recommit.Sokoban(arguments.size, arguments.boxes)
    levels = task.generate(arguments.bank, seed=arguments.seed).states
    fresh = task.generate(4096, seed=1_000_000).states
    fresh = fresh[~np.isin(task.digests(fresh), task.digests(levels))][:1024]
    lengths = np.percentile(task.distance(fresh), (25, 50, 75)).astype(int)
    print(f"{len(fresh):,} test levels; quartiles of their optimal lengths: {lengths}", file=sys.stderr)
    envs = make(levels, ENVS)
    observation, info = envs.reset(seed=arguments.seed)
    planes, mask = tensors(observation, info)
    net = Net(planes[0].numel())
    optim = torch.optim.Adam(net.parameters(), RATE, eps=1e-5)
    table, begun, update = csv.writer(sys.stdout), time.process_time(), 0
    table.writerow(("cpu_minutes", "steps", "solved"))
    table.writerow(("random", 0, f"{solved(None, fresh):.3f}"))
    while (spent := (time.process_time() - begun) / 60) < arguments.minutes:
        if update % 100 == 0:
            table.writerow((f"{spent:.1f}", update * ENVS * STEPS, f"{solved(net, fresh):.3f}"))
            sys.stdout.flush()
        optim.param_groups[0]["lr"] = RATE * (1 - 0.9 * spent / arguments.minutes)
        every: list[tuple[Tensor, ...]] = []
        for _ in range(STEPS):
            with torch.no_grad():
                logs, value = net(planes, mask)
                action = torch.multinomial(logs.exp(), 1)[:, 0]
            observation, reward, over, cut, info = envs.step(action.numpy())
            ends = torch.from_numpy((over | cut).astype(np.float32))
            chosen = logs.gather(1, action[:, None])[:, 0]
            every.append((planes, mask, action, chosen, value, torch.from_numpy(reward.astype(np.float32)), ends))
            planes, mask = tensors(observation, info)
        board, masks, actions, old, values, rewards, ends = map(torch.stack, zip(*every, strict=True))
        with torch.no_grad():
            following, gain = net(planes, mask)[1], torch.zeros(ENVS)
            advantages = torch.zeros(STEPS, ENVS)
            for t in reversed(range(STEPS)):
                goes_on = 1 - ends[t]
                delta = rewards[t] + GAMMA * following * goes_on - values[t]
                gain = delta + GAMMA * LAMBDA * goes_on * gain
                advantages[t], following = gain, values[t]
        returns = advantages + values
        flat = [each.flatten(0, 1) for each in (board, masks, actions, old, returns, advantages)]
        for part in torch.cat([torch.randperm(STEPS * ENVS) for _ in range(EPOCHS)]).split(BATCH):
            b, m, a, o, r, d = (each[part] for each in flat)
            logs, value = net(b, m)
            ratio = (logs.gather(1, a[:, None])[:, 0] - o).exp()
            d = (d - d.mean()) / (d.std() + 1e-8)
            policy = -torch.min(ratio * d, ratio.clamp(1 - CLIP, 1 + CLIP) * d).mean()
            entropy = -(logs.exp() * logs).sum(-1).mean()
            loss = policy + VALUE * F.mse_loss(value, r) - ENTROPY * entropy
            optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optim.step()
        update += 1
    table.writerow((f"{spent:.1f}", update * ENVS * STEPS, f"{solved(net, fresh):.3f}"))
    if arguments.out:
        save_file(net.state_dict(), arguments.out)


if __name__ == "__main__":
    main()
