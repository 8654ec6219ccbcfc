"""What is a choice of depth worth on Meta-World, and who finds it? Everything, in one command that can be stopped.

    pip install '.[metaworld,policy,report]'
    python -m bench.robots.campaign --out robots --jobs 2      # hours; the same command goes on where it was stopped
    python -m bench.robots.campaign --out small --quick        # the same in little: some minutes, one task
    python -m bench.robots.page robots                         # figures into docs/assets, tables into docs/robots.md

A piece is a file: a policy, a choice on validation episodes, ten episodes of branches, a head, two hundred episodes of
a row. Each is written whole or not at all, and made of others that were finished before.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from bench.robots import heads, policies, rules, tasks
from bench.robots.tasks import DEPTHS, PRICE, TICKS, Arm, starts

import recommit
from recommit import horizon
from recommit.storage import files

#: Episodes of branches, or of an oracle, in one piece.
PIECE = 10
EXACT = ("still", "latency")


@dataclass(frozen=True)
class Settings:
    """How much of everything."""

    tasks: tuple[str, ...] = tasks.TASKS
    seeds: int = 3
    conditions: tuple[str, ...] = ("still", "latency", "bumps")
    #: Only so many of the tasks, and one seed, are played with bumps.
    bumped: int = 3
    demonstrations: int = 100
    steps: int = 2500
    ticks: int = TICKS
    validation: int = 40
    thresholds: int = 8
    rounds: int = 3
    #: Episodes of branches in each round.
    branched: int = 40
    head_steps: int = 1500
    test: int = 200
    #: Test episodes that the oracle plays too, and those whose states are looked at one by one.
    oracle: int = 60
    visited: int = 30
    #: Futures of an oracle that is not clairvoyant.
    futures: int = 16


QUICK = Settings(("push",), 1, ("still", "latency", "bumps"), 1, 12, 150, 80, 3, 2, 2, 4, 60, 6, 2, 2, 2)


@dataclass(frozen=True)
class Job:
    """One policy under one condition, or the policy itself."""

    out: Path
    settings: Settings
    task: str
    seed: int
    condition: str = ""

    @property
    def folder(self) -> Path:
        """Where its pieces are."""
        return self.out / self.task / str(self.seed) / self.condition

    def policy(self) -> policies.Policy:
        """Trained once."""
        path, plan = self.out / self.task / str(self.seed) / "policy.npz", self.settings
        many = (plan.demonstrations, plan.steps, plan.ticks)
        piece(path, lambda: policies.train(self.task, self.seed, *many).bytes())
        return policies.Policy.read(path)

    def run(self) -> float:
        """All pieces that are missing; the processor time that they took."""
        policy = self.policy()
        if self.condition:
            Bench(self, policy, Arm(self.task, self.condition, self.settings.ticks)).run()
        return time.process_time()


def piece(path: Path, make: Callable[[], bytes]) -> None:
    """Make it unless it is there."""
    if not path.exists():
        files.make_folders(files.Files(), path.parent.absolute())
        files.replace(files.Files(), path, make())


def text(value: Any, indent: int | None = None) -> bytes:
    """JSON."""
    return (json.dumps(value, indent=indent) + "\n").encode()


@dataclass
class Bench:
    """The pieces of one job, in order."""

    job: Job
    policy: policies.Policy
    arm: Arm

    def __post_init__(self) -> None:
        self.plan, self.folder = self.job.settings, self.job.folder

    def run(self) -> None:
        """From the choices to the oracle."""
        chosen = self.kept("validation", self.choices)
        base = int(chosen["constant"])
        for number in range(self.plan.rounds):
            self.branches(number, base)
            self.head(number, base)
        self.test(self.rows(chosen))
        if self.job.condition in EXACT:
            self.visited(chosen, base)
        self.oracles(base)

    def numbers(self, what: str, count: int) -> range:
        """Of episodes; validation, branches and tests are those of the policy's seed."""
        return starts(what, self.job.seed, count)

    def play(self, rule: Any, numbers: Any) -> Any:
        """Success, queries, actions and ticks of every episode."""
        return rules.play(self.arm, self.policy, rule, numbers).tolist()

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """A piece in JSON, made unless it is there."""
        piece(path := self.folder / f"{name}.json", lambda: text(make()))
        return json.loads(path.read_text())

    def test(self, rows: dict[str, Any]) -> None:
        """Test episodes of each row."""
        numbers = self.numbers("test", self.plan.test)
        for row, rule in rows.items():
            self.kept(f"test-{row}", lambda rule=rule: {"episodes": self.play(rule, numbers)})

    def validate(self, rule: Any) -> float:
        """The mean utility on validation episodes."""
        rows = np.array(self.play(rule, self.numbers("validation", self.plan.validation)))
        return float((rows[:, 0] - PRICE * rows[:, 1]).mean())

    def choices(self) -> dict[str, Any]:
        """The best constant, and of every rule the candidate that does best on validation episodes."""
        plans = []
        for number in self.numbers("validation", 4):
            self.arm.reset(number)
            while not self.arm.over:
                plans.append(self.arm.planned(self.policy))
                self.arm.commit(plans[-1].actions[0, :4])
        constants = {depth: self.validate(rule) for depth, rule in zip(DEPTHS, rules.CONSTANTS.values(), strict=True)}
        candidates = rules.families(rules.stacked(plans), self.plan.thresholds)
        values = {name: [self.validate(rule) for rule in each] for name, each in candidates.items()}
        return {
            "constant": max(constants, key=constants.__getitem__),
            "constants": constants,
            "values": values,
            "candidates": {name: [plain(rule) for rule in each] for name, each in candidates.items()},
        }

    def rows(self, chosen: dict[str, Any]) -> dict[str, Any]:
        """All that are tested: constants, rules as chosen, and heads after the first and after the last round."""
        best = {name: chosen["candidates"][name][int(np.argmax(each))] for name, each in chosen["values"].items()}
        heads_ = {f"head {number}": self.head_rule(number) for number in dict.fromkeys((0, self.plan.rounds - 1))}
        return {**rules.CONSTANTS, **{name: rule_of(said) for name, said in best.items()}, **heads_}

    def behaviour(self, number: int) -> Callable[[int], horizon.Rule]:
        """Who visits the states of a round: random depths, then the last head with some of them."""
        if not number:
            return lambda episode: rules.RandomDepth(self.arm, episode)
        head = self.head_rule(number - 1)
        return lambda episode: rules.Sometimes(head, rules.RandomDepth(self.arm, episode))

    def branches(self, number: int, base: int) -> None:
        """Every state of the episodes of a round, with what each depth comes to there."""
        first = number * self.plan.branched
        for begin in range(0, self.plan.branched, PIECE):
            episodes = self.numbers("branches", 10_000)[first + begin : first + min(begin + PIECE, self.plan.branched)]
            piece(
                self.folder / f"branches-{number}-{begin // PIECE}.npz",
                lambda episodes=episodes: policies.arrays(**self.branched(self.behaviour(number), episodes, base)),
            )

    def branched(self, behave: Any, episodes: Any, base: int, others: Any = ()) -> dict[str, Any]:
        """Features, and what the depths come to; beside them what ``others`` would choose."""
        futures = (0,) if self.job.condition in EXACT else (1, 2, 3, 4)
        columns: dict[str, list[Any]] = {name: [] for name in ("rows", "success", "queries", "episode", "chosen")}
        fixed = horizon.Fixed(base)
        for episode in episodes:
            self.arm.reset(episode)
            rule, previous = behave(episode), None
            while not self.arm.over:
                plans = self.arm.planned(self.policy, previous)
                found = self.arm.branch(self.policy, DEPTHS, fixed, futures, plans)
                columns["rows"].append(heads.features(self.arm, self.policy, plans))
                columns["success"].append(found.success.mean(axis=0))
                columns["queries"].append(found.queries.mean(axis=0))
                columns["episode"].append(episode)
                columns["chosen"].append([int(other.choose(plans)[0]) for other in others])
                depth = int(rule.choose(plans)[0])
                self.arm.commit(plans.actions[0, :depth])
                previous = plans.tail(np.array([depth]))
        return {name: np.array(each) for name, each in columns.items()}

    def head(self, number: int, base: int) -> None:
        """Learned from all rounds so far, and how sure it has to be, on validation episodes."""

        def make() -> bytes:
            paths = sorted(self.folder.glob("branches-*.npz"))
            parts = [policies.loaded(path) for path in paths if int(path.stem.split("-")[1]) <= number]
            data = {name: np.concatenate([part[name] for part in parts]) for name in ("rows", "success", "queries")}
            return heads.learn(**data, base=base, seed=number, steps=self.plan.head_steps).bytes()

        def choose() -> dict[str, Any]:
            learned = heads.Head.read(path)
            values = [self.validate(heads.HeadRule(self.arm, self.policy, learned, each)) for each in heads.DOUBTS]
            return {"values": values, "doubt": str(heads.DOUBTS[int(np.argmax(values))])}

        piece(path := self.folder / f"head-{number}.npz", make)
        self.kept(f"head-{number}", choose)

    def head_rule(self, number: int) -> heads.HeadRule:
        """At work on this arm."""
        doubt = float(json.loads((self.folder / f"head-{number}.json").read_text())["doubt"])
        return heads.HeadRule(self.arm, self.policy, heads.Head.read(self.folder / f"head-{number}.npz"), doubt)

    def visited(self, chosen: dict[str, Any], base: int) -> None:
        """States of fresh episodes of random depths: what each depth comes to there, and which one rows choose."""
        rows = self.rows(chosen)
        episodes = self.numbers("branches", 100_000)[50_000 : 50_000 + self.plan.visited]
        behave = lambda episode: rules.RandomDepth(self.arm, episode)

        def make() -> bytes:
            columns = self.branched(behave, episodes, base, rows.values())
            kept = {name: columns[name] for name in ("episode", "chosen", "success", "queries")}
            return policies.arrays(**kept, names=np.array(list(rows)))

        piece(self.folder / "visited.npz", make)

    def oracles(self, base: int) -> None:
        """At every query the depth whose branch is worth most: in the future that will be met, and, where chance has a
        part, by the mean of futures that are drawn again."""
        kinds: dict[str, tuple[int, ...]] = {"oracle": (0,)}
        if self.job.condition not in EXACT:
            kinds["oracle resampled"] = tuple(range(1, self.plan.futures + 1))
        for name, futures in kinds.items():
            for begin in range(0, self.plan.oracle, PIECE):
                numbers = self.numbers("test", self.plan.oracle)[begin : begin + PIECE]
                best = lambda numbers=numbers, futures=futures: {"episodes": self.best(numbers, base, futures)}
                self.kept(f"{name}-{begin // PIECE}", best)

    def best(self, numbers: Any, base: int, futures: tuple[int, ...]) -> list[list[int]]:
        """Episodes of the oracle."""
        result = []
        for number in numbers:
            self.arm.reset(number)
            while not self.arm.over:
                plans = self.arm.planned(self.policy)
                depth = self.arm.branch(self.policy, DEPTHS, horizon.Fixed(base), futures, plans).best(PRICE)
                self.arm.commit(plans.actions[0, :depth])
            result.append([int(self.arm.success), self.arm.k, self.arm.actions, self.arm.t])
        return result


def plain(rule: horizon.Rule) -> dict[str, Any]:
    """A rule as plain values."""
    return {"rule": type(rule).__name__, **asdict(rule)}


def rule_of(values: dict[str, Any]) -> horizon.Rule:
    """The rule of such values."""
    return getattr(horizon, values["rule"])(**{key: each for key, each in values.items() if key != "rule"})


def jobs(out: Path, settings: Settings) -> list[list[Job]]:
    """Policies first, then what is played with them, the first seed of all tasks before the second."""
    own = [Job(out, settings, task, seed) for seed in range(settings.seeds) for task in settings.tasks]
    played = [
        replace(job, condition=condition)
        for seed in range(settings.seeds)
        for condition in settings.conditions
        for job in own
        if job.seed == seed and (condition in EXACT or (seed == 0 and settings.tasks.index(job.task) < settings.bumped))
    ]
    return [own, played]


#: What a piece may come out otherwise with.
VERSIONS = ("gymnasium", "metaworld", "mujoco", "numpy", "scipy", "torch")
CODE = ("bench/robots", "recommit/adapters/metaworld.py", "recommit/envs", "recommit/horizon", "recommit/rng.py")


def keep_code(out: Path) -> None:
    """The folder is of one state of the code, whose digest and versions it keeps."""
    digest = hashlib.sha256()
    for place in CODE:
        top = Path(recommit.__file__).parent.parent if place.startswith("recommit") else Path(__file__).parents[2]
        for path in sorted([top / place] if place.endswith(".py") else (top / place).rglob("*.py")):
            if path.name not in ("page.py", "records.py"):
                digest.update(path.read_bytes())
    wanted = {"code": digest.hexdigest(), "versions": {name: metadata.version(name) for name in VERSIONS}}
    keep(out / "code.json", wanted, "remove the file if what changed changes no piece")


def keep(path: Path, wanted: Any, hint: str) -> None:
    """What a folder was begun with, once and for all."""
    piece(path, lambda: text(wanted, indent=2))
    if (found := path.read_text()) != text(wanted, indent=2).decode():
        raise SystemExit(
            f"out: begun with other {path.stem} ({found}), now {json.dumps(wanted)}; a new folder, or {hint}"
        )


def parser(description: str | None) -> argparse.ArgumentParser:
    """Of what plays policies of tasks, and may play some of them."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--out", type=Path, required=True)
    result.add_argument("--task", nargs="+", default=tasks.TASKS, choices=tasks.TASKS, help="these tasks alone")
    result.add_argument("--seed", nargs="+", default=range(Settings.seeds), type=int, help="these policies alone")
    return result


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--jobs", type=int, default=1, help="processes")
    arguments.add_argument("--quick", action="store_true", help="one task, few episodes")
    options = arguments.parse_args()
    settings = QUICK if options.quick else Settings()
    keep(options.out / "settings.json", asdict(settings), "the one of these settings")
    keep_code(options.out)
    begin = time.monotonic()
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for phase in jobs(options.out, settings):
            mine = [job for job in phase if job.task in options.task and job.seed in options.seed]
            running = {pool.submit(job.run): job for job in mine}
            for number, done in enumerate(as_completed(running), 1):
                job = running[done]
                where = f"{job.task} {job.seed} {job.condition or 'policy'}, {done.result():.0f} s of CPU"
                print(f"{time.monotonic() - begin:.0f} s: {number} of {len(mine)}: {where}", flush=True)


if __name__ == "__main__":
    main()
