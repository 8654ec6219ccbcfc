"""Who plays the episodes: child processes with one thread each, or this one for objects that live here.

A child runs ``main``: one JSON line in for each batch of episodes, one
JSON line out. It is gone as soon as its standard input ends, so that a killed sweep leaves nobody playing behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import traceback
from dataclasses import asdict, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from recommit.horizon.plans import joined
from recommit.horizon.sweep import programs, rules
from recommit.horizon.sweep.options import SweepOptions
from recommit.horizon.sweep.player import Player, usable
from recommit.horizon.sweep.slots import alike, slots
from recommit.storage import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from typing_extensions import Self

    Request = dict[str, Any]
    Reply = dict[str, Any]

#: Libraries read these when they are loaded: every child computes with one thread, so that numbers do not depend on how
#: many children there are.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
#: So many plans are enough to choose thresholds from.
PLANS = 2000


class Seat:
    """An environment and a policy, made when they are first needed, and what can be asked of them.

    Args:
        options: of the sweep.
        env: makes the environment, in the place of ``options.env``.
        policy: in the place of ``options.policy``.
    """

    def __init__(self, options: SweepOptions, env: Callable[[], Any] | None = None, policy: Any = None) -> None:
        self.options, self._env, self._policy = options, env, policy

    @cached_property
    def player(self) -> Player:
        """Where episodes are played."""
        options, policy = self.options, self._policy
        make = self._env or programs.maker(options.env, options.arguments())
        if policy is None:
            policy = programs.made("policy", programs.load("policy", options.policy), {})
        return Player(options, slots(make, options.batch), policy)

    def answer(self, request: Request) -> Reply:
        """What a request asks for."""
        asked: Reply = getattr(self, f"_{request['ask']}")(**request["with"])
        return asked

    def _look(self, seed: int) -> Reply:
        """Ask the policy once: the shape of its plans, what it is made of, and versions."""
        player = self.player
        first, again = player.slots.reset([seed])[0], player.slots.reset([seed])[0]
        if not alike(first, again):
            raise ValueError(
                "env: expected the same first observation from reset(seed=...) with the same seed, got two; an episode "
                "must depend on its seed alone (docs/guides/sweep.md has a wrapper for Meta-World, which ignores seeds)"
            )
        plans = player.predict([again])
        allowed = usable(self.options, plans.horizon)
        return {
            "horizon": plans.horizon,
            "shape": list(plans.actions.shape[2:]),
            "allowed": [allowed[0], allowed[-1]],
            "batch": player.slots.count,
            "state": programs.state(player.policy),
            "versions": programs.versions(),
        }

    def _rules(self, seeds: Sequence[int], depth: int, depths: Sequence[int]) -> Reply:
        """Which rules the policy's plans have the inputs for, and thresholds to try; from plans at a fixed depth."""
        gathered, count = [], 0
        for i in range(0, len(seeds), self.player.slots.count):
            batch = seeds[i : i + self.player.slots.count]
            played = self.player.play(rules.rule_of({"rule": "Fixed", "depth": depth}), batch, keep=True)
            assert played.plans is not None
            gathered.append(played.plans)
            count += len(played.plans)
            if count >= PLANS:
                break
        found, left_out = rules.candidates(joined(gathered), tuple(depths), self.options.thresholds)
        return {"rules": found, "left_out": left_out}

    def _play(self, rule: dict[str, Any], seeds: Sequence[int]) -> Reply:
        """One batch of episodes: by field, a list of what they came to."""
        played = self.player.play(rules.rule_of(rule), seeds)
        outcomes = [asdict(each) for each in played.outcomes]
        by_field = {name: [each[name] for each in outcomes] for name in outcomes[0]}
        if not np.isfinite(by_field["total"]).all():
            raise ValueError(f"env: expected rewards that are finite numbers, got a return of {by_field['total']}")
        return {"outcomes": by_field, "seconds": played.seconds}


def local(seat: Seat, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
    """Answers of an object in this process, in order."""
    for i, request in enumerate(requests):
        yield i, seat.answer(request)


class Children:
    """So many child processes, started when they are first needed and ended with the block."""

    def __init__(self, options: SweepOptions) -> None:
        self.options = options
        self._children: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.kill()
        for child in self._children:
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Number and answer of each request, as they come; an error is raised at once."""
        todo: queue.SimpleQueue[tuple[int, Request] | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[int, Reply]] = queue.SimpleQueue()
        needed = min(self.options.jobs, len(requests))
        self._children += [_start(self.options) for _ in range(needed - len(self._children))]
        for item in [*enumerate(requests), *[None] * needed]:
            todo.put(item)
        for child in self._children[:needed]:
            threading.Thread(target=_serve, args=(child, todo, done), daemon=True).start()
        for _ in requests:
            i, reply = done.get()
            if "error" in reply:
                raise (ValueError if reply["wrong_call"] else errors.DataError)(reply["error"])
            yield i, reply


def _start(options: SweepOptions) -> subprocess.Popen[str]:
    """A child that knows what is swept. It has a session of its own: Ctrl-C is for the sweep, which then ends it."""
    package = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    child = subprocess.Popen(
        [sys.executable, "-c", "from recommit.horizon.sweep.worker import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        start_new_session=True,
    )
    assert child.stdin is not None
    child.stdin.write(json.dumps(asdict(options), default=str) + "\n")
    child.stdin.flush()
    return child


def _serve(
    child: subprocess.Popen[str],
    todo: queue.SimpleQueue[tuple[int, Request] | None],
    done: queue.SimpleQueue[tuple[int, Reply]],
) -> None:
    """Hand requests to one child, one at a time, and collect its answers."""
    assert child.stdin is not None
    assert child.stdout is not None
    while (item := todo.get()) is not None:
        try:
            child.stdin.write(json.dumps(item[1]) + "\n")
            child.stdin.flush()
            reply = json.loads(child.stdout.readline())
        except (OSError, ValueError):  # it is gone, perhaps in the middle of a line
            why = f"a process that played episodes ended with status {child.wait()}; the same command goes on"
            done.put((item[0], {"error": why, "wrong_call": False}))
            return
        done.put((item[0], reply))


def answer(seat: Seat, request: Request) -> Reply:
    """What is asked for, or what went wrong in plain words, with the line of the program that was at work."""
    try:
        return seat.answer(request)
    except ImportError as error:
        return {"error": str(error), "wrong_call": False}
    except Exception as error:  # noqa: BLE001  (told to the sweep, which raises it)
        own = isinstance(error, ValueError | TypeError) and traceback.extract_tb(error.__traceback__)[-1].filename
        if own and Path(own).is_relative_to(programs.HERE):
            return {"error": str(error), "wrong_call": True}
        frames = traceback.extract_tb(error.__traceback__)
        where = next((each for each in reversed(frames) if "site-packages" not in each.filename), frames[-1])
        place = f"{Path(where.filename).name}, line {where.lineno}"
        return {"error": f"{place}: {type(error).__name__}: {error}", "wrong_call": False}


def main() -> None:
    """Answer until the input ends."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    # Nothing but answers may reach the pipe, whatever a library prints, and nobody else may read what is asked.
    questions, pipe = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    threading.Thread(target=_listen, args=(questions, lines), daemon=True).start()
    seat = Seat(_options(json.loads(lines.get())))
    while True:
        pipe.write(json.dumps(answer(seat, json.loads(lines.get()))) + "\n")
        pipe.flush()


def _options(values: dict[str, Any]) -> SweepOptions:
    """Those that the parent wrote: JSON has no tuples and no paths."""
    own = {each.name: values[each.name] for each in fields(SweepOptions)}
    own |= {"out": Path(own["out"]), "files": (), "depths": tuple(own["depths"])}
    return SweepOptions(**own)


def _listen(questions: TextIO, lines: queue.SimpleQueue[str]) -> None:
    for line in questions:
        lines.put(line)
    os._exit(0)  # the sweep is done with us, or dead: stop at once, even in the middle of an episode
