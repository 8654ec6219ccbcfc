"""PPO from reward alone on Sokoban, in one file: ``python docs/examples/ppo_sokoban.py --minutes 8 --seed 0``.

After CleanRL's ``ppo.py``: one network, clipped objective, GAE, Adam. Environments are compiled, so nearly all of the
time is the network's. It is tested on 1,024 levels of another bank, by the likeliest action.
Needs ``pip install '.[train,envs]'``.
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
from torch import Tensor, nn

import recommit  # noqa: F401  registers the environments

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


def make(size: int, boxes: int, bank: int, bank_seed: int) -> gymnasium.vector.VectorEnv:
    """Levels of a bank, side by side; 120 actions an episode."""
    return gymnasium.make_vec(
        "recommit/Sokoban-v0",
        num_envs=ENVS,
        size=size,
        boxes=boxes,
        observation="onehot",
        bank_size=bank,
        bank_seed=bank_seed,
        max_steps=120,
        autoreset_mode="SAME_STEP",
    )


def tensors(observation: np.ndarray, info: dict[str, np.ndarray]) -> tuple[Tensor, Tensor]:
    """Planes without the wall around the board, and which actions change it."""
    mask = torch.from_numpy(info["action_mask"].copy())
    mask[~mask.any(dim=1)] = True
    return torch.from_numpy(observation[:, :, 1:-1, 1:-1].astype(np.float32)), mask


@torch.no_grad()
def solved(net: Net, size: int, boxes: int, seed: int) -> float:
    """Share of 1,024 levels that the likeliest actions solve: of each slot the first two episodes."""
    envs = make(size, boxes, 4096, 1_000_000)
    observation, info = envs.reset(seed=seed)
    ended, won = np.zeros(ENVS, int), 0
    while (ended < 2).any():
        logs, _ = net(*tensors(observation, info))
        observation, reward, over, cut, info = envs.step(logs.argmax(-1).numpy())
        won += int(((reward > 0) & (ended < 2)).sum())
        ended += over | cut
    return won / (2 * ENVS)


def main() -> None:
    """Train, and print a curve as CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=7)
    parser.add_argument("--boxes", type=int, default=1)
    parser.add_argument("--bank", type=int, default=200_000, help="levels to train on")
    parser.add_argument("--minutes", type=float, default=8, help="of CPU time")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # threads of so small a network wait for each other
    torch.manual_seed(arguments.seed)
    size, boxes = arguments.size, arguments.boxes
    envs = make(size, boxes, arguments.bank, arguments.seed)
    observation, info = envs.reset(seed=arguments.seed)
    planes, mask = tensors(observation, info)
    net = Net(planes[0].numel())
    optim = torch.optim.Adam(net.parameters(), RATE, eps=1e-5)
    table, begun, update = csv.writer(sys.stdout), time.process_time(), 0
    table.writerow(("cpu_minutes", "steps", "solved"))
    while (spent := (time.process_time() - begun) / 60) < arguments.minutes:
        if update % 100 == 0:
            table.writerow((f"{spent:.1f}", update * ENVS * STEPS, f"{solved(net, size, boxes, 1):.3f}"))
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
    table.writerow((f"{spent:.1f}", update * ENVS * STEPS, f"{solved(net, size, boxes, 2):.3f}"))


if __name__ == "__main__":
    main()
