"""A replacement for openpi's ``ActionChunkBroker`` that queries the policy again when a rule decides.

openpi-client is not imported: any object with ``infer`` and ``reset`` is a policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.horizon import Plans, Queue
from recommit.horizon.sweep.slots import row, size

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.horizon import Decision, Rule, WithMemory

    Arrays = dict[str, Any]


class AdaptiveBroker:
    """Returns a policy's chunk one action at a time, and queries the next one after the rule's depth.

    As in ``ActionChunkBroker``, every nested numpy array with the chunk's length is indexed at the current step; other
    values are passed through. The rule reads the array ``key``; ``decisions`` logs each decision with both clocks.

    Args:
        policy: a ``BasePolicy``, such as a ``WebsocketClientPolicy``, with ``infer`` and ``reset``.
        rule: chooses the depth.
        key: name of the plan's array in the result.
    """

    def __init__(self, policy: Any, rule: Rule | WithMemory, *, key: str = "actions") -> None:
        self._policy = policy
        self._key = key
        self._queue = Queue(rule)
        self._result: Arrays = {}
        self._length = self._place = 0

    @property
    def decisions(self) -> list[Decision]:
        """All decisions so far."""
        return self._queue.decisions

    def infer(self, obs: Arrays) -> Arrays:
        """The next action, with the rest of its query's result."""
        if len(self._queue.empty()):
            result = self._policy.infer(obs)
            plans = Plans(_plan(result, self._key)[None])
            self._queue.fill(plans)
            self._result, self._length, self._place = result, plans.horizon, 0
        step: Arrays = _sliced(self._result, self._place, self._length)
        step[self._key] = self._queue.pop()[0]
        self._place += 1
        return step

    def reset(self) -> None:
        """Begin an episode; drops the rest of the chunk."""
        self._policy.reset()
        self._queue.reset()
        self._result = {}


class Chunks:
    """An openpi policy for ``recommit sweep``: ``predict(observations)`` returns the chunks of a batch.

    Args:
        policy: a ``BasePolicy``; queried with one observation at a time.
        key: name of the plan's array in its result.
        prepare: converts one observation of the environment to the policy's input.
    """

    def __init__(
        self, policy: Any, *, key: str = "actions", prepare: Callable[[Any], Arrays] = lambda each: each
    ) -> None:
        self.policy, self._key, self._prepare = policy, key, prepare

    def reset(self) -> None:
        """Begin an episode."""
        self.policy.reset()

    def predict(self, observations: Any) -> NDArray[Any]:
        """[N, H, D] the chunk of each observation."""
        results = [self.policy.infer(self._prepare(row(observations, i))) for i in range(size(observations))]
        return np.stack([_plan(each, self._key) for each in results])


def _plan(result: Arrays, key: str) -> NDArray[Any]:
    if key not in result:
        raise ValueError(f"key: expected one of {sorted(result)}, got {key}")
    return np.asarray(result[key])


def _sliced(value: Any, place: int, length: int) -> Any:
    if isinstance(value, np.ndarray):
        return value[place, ...] if value.ndim and len(value) == length else value
    if isinstance(value, dict):
        return {name: _sliced(each, place, length) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_sliced(each, place, length) for each in value)
    return value
