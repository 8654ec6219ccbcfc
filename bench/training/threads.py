"""One thread or two, on quiet cores and on busy ones: ``python bench/training/threads.py [--rounds 3]``.

Each figure is of a process of its own, after loading: CPU seconds and wall seconds, medians of the rounds, in which all
numbers of threads take turns. "2 spin" is torch's default, whose threads wait at full speed; "2 sleep" is the same with
``OMP_WAIT_POLICY=passive``; the column "rule" is what the package chooses. Busy loops only count.
PPO of docs/guides/rl-libraries.md is skipped where Stable-Baselines3 is not installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOPS = (0, 2, 4)
#: How threads that have nothing to do wait, and how many there are; 0: by the package's rule.
WAYS = {"rule": ("", 0), "1": ("active", 1), "2 sleep": ("passive", 2), "2 spin": ("active", 2)}
#: Seconds after which a cell is given up.
LIMIT = 240
POLICIES = ("sliding-3x3", "sokoban-7x7", "sokoban-10x10")
DATA = "data build --task sliding --size 3 --length 8 24 --count 2048 --seed 0 --out {data}"
#: What the command line is told, in a process of its own.
VERBS = {
    # 256 instances of the smallest packaged policy at three of its depths
    "evaluation": "evaluate sliding-3x3 --instances 256 --agents adaptive fixed-2 fixed-8",
    # a hundred steps of the five-minute start, and two rounds of its reinforcement
    "warm start": "train sft --recipe quick-sliding --steps 100 --data {data} --set validation.every=1000",
    "GRPO": "train grpo --recipe quick-sliding --steps 2 --data {data} --init sliding-3x3"
    " --set validation.every=1000 phases=[] rollout.states=1000 optim.warmup=1",
}


def episode(name: str, threads: int) -> Callable[[], object]:
    """An episode of a packaged policy from the first level of its test split; a first one loads kernels."""
    import torch

    import recommit
    from recommit.data.held_out import starts
    from recommit.policy import threads as rule
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.directory import recipe_of

    policy, level = CommitPolicy.from_pretrained(name).eval(), starts(recipe_of(name), "test", 1, ()).states[0]
    if threads:
        torch.set_num_threads(threads)
        rule.SMALL = 0  # the process's own number
    recommit.episode(policy, level)
    return lambda: recommit.episode(policy, level)


def ppo(threads: int) -> Callable[[], object]:
    """The program of the guide."""
    import gymnasium
    import torch
    from stable_baselines3 import PPO

    from recommit.adapters.sb3 import PuzzleVecEnv

    torch.set_num_threads(threads or 1)  # as the guide has it
    envs: Any = gymnasium.make_vec(
        "recommit/Sliding-v0", num_envs=64, size=2, autoreset_mode="SAME_STEP", action_mask=False
    )
    model = PPO("MlpPolicy", PuzzleVecEnv(envs), n_steps=32, batch_size=256, seed=0, device="cpu")
    return lambda: model.learn(10_000)


def verb(text: str, data: Path) -> Callable[[], object]:
    """A verb of the command line, in this process."""
    from recommit.cli import main

    def work() -> None:
        if main(words := text.format(data=data).split()):
            raise RuntimeError(f"expected recommit {' '.join(words)} to end well")

    return work


def one(what: str, way: str, data: Path) -> dict[str, float]:
    """Seconds of a workload in this process."""
    threads = WAYS[way][1]
    with tempfile.TemporaryDirectory() as folder:
        if what in VERBS:
            work = verb(f"{VERBS[what]} --threads {threads} --out {folder}/out", data)
        else:
            work = ppo(threads) if what.startswith("PPO") else episode(what.removeprefix("episode "), threads)
        wall, cpu = time.monotonic(), time.process_time()
        work()
        return {"wall": time.monotonic() - wall, "cpu": time.process_time() - cpu}


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Programs that do nothing but count."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def measured(what: str, way: str, data: Path) -> dict[str, float] | None:
    """Seconds of a workload in a process of its own; None where it took longer than the limit."""
    waiting = WAYS[way][0]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "MKL_"))}
    environment |= {"OMP_WAIT_POLICY": waiting} if waiting else {}
    command = [sys.executable, __file__, "--one", what, way, str(data)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def table(rows: list[dict[str, Any]]) -> str:
    """As Markdown: CPU seconds / wall seconds."""
    lines = [f"| | loops | {' | '.join(WAYS)} |", f"|---|---:|{'---:|' * len(WAYS)}"]
    for row in rows:
        cells = [f"{row[way]['cpu']:.2f} / {row[way]['wall']:.2f}" if row[way] else f"over {LIMIT}" for way in WAYS]
        lines.append(f"| {row['what']} | {row['loops']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        what, way, data = arguments.one
        print(json.dumps(one(what, way, Path(data))))
        return
    workloads = [*(f"episode {each}" for each in POLICIES), *VERBS]
    workloads += ["PPO of the guide"] * (importlib.util.find_spec("stable_baselines3") is not None)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        verb(DATA, data)()
        for what in workloads:
            for loops in LOOPS:
                with busy(loops):
                    rounds = [{way: measured(what, way, data) for way in WAYS} for _ in range(arguments.rounds)]
                rows.append(
                    {"what": what, "loops": loops, **{way: median([each[way] for each in rounds]) for way in WAYS}}
                )
                print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    print(table(rows))


def median(found: list[dict[str, float] | None]) -> dict[str, float] | None:
    """By each clock; None where a round was given up."""
    rounds = [each for each in found if each]
    whole = len(rounds) == len(found)
    return {clock: statistics.median(each[clock] for each in rounds) for clock in ("wall", "cpu")} if whole else None


if __name__ == "__main__":
    main()
