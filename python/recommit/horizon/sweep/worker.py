"""The players of episodes: child processes with one thread each, or this process for objects that live here."""

from __future__ import annotations

import traceback
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.horizon.plans import joined
from recommit.horizon.sweep import programs, rules
from recommit.horizon.sweep.options import SweepOptions
from recommit.horizon.sweep.player import Player, seeded, usable
from recommit.horizon.sweep.slots import alike, slots
from recommit.storage import errors
from recommit.storage.children import Children, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recommit.storage.children import Reply, Request

#: Libraries read these when they are loaded: every child computes with one thread, so that results do not depend on the
#: number of children.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
#: Number of plans that suffices for the candidates of thresholds.
PLANS = 2000


class Seat:
    """Answers requests with an environment and a policy, which are made when they are first needed.

    Args:
        options: of the sweep.
        env: function that makes the environment, in the place of ``options.env``.
        policy: in the place of ``options.policy``.
    """

    def __init__(self, options: SweepOptions, env: Callable[..., Any] | None = None, policy: Any = None) -> None:
        self.options, self._env, self._policy = options, env, policy

    @cached_property
    def player(self) -> Player:
        """Player of the episodes."""
        options, policy = self.options, self._policy
        if self._env is None:
            make = programs.maker(options.env, options.arguments())
        else:
            make = partial(programs.made, self._env, options.arguments())
        if policy is None:
            with seeded(0):  # so that all processes have the same weights, if they are drawn
                program = programs.load("policy", options.policy)
            with seeded(0):  # torch too, if the program has imported it
                policy = programs.made(program, options.arguments() if options.lerobot else {})
        return Player(options, slots(make, options.batch), policy)

    def answer(self, request: Request) -> Reply:
        """Dispatch a request to the method of its name."""
        return getattr(self, f"_{request['ask']}")(**request["with"])

    def _look(self, seed: int) -> Reply:
        """Query the policy once: the shape of its plans, a hash of its weights, and versions."""
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
        """Rules whose inputs the policy's plans have, with candidate thresholds; from plans at a fixed depth."""
        gathered, count = [], 0
        for i in range(0, len(seeds), self.player.slots.count):
            batch = seeds[i : i + self.player.slots.count]
            played = self.player.play(rules.rule_of({"rule": "Fixed", "depth": depth}), batch, keep=True)
            gathered.append(played.queue.plans)
            count += len(gathered[-1])
            if count >= PLANS:
                break
        found, left_out = rules.candidates(joined(gathered), tuple(depths), self.options.thresholds)
        return {"rules": found, "left_out": left_out}

    def _play(self, rule: dict[str, Any], seeds: Sequence[int]) -> Reply:
        """Play one batch of episodes: their outcomes as lists by field."""
        played = self.player.play(rules.rule_of(rule), seeds)
        outcomes = [asdict(each) for each in played.outcomes]
        by_field = {name: [each[name] for each in outcomes] for name in outcomes[0]}
        if not np.isfinite(by_field["total"]).all():
            raise ValueError(f"env: expected rewards that are finite numbers, got a return of {by_field['total']}")
        return {"outcomes": by_field, "seconds": played.seconds}


class Players(Children):
    """The players of episodes: child processes, or this process where the environment or the policy lives here."""

    def __init__(self, options: SweepOptions, env: Callable[..., Any] | None = None, policy: Any = None) -> None:
        super().__init__(__name__, options.jobs, asdict(options), lambda _: "played episodes", settings=ONE_THREAD)
        self._here = Seat(options, env, policy) if env is not None or policy is not None else None

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Yield number and answer of each request, in order of completion; an error is raised at once."""
        if self._here is not None:
            yield from ((i, self._here.answer(request)) for i, request in enumerate(requests))
            return
        for i, reply in super().ask(requests):
            if "error" in reply:
                raise (ValueError if reply["wrong_call"] else errors.DataError)(reply["error"])
            yield i, reply


def answer(seat: Seat, request: Request) -> Reply:
    """Answer of a request, or its error in plain words, with the failing line of the program."""
    try:
        return seat.answer(request)
    except ImportError as error:
        return {"error": str(error), "wrong_call": False}
    except Exception as error:  # noqa: BLE001  (the sweep raises it)
        own = isinstance(error, ValueError | TypeError) and traceback.extract_tb(error.__traceback__)[-1].filename
        if own and Path(own).is_relative_to(programs.HERE):
            return {"error": str(error), "wrong_call": True}
        frames = traceback.extract_tb(error.__traceback__)
        where = next((each for each in reversed(frames) if "site-packages" not in each.filename), frames[-1])
        place = f"{Path(where.filename).name}, line {where.lineno}"
        return {"error": f"{place}: {type(error).__name__}: {error}", "wrong_call": False}


def main() -> None:
    """Entry point of a child process: serve requests."""
    serve(lambda values: partial(answer, Seat(SweepOptions(**{**values, "out": Path(values["out"])}))))
