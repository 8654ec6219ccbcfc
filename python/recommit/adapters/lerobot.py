"""LeRobot policies that are queried again when a rule decides, not after a fixed ``n_action_steps``.

Needs torch. LeRobot itself is only imported for saved policies and their environments: otherwise any module with
``predict_action_chunk`` and ``reset`` works.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
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

#: LeRobot's key for the stacked pictures of all cameras.
_IMAGES = "observation.images"


class AdaptiveQueue(nn.Module):
    """A LeRobot policy with one action queue per environment, filled to the depth that ``rule`` chooses.

    LeRobot has one queue of ``n_action_steps`` for the whole batch. Here only environments with an empty queue are
    predicted again: the policy gets a batch of these rows. ``decisions`` logs each decision. Everything else, such as
    ``config`` and ``forward``, is the policy's. Works with LeRobot 0.4 and 0.6.

    For a policy with an observation history (Diffusion, VQ-BeT) the history is kept here, per environment and episode;
    at the beginning it is filled with the first observation. Temporal ensembling, which needs a query per action, and
    relative actions are refused.

    Args:
        policy: a ``PreTrainedPolicy``, or an object with its methods.
        rule: chooses the depth.
        samples: further chunks to draw at each query, as ``Plans.samples``; each costs a prediction.
    """

    def __init__(self, policy: nn.Module, rule: Rule | WithMemory, *, samples: int = 0) -> None:
        nn.Module.__init__(self)  # not super(): this class may be mixed into a policy
        _refuse_unplayable(policy)
        self.policy = policy
        self.rule = rule
        self._last: dict[str, Tensor] = {}  # [B, n, ...] observation history, by key
        self.samples = samples
        self._queue: Queue | None = None
        self._like = torch.device("cpu"), torch.float32

    def __getattr__(self, name: str) -> Any:
        """Other attributes are the policy's."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("policy"), name)

    @property
    def decisions(self) -> list[Decision]:
        """All decisions so far, with the clocks of their episodes; cleared when the batch size changes."""
        return self._queue.decisions if self._queue else []

    def forward(self, batch: Batch, *args: Any, **kwargs: Any) -> Any:
        """The policy's own loss."""
        return self.policy(batch, *args, **kwargs)

    def predict_action_chunk(self, batch: Batch, **kwargs: Any) -> Tensor:
        """[B, H, D] the policy's own chunks; does not touch the queues."""
        return self.policy.predict_action_chunk(batch, **kwargs)

    @torch.no_grad()
    def select_action(self, batch: Batch, **kwargs: Any) -> Tensor:
        """[B, D] the next action of each environment."""
        self.eval()
        queue = self._open(_size(batch))
        batch = _observed(self.policy, batch)
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
        """The queues for a batch of this size, which may only change when episodes begin."""
        if self._queue is None or (self._queue.count != size and not self._queue.t.any()):
            self._queue = Queue(self.rule, size)
        if self._queue.count != size:
            raise ValueError(f"batch: expected {self._queue.count} environments until reset, got {size}")
        return self._queue

    def _query(self, batch: Batch, kwargs: Batch) -> Plans:
        chunks = self.predict_action_chunk(batch, **kwargs)
        self._like = chunks.device, chunks.dtype
        actions = _numpy(chunks)
        if not self.samples:
            return Plans(actions)
        drawn = [_numpy(self.predict_action_chunk(batch, **kwargs)) for _ in range(self.samples)]
        return Plans(actions, samples=np.stack(drawn, axis=1))

    def reset(self) -> None:
        """Begin new episodes, with any batch size: clears the queues and the policy's own memory."""
        self.policy.reset()
        self._last = {}
        if self._queue is not None:
            self._queue.reset()

    def reset_rows(self, rows: ArrayLike) -> None:
        """Begin new episodes in these environments of the batch; the others continue."""
        if self._queue is not None:
            self._queue.reset(rows)


class Chunks:
    """A LeRobot policy for ``recommit sweep``: rules see chunks of ``predict``, the environment actions of ``finish``.

    A policy with a history of n observations (Diffusion, VQ-BeT) needs an environment that provides it:
    ``gymnasium.wrappers.FrameStackObservation(env, n)``.

    Args:
        policy: a ``PreTrainedPolicy``, or an object with its methods.
        prepare: converts stacked observations of the environment to the policy's batch, such as LeRobot's preprocessor.
        finish: converts the policy's actions [N, D] to those of the environment, such as its postprocessor.
    """

    def __init__(
        self,
        policy: nn.Module,
        *,
        prepare: Callable[[Any], Batch] = lambda batch: batch,
        finish: Callable[[Tensor], Tensor] = lambda actions: actions,
    ) -> None:
        _refuse_unplayable(policy)
        self.policy = policy.eval()
        self._prepare, self._finish = prepare, finish
        self._like = torch.zeros(0)  # has the device and dtype of chunks

    def reset(self) -> None:
        """Begin new episodes."""
        self.policy.reset()

    @torch.no_grad()
    def predict(self, observations: Any) -> Tensor:
        """[N, H, D] the chunk of each observation."""
        batch = _observed(self.policy, self._prepare(observations))
        for name, length in (gathered := _gathered(self.policy, batch)).items():
            if batch[name].ndim < 2 or batch[name].shape[1] != length:
                raise ValueError(
                    f"observations: expected the last {length} of {name}, as FrameStackObservation(env, {length}) "
                    f"gives them, got an array of shape {list(batch[name].shape)}"
                )
        _remember(self.policy, {name: batch[name] for name in gathered})
        self._like = self.policy.predict_action_chunk(batch)
        return self._like

    def finish(self, actions: NDArray[Any]) -> Tensor:
        """[N, D] the environment's actions."""
        return self._finish(torch.from_numpy(actions).to(self._like))


def load(path: Any, config: Any, **kwargs: Any) -> Any:
    """Load a saved LeRobot policy that predicts whole chunks, which Diffusion and others cut to ``n_action_steps``."""
    from lerobot.policies.factory import get_policy_class

    if hasattr(config, "horizon") and hasattr(config, "n_action_steps"):
        config.n_action_steps = max(config.n_action_steps, config.horizon - config.n_obs_steps + 1)
    return get_policy_class(config.type).from_pretrained(path, config=config, **kwargs)


def saved(path: str, batch: int, **env: Any) -> Chunks:  # noqa: ARG001
    """A saved policy with its processors, for observations of ``environment`` with the same arguments."""
    from lerobot.envs.factory import make_env_pre_post_processors
    from lerobot.envs.utils import preprocess_observation
    from lerobot.policies.factory import make_pre_post_processors

    config, env_config = _configs(path, env)
    policy = load(path, config)
    here = {"device_processor": {"device": str(config.device)}}  # not the device it was trained on
    before, after = make_pre_post_processors(config, path, preprocessor_overrides=here)
    env_before, env_after = make_env_pre_post_processors(env_config, config)
    gathered = {*(getattr(policy, "_queues", None) or {}), *config.image_features} - {"action"}

    def prepare(observations: tuple[Batch, ...]) -> Batch:
        ready = [before(env_before({**preprocess_observation(e), "task": e["task"]})) for e in observations]
        several = gathered.intersection(ready[-1] if len(ready) > 1 else ())
        return {**ready[-1], **{name: torch.stack([each[name] for each in ready], dim=1) for name in several}}

    return Chunks(policy, prepare=prepare, finish=lambda actions: env_after({"action": after(actions)})["action"])


def environment(path: str, batch: int, **env: Any) -> Any:
    """The vector environment of ``lerobot-eval --env.NAME=VALUE`` for a saved policy; an observation is a tuple of the
    policy's whole history."""
    from lerobot.envs.factory import make_env

    config, env_config = _configs(path, env)
    made = [each for tasks in make_env(env_config, n_envs=batch).values() for each in tasks.values()]
    if len(made) > 1:
        raise ValueError(f"env: expected one task, such as --env.task=NAME names, got {len(made)}")
    return _Remembering(made[0], config.n_obs_steps)


def _configs(path: str, env: dict[str, Any]) -> tuple[Any, Any]:
    """Configurations of a saved policy, and of an environment."""
    import draccus
    from lerobot.configs import PreTrainedConfig
    from lerobot.configs.parser import load_plugin
    from lerobot.envs.configs import EnvConfig
    from lerobot.utils.import_utils import register_third_party_plugins

    register_third_party_plugins()
    if package := env.pop("discover_packages_path", ""):
        load_plugin(package)
    if (kind := env.get("type")) not in EnvConfig.get_known_choices():
        raise ValueError(f"env: expected --env.type=NAME, as lerobot-eval takes it, got {kind}")
    words = [f"--{name}={value}" for name, value in env.items() if name != "type"]
    return PreTrainedConfig.from_pretrained(path), draccus.parse(EnvConfig.get_choice_class(kind), args=words)


class _Remembering:
    """A vector environment that ends as ``lerobot-eval`` does; observations are tuples of the last, with their task."""

    def __init__(self, env: Any, length: int) -> None:
        self._env, self._length, self._last = env, length, list[Any]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def reset(self, *, seed: Any = None) -> tuple[Any, ...]:
        self._last = []  # filled with the first observation
        self._left = self._env.call("_max_episode_steps")[0]
        return self._seen(*self._env.reset(seed=seed, options={"lerobot_new_rollout": True}))

    def step(self, actions: Any) -> tuple[Any, ...]:
        *seen, truncated, info = self._env.step(actions)
        self._left -= 1
        return self._seen(*seen, truncated | (self._left < 1), info)

    def _seen(self, observation: Batch, *others: Any) -> tuple[Any, ...]:
        task = [""] * self._env.num_envs
        for name in ("task", "task_description"):
            with suppress(AttributeError, NotImplementedError):
                task = [*self._env.call(name)]
        now = {**observation, "task": task}
        self._last = [*(self._last or [now] * self._length)[1:], now]
        return tuple(self._last), *others


def _refuse_unplayable(policy: nn.Module) -> None:
    config = getattr(policy, "config", None)
    if getattr(config, "temporal_ensemble_coeff", None) is not None:
        raise ValueError("policy: expected temporal_ensemble_coeff=None, got a policy queried before every action")
    if getattr(config, "use_relative_actions", False):  # its postprocessor adds the state of the tick instead
        raise ValueError("policy: expected use_relative_actions=False, got actions relative to the state of the query")


def _gathered(policy: nn.Module, batch: Batch) -> dict[str, int]:
    """Lengths of the policy's observation histories, by key."""
    queues: dict[str, deque[Tensor]] = getattr(policy, "_queues", None) or {}
    lengths = {name: int(queue.maxlen or 1) for name, queue in queues.items() if name != "action"}
    if missing := sorted(set(lengths) - set(batch)):
        raise ValueError(f"batch: expected {', '.join(missing)}, which the policy plans from, got {sorted(batch)}")
    return lengths


def _observed(policy: nn.Module, batch: Batch) -> Batch:
    """Prepare a batch as the policy's ``select_action`` does: without action, pictures of all cameras stacked."""
    batch = {name: value for name, value in batch.items() if name != "action"}
    cameras = getattr(getattr(policy, "config", None), "image_features", None)
    if not cameras or _IMAGES not in (getattr(policy, "_queues", None) or {}):
        return batch
    return {**batch, _IMAGES: torch.stack([batch[camera] for camera in cameras], dim=-4)}


def _remember(policy: Any, last: Batch) -> None:
    """Write histories [B, n, ...] to the queues that ``predict_action_chunk`` reads."""
    for name, each in last.items():
        policy._queues[name] = deque(each.unbind(1), maxlen=each.shape[1])


def _size(batch: Batch) -> int:
    for value in batch.values():
        if isinstance(value, Tensor) and value.ndim:
            return len(value)
    raise ValueError(f"batch: expected a tensor with an axis of environments, got {sorted(batch)}")


def _rows(batch: Batch, rows: NDArray[np.intp], size: int) -> Batch:
    """The batch restricted to these environments, for tensors and lists with one entry per environment."""

    def part(value: Any) -> Any:
        if isinstance(value, Tensor) and value.ndim and len(value) == size:
            return value[torch.from_numpy(rows).to(value.device)]
        return [value[row] for row in rows] if isinstance(value, list) and len(value) == size else value

    return {name: part(value) for name, value in batch.items()}


def _numpy(chunks: Tensor) -> NDArray[np.float32]:
    return chunks.detach().to("cpu", torch.float32).numpy()
