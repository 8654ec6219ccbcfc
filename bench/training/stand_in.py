"""A policy of the shapes of Qwen2.5-VL-7B whose backbone computes nothing, an engine that learns nothing, and a clock
that tells who used the CPU. Everything else that a training run does is real. For ``outside_model.py``."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.backbones.random_init import BACKBONES, config, make_tokenizer
from recommit.policy.config import PolicyConfig
from recommit.policy.policy import CommitPolicy
from recommit.runs.distributed import Team
from recommit.train.engine import base

T = TypeVar("T")
#: What stands for the model: its CPU time is not counted, since a GPU works meanwhile.
MODEL = "model"


class Stages:
    """CPU seconds of this process by stage, each second counted once: where stages nest, by the innermost."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = defaultdict(float)
        #: Seconds that the model is said to take.
        self.model = 0.0
        self._open, self._since = ["the rest"], time.process_time()

    def clear(self) -> None:
        self.cpu.clear()
        self.model, self._since = 0.0, time.process_time()

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        self._count()
        self._open.append(stage)
        try:
            yield
        finally:
            self._count()
            self._open.pop()

    def _count(self) -> None:
        now = time.process_time()
        self.cpu[self._open[-1]] += now - self._since
        self._since = now

    def watch(self, owner: Any, name: str, stage: str) -> None:
        """Count every later call of a function of ``owner`` to a stage."""
        whole = getattr(owner, name)

        @wraps(whole)
        def counted(*arguments: Any, **options: Any) -> Any:
            with self(stage):
                return whole(*arguments, **options)

        setattr(owner, name, counted)

    def outside(self) -> dict[str, float]:
        """All stages but the model's."""
        self._count()
        return {stage: seconds for stage, seconds in self.cpu.items() if stage != MODEL}


class StandIn(QwenBackbone):
    """Right shapes at once; how long they would have taken is noted. A state's features, and its z, depend on it."""

    device = torch.device("cpu")
    stages: Stages
    #: Seconds of the model per state that is looked at, and per state that is learned from.
    look, learn = 0.0, 0.0

    def features(self, pixels: Tensor, grid: tuple[int, int]) -> Tensor:
        """See ``Backbone``; the first number of a token stands for its pixels."""
        with self.stages(MODEL):
            tokens = grid[0] * grid[1]
            seen = pixels.view(-1, tokens, 4 * pixels.shape[1])
            out = torch.zeros(len(seen), tokens, self.width, dtype=torch.bfloat16)
            out[..., 0] = seen[..., ::97].sum(-1)
            return out

    def z(self, features: Tensor, geometry: Any) -> Tensor:  # noqa: ARG002
        """See ``Backbone``."""
        with self.stages(MODEL):
            self.stages.model += len(features) * (self.learn if torch.is_grad_enabled() else self.look)
            weights = torch.arange(1, features.shape[1] + 1, dtype=torch.float32)
            number = (features[..., 0].float() * weights).sum(1).mul(1000).long()
            return self._table[number.remainder(len(self._table))]

    @property
    def _table(self) -> Tensor:
        if not hasattr(self, "_rows"):
            self._rows = torch.randn(4096, self.width, generator=torch.Generator().manual_seed(0))
        return self._rows


def policy(stages: Stages, preset: str, prompts: tuple[str, str], look: float, learn: float) -> CommitPolicy:
    """The frozen weights have shapes only; adapters and heads are whole."""
    from transformers import Qwen2_5_VLModel

    tokenizer = make_tokenizer()
    with torch.device("meta"):
        model = Qwen2_5_VLModel(config(BACKBONES[preset], tokenizer)).to(torch.bfloat16)
    backbone = StandIn(model, tokenizer)
    backbone.stages, backbone.look, backbone.learn = stages, look, learn
    policy = CommitPolicy(backbone, PolicyConfig(prompts=prompts), source=f"random:{preset}")
    policy.known_fingerprint = "0" * 64  # there are no frozen weights to read
    for module in policy.backbone.model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.requires_grad and parameter.is_meta:
                setattr(module, name, nn.Parameter(torch.zeros(parameter.shape)))
    return policy


class StandInEngine:
    """See ``recommit.train.engine.base.Engine``. What it saves is real and of the true size."""

    together = True

    def __init__(self, stages: Stages, trained: Iterable[nn.Parameter], team: Team) -> None:
        self.stages, self.team, self.trained = stages, team, list(trained)
        owned = self.trained if team.is_main_process else []
        self._moments = {
            id(p): (torch.zeros_like(p), torch.zeros_like(p)) for p in owned
        }  # there before a save, as in AdamW

    def run(self, work: Callable[[], T]) -> T:
        """At once."""
        return work()

    def backward(self, loss: Tensor) -> None:
        """The model's time for it is in that of the pass."""

    def step(self, scale: float) -> float:  # noqa: ARG002
        """Moves nothing."""
        return 1.0

    def whole(self, _policy: CommitPolicy) -> Any:
        """They are."""
        return nullcontext()

    def full(self, parameters: Iterable[nn.Parameter]) -> list[Tensor]:
        """Copies."""
        return [p.detach().float().clone() for p in parameters]

    def assign(self, parameters: Iterable[nn.Parameter], values: Iterable[Tensor]) -> None:
        """Copied back."""
        with torch.no_grad():
            for parameter, value in zip(parameters, values, strict=True):
                parameter.copy_(value)

    def save(self, folder: Any) -> None:
        """Weights and moments in float32, by the lead."""
        base.save_states(folder, (self._state(p) for p in self.trained), write=self.team.is_main_process)

    def _state(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        if not self.team.is_main_process:
            return {}
        first, second = self._moments[id(parameter)]
        return {"weight": parameter.detach(), "exp_avg": first, "exp_avg_sq": second, "step": torch.zeros(())}

    def load(self, folder: Any) -> None:
        """Runs here are never resumed."""
        raise NotImplementedError(folder)

    def close(self) -> None:
        """Nothing to let go of."""
