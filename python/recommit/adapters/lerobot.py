"""LeRobot policies that are queried again when a rule says so, not after ``n_action_steps``.

Needs torch; LeRobot itself is not imported: any module with ``predict_action_chunk`` and ``reset`` will do.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from recommit.horizon import Plans, Queue

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from recommit.horizon import Decision, Rule, WithMemory

    Batch = dict[str, Any]

#: What LeRobot calls the pictures of all cameras together.
_IMAGES = "observation.images"


class AdaptiveQueue(nn.Module):
    """A LeRobot policy whose every environment has a queue of its own, filled as deep as ``rule`` says.

    LeRobot holds one queue for the whole batch, of ``n_action_steps``. Here an environment is predicted again when its
    own queue is empty, and it alone: the policy gets a batch of these rows. ``decisions`` logs each decision.
    Everything else, such as ``config`` and ``forward``, is the policy's. It meets LeRobot 0.4 and 0.6.

    For a policy that plans from its last observations (Diffusion, VQ-BeT) these are kept here, for each environment
    those of its own episode; at its beginning the first one stands for all. Temporal ensembling needs a query per
    action and is refused.

    Args:
        policy: a ``PreTrainedPolicy``, or what has its methods.
        rule: says how deep to commit.
        samples: further chunks to draw at each query, as ``Plans.samples``; each costs a prediction.
        read_plans: makes the rule's ``Plans`` of (chunks [N, H, D], batch of the same rows), for more than that.
    """

    def __init__(
        self,
        policy: nn.Module,
        rule: Rule | WithMemory,
        *,
        samples: int = 0,
        read_plans: Callable[[NDArray[np.floating], Batch], Plans] | None = None,
    ) -> None:
        super().__init__()
        _refuse_ensembling(policy)
        self.policy = policy
        self.rule = rule
        self._last: dict[str, Tensor] = {}  # [B, n, ...] the last observations, of what the policy gathers
        self.samples = samples
        self._plans = read_plans
        self._queue: Queue | None = None
        self._like = torch.device("cpu"), torch.float32

    def __getattr__(self, name: str) -> Any:
        """What is not here is the policy's."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("policy"), name)

    @property
    def decisions(self) -> list[Decision]:
        """Each decision so far, with the clocks of its episode; a batch of another size begins anew."""
        return self._queue.decisions if self._queue else []

    def forward(self, batch: Batch, *args: Any, **kwargs: Any) -> Any:
        """The policy's own loss."""
        return self.policy(batch, *args, **kwargs)

    def predict_action_chunk(self, batch: Batch, **kwargs: Any) -> Tensor:
        """[B, H, D] the policy's own chunks; queues stay as they are."""
        chunks: Tensor = self.policy.predict_action_chunk(batch, **kwargs)
        return chunks

    @torch.no_grad()
    def select_action(self, batch: Batch, **kwargs: Any) -> Tensor:
        """[B, D] the next action of each environment."""
        self.eval()
        queue = self._open(_size(batch))
        batch = _with_images(self.policy, batch)
        for name, length in _gathered(self.policy, batch).items():
            now, last = batch[name][:, None], self._last.get(name)
            if last is None or last.shape[0] != queue.count:
                last = now.repeat_interleave(length, dim=1)
            first = torch.from_numpy(queue.t == 0).to(now.device).view(-1, *[1] * (now.ndim - 1))
            self._last[name] = torch.where(first, now, torch.cat([last[:, 1:], now], dim=1))

        def query(rows: NDArray[np.intp]) -> Plans:
            _remember(self.policy, _rows(self._last, rows, queue.count))
            part = batch if len(rows) == queue.count else _rows(batch, rows, queue.count)
            return self._query(part, kwargs)

        return torch.from_numpy(queue.act(query)).to(*self._like)

    def _open(self, size: int) -> Queue:
        """Queues of a batch of this size; another size only where episodes begin."""
        if self._queue is None or (self._queue.count != size and not self._queue.t.any()):
            self._queue = Queue(self.rule, size)
        if self._queue.count != size:
            raise ValueError(f"batch: expected {self._queue.count} environments until reset, got {size}")
        return self._queue

    def _query(self, batch: Batch, kwargs: Batch) -> Plans:
        chunks = self.predict_action_chunk(batch, **kwargs)
        self._like = chunks.device, chunks.dtype
        actions = _numpy(chunks)
        if self._plans is not None:
            return self._plans(actions, batch)
        if not self.samples:
            return Plans(actions)
        drawn = [_numpy(self.predict_action_chunk(batch, **kwargs)) for _ in range(self.samples)]
        return Plans(actions, samples=np.stack(drawn, axis=1))

    def reset(self) -> None:
        """New episodes everywhere, of a batch of any size: queues and the policy's own memory are emptied."""
        self.policy.reset()
        self._last = {}
        if self._queue is not None:
            self._queue.reset()

    def reset_rows(self, rows: ArrayLike) -> None:
        """New episodes in these environments of the batch; the others go on."""
        if self._queue is not None:
            self._queue.reset(rows)

    def drop_queued_actions(self) -> None:
        """Query the policy again before the next action, in the same episodes."""
        if self._queue is not None:
            self._queue.drop()


class Chunks:
    """A policy as ``recommit sweep`` asks one: ``predict(observations)`` gives the chunks of a batch.

    A policy that plans from its last n observations (Diffusion, VQ-BeT) needs an environment that gives these:
    ``gymnasium.wrappers.FrameStackObservation(env, n)``.

    Args:
        policy: a ``PreTrainedPolicy``, or what has its methods.
        prepare: makes the policy's batch of the environment's observations, which are stacked: here belongs LeRobot's
            preprocessor. Without it, arrays become tensors, and an array alone is "observation.state".
        finish: makes actions of the policy's chunks [N, H, D]: its postprocessor.
    """

    def __init__(
        self,
        policy: nn.Module,
        *,
        prepare: Callable[[Any], Batch] | None = None,
        finish: Callable[[Tensor], Tensor] = lambda chunks: chunks,
    ) -> None:
        _refuse_ensembling(policy)
        self.policy = policy.eval()
        self._prepare = prepare or _tensors
        self._finish = finish

    def reset(self) -> None:
        """New episodes everywhere."""
        self.policy.reset()

    @torch.no_grad()
    def predict(self, observations: Any) -> Tensor:
        """[N, H, D] the chunk of each observation."""
        batch = _with_images(self.policy, self._prepare(observations))
        gathered = _gathered(self.policy, batch)
        for name, length in gathered.items():
            if batch[name].ndim < 2 or batch[name].shape[1] != length:
                raise ValueError(
                    f"observations: expected the last {length} of {name}, as FrameStackObservation(env, {length}) "
                    f"gives them, got an array of shape {list(batch[name].shape)}"
                )
        _remember(self.policy, {name: batch[name] for name in gathered})
        return self._finish(self.policy.predict_action_chunk(batch))


def _tensors(observations: Any) -> Batch:
    named = observations if isinstance(observations, dict) else {"observation.state": observations}
    return {name: each if isinstance(each, list) else torch.as_tensor(each).float() for name, each in named.items()}


def _refuse_ensembling(policy: nn.Module) -> None:
    if getattr(getattr(policy, "config", None), "temporal_ensemble_coeff", None) is not None:
        raise ValueError("policy: expected temporal_ensemble_coeff=None, got a policy queried before every action")


def _gathered(policy: nn.Module, batch: Batch) -> dict[str, int]:
    """Of which observations the policy plans from the last ones, and from how many."""
    queues: dict[str, deque[Tensor]] = getattr(policy, "_queues", None) or {}
    lengths = {name: int(queue.maxlen or 1) for name, queue in queues.items() if name != "action"}
    if missing := sorted(set(lengths) - set(batch)):
        raise ValueError(f"batch: expected {', '.join(missing)}, which the policy plans from, got {sorted(batch)}")
    return lengths


def _with_images(policy: nn.Module, batch: Batch) -> Batch:
    """As the policy's own ``select_action`` has them: the pictures of all cameras as one tensor."""
    cameras = getattr(getattr(policy, "config", None), "image_features", None)
    if not cameras or _IMAGES not in (getattr(policy, "_queues", None) or {}):
        return batch
    return {**batch, _IMAGES: torch.stack([batch[camera] for camera in cameras], dim=-4)}


def _remember(policy: Any, last: Batch) -> None:
    """Put [B, n, ...] observations where ``predict_action_chunk`` looks for them."""
    for name, each in last.items():
        policy._queues[name] = deque(each.unbind(1), maxlen=each.shape[1])


def _size(batch: Batch) -> int:
    for value in batch.values():
        if isinstance(value, Tensor) and value.ndim:
            return len(value)
    raise ValueError(f"batch: expected a tensor with an axis of environments, got {sorted(batch)}")


def _rows(batch: Batch, rows: NDArray[np.intp], size: int) -> Batch:
    """The same batch of these environments only: tensors and lists with an entry for each."""
    return {name: _part(value, rows, size) for name, value in batch.items()}


def _part(value: Any, rows: NDArray[np.intp], size: int) -> Any:
    if isinstance(value, Tensor) and value.ndim and len(value) == size:
        return value[torch.from_numpy(rows).to(value.device)]
    if isinstance(value, list) and len(value) == size:
        return [value[row] for row in rows]
    return value


def _numpy(chunks: Tensor) -> NDArray[np.float32]:
    result: NDArray[np.float32] = chunks.detach().to("cpu", torch.float32).numpy()
    return result
