"""What a zero-shot run is called with, and everything that can be wrong about it before anything is made or sent."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.puzzles.registry import TASKS, Task
from recommit.zero_shot import runner
from recommit.zero_shot.http.client import Service
from recommit.zero_shot.http.endpoints import find
from recommit.zero_shot.http.parameters import Parameters
from recommit.zero_shot.http.secret import Key
from recommit.zero_shot.http.wire import Address
from recommit.zero_shot.ledger import Caps
from recommit.zero_shot.spec import WrongSpec, ZeroShotSpec

if TYPE_CHECKING:
    from recommit.puzzles.instances import Instances
    from recommit.zero_shot.http.endpoints import Endpoint


@dataclass(frozen=True)
class PreparedRun:
    """A run that may begin: what is played, who is asked, and within which limits."""

    spec: ZeroShotSpec
    starts: Instances
    service: Service
    parameters: Parameters
    out: Path
    limits: runner.RunLimits

    def run(self, *, quiet: bool = False) -> list[dict[str, Any]]:
        """Play what is left of it; the summary."""
        return runner.run(self.spec, self.starts, self.service, self.parameters, self.out, self.limits, quiet=quiet)


@dataclass(frozen=True)
class ZeroShotCall:
    """The values of ``recommit zero-shot``, whose help says what each is."""

    model: str
    out: Path
    task: Task | None = None
    data: Path | None = None
    endpoint: str | None = None
    instances: int = 64
    size: tuple[int, ...] = ()
    boxes: int | None = None
    length: tuple[int, ...] = ()
    budget: int | None = None
    seed: int = 0
    workers: int = 4
    lenient: bool = False
    moves: Literal["blank", "tile"] = "blank"
    max_requests: int | None = None
    max_tokens: int | None = None
    max_money: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    base_url: str | None = None
    key_variable: str | None = None
    temperature: float = 0.7
    top_p: float = 0.9
    without: tuple[str, ...] = ()
    answer_tokens: int | None = None
    extra: str = "{}"
    any_model: bool = False
    cell: int = 56
    timeout: float = 120.0
    retries: int = 5
    cache: Path | None = None

    def prepare(self) -> PreparedRun:
        """Check everything; ``ValueError`` names what is wrong."""
        caps = _caps(self.max_requests, self.max_tokens, self.max_money, self.price_in, self.price_out)
        _within("workers", self.workers, 1, 256)
        server = find(self.model, self.endpoint)
        service = _service(self, server)
        most = self.answer_tokens or server.answer_tokens
        sampling = _sampling(self.temperature, self.top_p, most, self.without)
        spec = replace(_spec(self, service, sampling), moves=self.moves)
        _free_of_key(service.key, [str(self.out), str(self.cache), str(service.address), str(spec)])
        limits = runner.RunLimits(caps, self.workers, self.cache)
        return PreparedRun(spec, spec.starts(), service, Parameters(server, sampling), Path(self.out), limits)


def zero_shot(model: str, out: str | Path, *, quiet: bool = True, **options: Any) -> list[dict[str, Any]]:
    """Let a vision-language model play through an API, or go on with such a run; the figures, as in ``summary.json``.

    ``options`` are the fields of ``ZeroShotCall``: ``task``, ``endpoint``, ``base_url``, ``instances`` and so on.
    """
    return ZeroShotCall(model, Path(out), **options).prepare().run(quiet=quiet)


def _service(call: ZeroShotCall, server: Endpoint) -> Service:
    base = call.base_url
    if not call.model or not call.model.isprintable():
        raise WrongSpec(f"model: expected a name, got {call.model!r}")
    if not (base or server.base):
        raise WrongSpec(f"base_url: expected an address for the endpoint {server.name}, got none")
    _number("timeout", call.timeout, 0.0, 3600.0)
    _within("retries", call.retries, 0, 100)
    address, key = Address.parse(base or server.base), Key.from_environment(call.key_variable or server.key_variable)
    if server.key_needed and not key and base is None:
        raise WrongSpec(f"key_variable: expected a key in {key.variable}, got an empty variable")
    if key and address.scheme == "http" and not address.local:
        raise WrongSpec(f"base_url: expected https, since {key.variable} holds a key, got http")
    extra = _fields(call.extra)
    return Service(server, address, call.model, key, call.timeout, call.retries, call.any_model, extra)


@dataclass(frozen=True)
class _Wanted:
    """What is played."""

    task: str
    size: tuple[int, int]
    boxes: int
    length: tuple[int, ...]
    data: dict[str, Any] | None = None


def _wanted(call: ZeroShotCall) -> _Wanted:
    task = "sliding" if call.task is None else call.task
    if task not in TASKS:
        raise WrongSpec(f"task: expected one of {', '.join(TASKS)}, got {task}")
    usual = TASKS[task].usual
    if len(call.size) > 2:
        raise WrongSpec(f"size: expected rows, or rows and columns, got {len(call.size)} numbers")
    sides = (call.size[0], call.size[-1]) if call.size else usual.size
    boxes = (2 if call.boxes is None else call.boxes) if TASKS[task].most_boxes else 0
    return _Wanted(task, sides, boxes, _window(call.length) or usual.length)


def _of_data(call: ZeroShotCall, data: Path) -> _Wanted:
    from recommit.data.spec import DataSpec

    spec = DataSpec.read(Path(data) / "recipe.json")
    if call.task not in (None, spec.task):
        raise WrongSpec(f"task: expected {spec.task}, that of the data, got {call.task}")
    for name, value in (("size", call.size), ("boxes", call.boxes), ("seed", call.seed)):
        if value not in ((), None, 0):
            raise WrongSpec(f"{name}: expected none beside data, which decides it, got {value}")
    boxes = max((difficulty.boxes for difficulty in spec.difficulties), default=0)
    return _Wanted(spec.task, spec.size, boxes, _window(call.length), spec.to_dict())


def _window(length: tuple[int, ...]) -> tuple[int, ...]:
    """Shortest and longest, where one number may stand for both."""
    if len(length) > 2:
        raise WrongSpec(f"length: expected one length, or shortest and longest, got {len(length)} numbers")
    return length * 2 if len(length) == 1 else length


def _spec(call: ZeroShotCall, service: Service, parameters: dict[str, Any]) -> ZeroShotSpec:
    wanted = _of_data(call, call.data) if call.data else _wanted(call)
    budget = TASKS[wanted.task].usual.budgets["loose"] if call.budget is None else call.budget
    _within("instances", call.instances, 1, 1 << 20)
    _within("budget", budget, 1, 64)
    _within("cell", call.cell, 4, 112)
    _within("seed", call.seed, 0, (1 << 63) - 1)
    return ZeroShotSpec(
        service.model,
        service.endpoint.name,
        wanted.task,
        wanted.size,
        wanted.boxes,
        wanted.length,
        call.instances,
        call.seed,
        budget,
        call.lenient,
        parameters,
        service.any_model,
        call.cell,
        service.extra,
        wanted.data,
    )


def _caps(requests: int | None, tokens: int | None, money: float | None, price_in: float, price_out: float) -> Caps:
    for name, value in (("max_requests", requests), ("max_tokens", tokens), ("max_money", money)):
        if value is not None:
            _number(name, value, 0.0, 1e15)
    for name, price in (("price_in", price_in), ("price_out", price_out)):
        _number(name, price, 0.0, 1e9)
    if money is not None and not (price_in > 0 and price_out > 0):
        raise WrongSpec(f"max_money: expected price_in and price_out with it, got {price_in:g} and {price_out:g}")
    return Caps(requests, tokens, money, price_in, price_out)


def _sampling(temperature: float, top_p: float, answer_tokens: int, without: tuple[str, ...]) -> dict[str, Any]:
    _number("temperature", temperature, 0.0, 2.0)
    _number("top_p", top_p, 0.0, 1.0)
    _within("answer_tokens", answer_tokens, 16, 1 << 20)
    samplers = {"temperature": temperature, "top_p": top_p}
    unknown = [name for name in without if name not in samplers]
    if unknown:
        raise WrongSpec(f"without: expected {' or '.join(samplers)}, got {unknown[0]}")
    return {name: value for name, value in samplers.items() if name not in without} | {"answer_tokens": answer_tokens}


def _fields(extra: str) -> dict[str, Any]:
    """Further fields of a request; those that this program sets itself are not for the taking."""
    ours = {"model", "messages", "system", "stream", "n", "temperature", "top_p", "max_tokens", "max_completion_tokens"}
    try:
        fields = json.loads(extra)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or ours & set(fields):
        raise WrongSpec(f"extra: expected a JSON object without {', '.join(sorted(ours))}, got another text")
    return fields


def _free_of_key(key: Key, texts: list[str]) -> None:
    if any(key.stands_in(text) for text in texts):
        raise WrongSpec(f"key_variable: expected the key in {key.variable} alone, got it in another argument too")


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise WrongSpec(f"{name}: expected {low}..{high}, got {value}")


def _number(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise WrongSpec(f"{name}: expected {low:g}..{high:g}, got {value:g}")
