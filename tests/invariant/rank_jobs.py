"""One rank of several runs in turn: python -m tests.invariant.rank_jobs JOBS, a JSON list of what ``Job`` holds.

A process that imports torch and DeepSpeed once and then trains a dozen runs is quick, and shows that a second run in
the same process works. Whatever can be planted is a name of ``PATCHES``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Iterator

RANK = int(os.environ.get("RANK", "0"))


@dataclass(frozen=True)
class Job:
    """A run: ``kind`` sft or grpo, ``source`` data sets (with : between) or a warm start, ``patch`` a planted event."""

    kind: str
    recipe: str
    source: str
    out: str
    changes: list[str] = field(default_factory=list)
    patch: str = ""
    quiet: bool = True


def run(jobs: list[Job], world: int, folder: Path) -> list[tuple[int, str]]:
    """Start ``world`` ranks and wait; exit status and everything printed of each."""
    from tests.invariant.zero_runs import launch

    listed = folder / f"jobs-{len(list(folder.glob('jobs-*.json')))}.json"
    listed.write_text(json.dumps([asdict(job) for job in jobs]), encoding="utf-8")
    return launch("tests.invariant.rank_jobs", [str(listed)], world, listed.with_suffix(""))


def main(listed: str) -> int:
    for values in json.loads(Path(listed).read_text(encoding="utf-8")):
        job = Job(**values)
        print(f"{Path(job.out).name}: {train(job)}", flush=True)
    return 0


def train(job: Job) -> int:
    """In this process."""
    name, *numbers = job.patch.split(":")
    with PATCHES[name](*map(int, numbers)):
        return _train(job)


def _train(job: Job) -> int:
    from recommit.train import config
    from recommit.train.grpo import config as grpo_config
    from recommit.train.grpo import trainer as grpo
    from recommit.train.sft import trainer as sft

    if job.kind == "sft":
        return sft.train(config.load(job.recipe, job.changes), job.source.split(":"), job.out, quiet=job.quiet)
    loaded = config.load(job.recipe, job.changes, grpo_config.GrpoConfig, "grpo")
    return grpo.train(loaded, job.source, job.out, quiet=job.quiet)


@contextmanager
def nothing() -> Iterator[None]:
    yield


@contextmanager
def at_step(step: dict[str, int], event: Any) -> Iterator[None]:
    """``event()`` before the step that either kind of run is said to have it."""

    def stepping(take: Any) -> Any:
        def taken(self: Any) -> Any:
            if self.state.step == step[self.kind]:
                event()
            return take(self)

        return taken

    from recommit.train.grpo.trainer import GrpoTrainer
    from recommit.train.sft.trainer import SftTrainer

    with ExitStack() as stack:
        for cls in (SftTrainer, GrpoTrainer):
            stack.enter_context(mock.patch.object(cls, "_step", stepping(cls._step)))
        yield


@contextmanager
def interrupted() -> Iterator[None]:
    """Ctrl-C on one rank only, which the others hear of."""
    with at_step({"sft": 3, "grpo": 1}, lambda: RANK or signal.raise_signal(signal.SIGINT)):
        yield


@contextmanager
def killed() -> Iterator[None]:
    with at_step({"sft": 3, "grpo": 1}, lambda: RANK and os.kill(os.getpid(), signal.SIGKILL)):
        yield


@contextmanager
def killed_at(rank: int, moment: int) -> Iterator[None]:
    """kill -9 of a rank when the ranks meet for the ``moment``-th time: within steps, validations and every stage of
    saving.
    """
    from recommit.runs.distributed import Team

    meet, times = Team._reduce, iter(range(moment))

    def meeting(*arguments: Any) -> Any:
        if rank == RANK and next(times, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return meet(*arguments)

    with mock.patch.object(Team, "_reduce", meeting):
        yield


@contextmanager
def unequal() -> Iterator[None]:
    """Ranks with different numbers of rows."""
    from recommit.train.sft import trainer as sft

    make = sft.targets.make

    def fewer(*arguments: Any, **options: Any) -> Any:
        batch = make(*arguments, **options)
        return batch[: 3 if RANK else len(batch)]

    with mock.patch.object(sft.targets, "make", fewer):
        yield


@contextmanager
def unseeded() -> Iterator[None]:
    """Planted: rows in an order that no seed decides."""
    import secrets

    from recommit.train.sft import trainer as sft

    make = sft.targets.make

    def shuffled(*arguments: Any, **options: Any) -> Any:
        batch = make(*arguments, **options)
        order = sorted(range(len(batch)), key=lambda _: secrets.randbits(64))
        return batch[order]

    with mock.patch.object(sft.targets, "make", shuffled):
        yield


@contextmanager
def no_states() -> Iterator[None]:
    """A rank with nothing to play."""
    from recommit.train.grpo import rollout

    own = rollout._own
    with mock.patch.object(rollout, "_own", lambda starts, team: own(starts, team)[: 0 if RANK else None]):
        yield


@contextmanager
def same_rows() -> Iterator[None]:
    """Planted: the second rank reads what the first one reads."""
    from recommit.data import loading

    mixed = loading.Mixture
    with mock.patch.object(loading, "Mixture", lambda *a, rank, **k: mixed(*a, rank=0 * rank, **k)):
        yield


@contextmanager
def weighty_nothing() -> Iterator[None]:
    """Planted: a state that only goes along, since a rank has no other, counts."""
    from recommit.train.sft import trainer as sft

    with mock.patch.object(sft.targets, "nothing", lambda batch: batch[:1]):
        yield


@contextmanager
def heads_not_gathered() -> Iterator[None]:
    """Planted: a stage 3 that gathers trained weights alone."""
    import deepspeed

    from recommit.train.engine.deepspeed import ZeroEngine

    @contextmanager
    def whole(self: Any, policy: Any) -> Iterator[None]:
        del policy
        with deepspeed.zero.GatheredParameters(self.parameters, modifier_rank=None):
            yield

    with mock.patch.object(ZeroEngine, "whole", whole):
        yield


PATCHES = {
    "": nothing,
    "interrupted": interrupted,
    "killed": killed,
    "killed at": killed_at,
    "unequal": unequal,
    "unseeded": unseeded,
    "no states": no_states,
    "same rows": same_rows,
    "weighty nothing": weighty_nothing,
    "heads not gathered": heads_not_gathered,
}

if __name__ == "__main__":
    from recommit.runs import distributed

    distributed.end(main(sys.argv[1]))
