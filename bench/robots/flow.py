"""A small flow-matching policy on one task, whose arm goes on with the old plan while the next one is inferred.

    python -m bench.robots.flow --out flow    # the same command goes on where it was stopped
    python -m bench.robots.page --flow flow   # its table into docs/robots.md

Every ``EXECUTED`` ticks the policy is asked, and its plan comes ``delay`` ticks later, at its action of that number, as
in the evaluation of real-time chunking. What happens to stale actions:

* ``switch``: nothing.
* ``rtc``: real-time chunking (arXiv 2506.07339, from its code): the new plan is denoised towards what the old one has
  left, firmly where it will be executed before the new plan comes, less and less behind that.
* ``a2c2``: asynchronous action chunk correction (arXiv 2509.23224): at every tick a network adds to the plan's action
  what it reads from the newest observation, that action and its place. Features of the base policy, which the source
  feeds it too, are left out.
* ``rtc-a2c2``: both.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.robots import campaign
from bench.robots.policies import Learned, Nets, demonstrations, regress, spread
from bench.robots.tasks import TICKS, Arm, H, starts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

TASK, SEED, METHODS, DELAYS = "basketball", 0, ("switch", "rtc", "a2c2", "rtc-a2c2"), (0, 4, 8)
#: Ticks from query to query, episodes of a row, demonstrations, and copies of them with other noise to learn from.
EXECUTED, EPISODES, SHOWN, COPIES, STEPS = 8, 100, 100, 8, 4000
#: Steps of denoising, and the most that an old plan pulls, as in the code of real-time chunking.
DENOISING, STRONGEST = 5, 5.0


def pulled(nets: Nets, rows: Floats, weigh: Any) -> tuple[Floats, Floats]:
    """The output [N, out] of a single network, and the gradient of the inputs of its product with ``weigh(output)``."""
    passed = []
    for number, (weight, bias) in enumerate(nets.layers):
        rows = rows @ weight[0] + bias[0]
        if number + 1 < len(nets.layers):
            passed.append(rows > 0)
            rows = rows * passed[-1]
    back = weigh(rows)
    for weight, _ in reversed(nets.layers[1:]):
        back = (back @ weight[0].T) * passed.pop()
    return rows, back @ nets.layers[0][0][0].T


def weights(delay: int, end: int) -> Floats:
    """How much of the old plan's H actions is wanted: all until ``delay``, none from ``end`` on."""
    place = np.arange(H)
    share = np.clip((min(delay, end) - 1 - place) / (end - min(delay, end) + 1) + 1, 0, 1)
    return np.where(place < end, share * np.expm1(share) / (np.e - 1), 0.0).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Flow(Learned):
    """A denoiser of plans, and the correction of one action."""

    denoiser: Nets
    correction: Nets

    def plans(
        self, observations: Any, noise: Floats, old: Floats | None = None, wanted: Floats | None = None
    ) -> Floats:
        """[N, H, 4] from noise, towards ``old`` [H, 4] as much as is ``wanted`` [H] of it."""
        seen = self.inputs(observations)
        x: Any = noise.reshape(len(noise), -1)
        guide = lambda out: 0 * out if old is None or wanted is None else np.repeat(wanted, 4) * (old.ravel() - out)
        for step in range(DENOISING):
            t = step / DENOISING
            out, back = pulled(self.denoiser, read(seen, x, np.full(len(x), t)), guide)
            odds = STRONGEST if not t else (1 - t) / t * (t**2 + (1 - t) ** 2) / (1 - t) ** 2
            x = x + ((out - x) / (1 - t) + min(odds, STRONGEST) * back[:, seen.shape[1] : -1]) / DENOISING
        return np.clip(x.reshape(noise.shape), -1, 1)

    def corrected(self, observation: Any, action: Floats, place: int) -> Floats:
        """The plan's action at ``place`` with what the newest observation adds."""
        row = beside(self.inputs(observation), action[None], np.array([place]))
        return np.clip(action + self.correction(row[None])[0, 0], -1, 1)


def read(seen: Floats, x: Any, times: Any) -> Floats:
    """What the denoiser reads."""
    return np.concatenate([seen, x, times[:, None]], axis=1).astype(np.float32)


def beside(seen: Floats, actions: Floats, places: Any) -> Floats:
    """What the correction reads."""
    angle = np.pi * places[:, None] / H
    return np.concatenate([seen, actions, np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)


def train() -> Flow:
    """Both networks, from the demonstrations of the other policies."""
    seen, chunks = demonstrations(TASK, SEED, SHOWN, TICKS)
    flow = Flow(*spread(seen[:, 0]), Nets([]), Nets([]))
    draw, again = np.random.default_rng(SEED), np.tile(np.arange(len(chunks)), COPIES)
    clean = chunks.reshape(len(chunks), -1)[again]
    times = draw.random(len(again))
    noisy = (1 - times[:, None]) * draw.normal(size=clean.shape) + times[:, None] * clean
    # the mean of the plan is what flow matching's velocity (plan - x) / (1 - t) follows from
    rows = read(flow.inputs(seen[:, 0])[again], noisy, times)
    flow = replace(flow, denoiser=regress(rows, clean, SEED, STEPS, members=1))
    base = flow.plans(seen[:, 0], draw.normal(size=chunks.shape).astype(np.float32))
    offsets = draw.integers(H, size=len(again))
    rows = beside(flow.inputs(seen[again, offsets]), base[again, offsets], offsets)
    missing = chunks[again, offsets] - base[again, offsets]
    return replace(flow, correction=regress(rows, missing, SEED + 1, STEPS, members=1))


def play(arm: Any, flow: Flow, method: str, delay: int, numbers: Any) -> list[list[int]]:
    """Success, queries and ticks of every episode; the first plan is there at once, as in the source."""
    result = []
    for number in numbers:
        arm.reset(number)
        draw, queries, old = np.random.default_rng(number), 0, np.empty(0)  # of the last plan, what it has left
        while not arm.over:
            noise, queries = draw.normal(size=(1, H, 4)).astype(np.float32), queries + 1
            guided = (old, weights(delay, H - EXECUTED)) if "rtc" in method and len(old) else ()
            new = flow.plans(arm.observation, noise, *guided)[0]
            for tick in range(EXECUTED):
                late = len(old) and tick < delay
                action, place = (old[tick], EXECUTED + tick) if late else (new[tick], tick)
                if "a2c2" in method:
                    action = flow.corrected(arm.observation, action, place)
                arm.commit(action[None])
                if arm.over:
                    break
            old = np.concatenate([new[EXECUTED:], np.zeros((EXECUTED, 4), np.float32)])
        result.append([int(arm.success), queries, arm.t])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    campaign.keep_code(out)
    campaign.piece(out / "policy.npz", lambda: train().bytes())
    flow, arm = Flow.read(out / "policy.npz"), Arm(TASK, "still")
    for delay in DELAYS:
        for method in METHODS:
            rows = lambda method=method, delay=delay: play(arm, flow, method, delay, starts("test", SEED, EPISODES))
            campaign.piece(path := out / f"{method}-{delay}.json", lambda rows=rows: campaign.text(rows()))
            print(method, delay, np.mean(json.loads(path.read_text()), axis=0), flush=True)


if __name__ == "__main__":
    main()
