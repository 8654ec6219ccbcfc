"""``recommit zero-shot``: the signature is the command line. Light to import."""

from __future__ import annotations

import json as json_module
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.cli.requests import WrongCall, window
from recommit.puzzles.registry import TASKS, Task
from recommit.storage.foreign_text import say, tell

if TYPE_CHECKING:
    from recommit.zero_shot.http.client import Service
    from recommit.zero_shot.http.endpoints import Endpoint
    from recommit.zero_shot.http.secret import Key
    from recommit.zero_shot.ledger import Caps
    from recommit.zero_shot.spec import ZeroShotSpec


def zero_shot(
    model: str,
    out: Path,
    task: Task | None = None,
    data: Path | None = None,
    endpoint: str | None = None,
    instances: int = 64,
    size: tuple[int, ...] = (),
    boxes: int | None = None,
    length: tuple[int, ...] = (),
    budget: int | None = None,
    seed: int = 0,
    workers: int = 4,
    lenient: bool = False,
    moves: Literal["blank", "tile"] = "blank",
    max_requests: int | None = None,
    max_tokens: int | None = None,
    max_money: float | None = None,
    price_in: float = 0.0,
    price_out: float = 0.0,
    base_url: str | None = None,
    key_variable: str | None = None,
    temperature: float = 0.7,
    top_p: float = 0.9,
    without: tuple[str, ...] = (),
    answer_tokens: int | None = None,
    extra: str = "{}",
    any_model: bool = False,
    cell: int = 56,
    timeout: float = 120.0,
    retries: int = 5,
    cache: Path | None = None,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Let a vision-language model play through an API, or go on with such a run: the same command does both.

    Args:
        model: The model's name, as its server knows it.
        out: The folder of the run.
        task: Which puzzle; sliding, or that of the data, if not said.
        data: A data set (see recommit data build): play its test instances, those of recommit evaluate.
        endpoint: openai, anthropic, gemini, vllm, sglang, ollama, transformers-serve or custom; the models of the
            paper know theirs.
        instances: Episodes to play.
        size: Rows, or rows and columns; 3 for sliding and 8 for the others if not said.
        boxes: Boxes of a Sokoban level; 2 if not said.
        length: Optimal length of every instance, or the shortest and longest; as in the data if not said.
        budget: Decisions per episode; the loose budget of the paper if not said.
        seed: Other seeds give other instances.
        workers: Requests at a time.
        lenient: Take the first eight actions of an answer, whatever h it says.
        moves: What moves the way that an action of a sliding puzzle names: the blank, or the tile beside it.
        max_requests: Send at most so many requests, over all starts of the run; failed ones count.
        max_tokens: Spend at most so many tokens, questions and answers together.
        max_money: Spend at most so much, by the prices given.
        price_in: Price of a million tokens of the questions.
        price_out: Price of a million tokens of the answers.
        base_url: Where the server is, up to the version: http://127.0.0.1:8000/v1.
        key_variable: The environment variable that holds the key, if not the usual one.
        temperature: Of the model's sampling.
        top_p: Of the model's sampling.
        without: Of these two, what not to send: temperature, top_p. What a server refuses is left out in any case.
        answer_tokens: Most tokens of one answer, hidden thoughts included.
        extra: Further fields of the request, as JSON: {"reasoning_effort": "low"}.
        any_model: Accept answers whatever model the server says it ran.
        cell: Pixels per cell of the picture.
        timeout: Seconds that one request may take in all.
        retries: How often a request is repeated that got no answer.
        cache: A folder of answers that runs share.
        json: Print the summary as JSON.
        quiet: Say nothing while playing.
    """
    from recommit.storage.errors import DataError, WrongFolder
    from recommit.zero_shot import figures, runner
    from recommit.zero_shot.errors import ZeroShotError
    from recommit.zero_shot.http.endpoints import find
    from recommit.zero_shot.http.parameters import Parameters
    from recommit.zero_shot.spec import WrongSpec

    caps = _caps(max_requests, max_tokens, max_money, price_in, price_out)
    _within("workers", workers, 1, 256)
    try:
        server = find(model, endpoint)
        service = _service(server, model, base_url, key_variable, timeout, retries, any_model, extra)
        most = answer_tokens or server.answer_tokens
        sampling = _sampling(temperature, top_p, most, without)
        wanted = _of_data(data, task, size, boxes, length, seed) if data else _wanted(task, size, boxes, length)
        spec = replace(_spec(service, wanted, instances, seed, budget, lenient, cell, sampling), moves=moves)
        _free_of_key(service.key, [str(out), str(cache), str(service.address), str(spec)])
        starts = spec.starts()
    except ValueError as error:
        raise WrongCall(str(error)) from None
    limits, parameters = runner.RunLimits(caps, workers, cache), Parameters(server, sampling)
    try:
        summary = runner.run(spec, starts, service, parameters, out, limits, quiet=quiet)
    except (WrongSpec, WrongFolder) as error:
        raise WrongCall(str(error)) from None
    except DataError as error:
        return _failed(error, error.exit_status)
    except ZeroShotError as error:
        return _failed(error, 1)
    tell(json_module.dumps(summary, indent=2) + "\n" if json else figures.table(summary), end="")
    return 0 if summary[0]["instances"] else 1  # not one episode got its answers


def _failed(error: Exception, status: int) -> int:
    say(f"recommit zero-shot: {error}")
    return status


def _service(
    server: Endpoint,
    model: str,
    base_url: str | None,
    key_variable: str | None,
    timeout: float,
    retries: int,
    any_model: bool,
    extra: str,
) -> Service:
    from recommit.zero_shot.http.client import Service
    from recommit.zero_shot.http.secret import Key
    from recommit.zero_shot.http.wire import Address

    if not model or not model.isprintable():
        raise WrongCall(f"model: expected a name, got {model!r}")
    if not (base_url or server.base):
        raise WrongCall(f"base_url: expected an address for the endpoint {server.name}, got none")
    _number("timeout", timeout, 0.0, 3600.0)
    _within("retries", retries, 0, 100)
    address, key = Address.parse(base_url or server.base), Key.from_environment(key_variable or server.key_variable)
    if server.key_needed and not key and base_url is None:
        raise WrongCall(f"key_variable: expected a key in {key.variable}, got an empty variable")
    if key and address.scheme == "http" and not address.local:
        raise WrongCall(f"base_url: expected https, since {key.variable} holds a key, got http")
    return Service(server, address, model, key, timeout, retries, any_model, _fields(extra))


@dataclass(frozen=True)
class _Wanted:
    """What is played."""

    task: str
    size: tuple[int, int]
    boxes: int
    length: tuple[int, ...]
    data: dict[str, Any] | None = None


def _wanted(task: str | None, size: tuple[int, ...], boxes: int | None, length: tuple[int, ...]) -> _Wanted:
    task = "sliding" if task is None else task
    if task not in TASKS:
        raise WrongCall(f"task: expected one of {', '.join(TASKS)}, got {task}")
    usual = TASKS[task].usual
    if len(size) > 2:
        raise WrongCall(f"size: expected rows, or rows and columns, got {len(size)} numbers")
    sides = (size[0], size[-1]) if size else usual.size
    span = window(length) or usual.length
    lengths = (span, span) if isinstance(span, int) else span
    return _Wanted(task, sides, (2 if boxes is None else boxes) if TASKS[task].most_boxes else 0, lengths)


def _of_data(
    data: Path, task: str | None, size: tuple[int, ...], boxes: int | None, length: tuple[int, ...], seed: int
) -> _Wanted:
    from recommit.data.spec import DataSpec

    spec = DataSpec.read(Path(data) / "recipe.json")
    if task not in (None, spec.task):
        raise WrongCall(f"task: expected {spec.task}, that of the data, got {task}")
    for name, value in (("size", size), ("boxes", boxes), ("seed", seed)):
        if value not in ((), None, 0):
            raise WrongCall(f"{name}: expected none beside data, which decides it, got {value}")
    span = window(length)
    lengths = () if span is None else (span, span) if isinstance(span, int) else span
    return _Wanted(spec.task, spec.size, max((v.boxes for v in spec.difficulties), default=0), lengths, spec.to_dict())


def _spec(
    service: Service,
    wanted: _Wanted,
    instances: int,
    seed: int,
    budget: int | None,
    lenient: bool,
    cell: int,
    parameters: dict[str, Any],
) -> ZeroShotSpec:
    from recommit.zero_shot.spec import ZeroShotSpec

    budget = TASKS[wanted.task].usual.budgets["loose"] if budget is None else budget
    _within("instances", instances, 1, 1 << 20)
    _within("budget", budget, 1, 64)
    _within("cell", cell, 4, 112)
    _within("seed", seed, 0, (1 << 63) - 1)
    return ZeroShotSpec(
        service.model,
        service.endpoint.name,
        wanted.task,
        wanted.size,
        wanted.boxes,
        wanted.length,
        instances,
        seed,
        budget,
        lenient,
        parameters,
        service.any_model,
        cell,
        service.extra,
        wanted.data,
    )


def _caps(requests: int | None, tokens: int | None, money: float | None, price_in: float, price_out: float) -> Caps:
    from recommit.zero_shot.ledger import Caps

    for name, value in (("max_requests", requests), ("max_tokens", tokens), ("max_money", money)):
        if value is not None:
            _number(name, value, 0.0, 1e15)
    for name, price in (("price_in", price_in), ("price_out", price_out)):
        _number(name, price, 0.0, 1e9)
    if money is not None and not (price_in > 0 and price_out > 0):
        raise WrongCall(f"max_money: expected price_in and price_out with it, got {price_in:g} and {price_out:g}")
    return Caps(requests, tokens, money, price_in, price_out)


def _sampling(temperature: float, top_p: float, answer_tokens: int, without: tuple[str, ...]) -> dict[str, Any]:
    _number("temperature", temperature, 0.0, 2.0)
    _number("top_p", top_p, 0.0, 1.0)
    _within("answer_tokens", answer_tokens, 16, 1 << 20)
    samplers = {"temperature": temperature, "top_p": top_p}
    unknown = [name for name in without if name not in samplers]
    if unknown:
        raise WrongCall(f"without: expected {' or '.join(samplers)}, got {unknown[0]}")
    return {name: value for name, value in samplers.items() if name not in without} | {"answer_tokens": answer_tokens}


def _fields(extra: str) -> dict[str, Any]:
    """Further fields of a request; those that this program sets itself are not for the taking."""
    ours = {"model", "messages", "system", "stream", "n", "temperature", "top_p", "max_tokens", "max_completion_tokens"}
    try:
        fields = json_module.loads(extra)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or ours & set(fields):
        raise WrongCall(f"extra: expected a JSON object without {', '.join(sorted(ours))}, got another text")
    return fields


def _free_of_key(key: Key, texts: list[str]) -> None:
    if any(key.stands_in(text) for text in texts):
        raise WrongCall(f"key_variable: expected the key in {key.variable} alone, got it in another argument too")


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise WrongCall(f"{name}: expected {low}..{high}, got {value}")


def _number(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise WrongCall(f"{name}: expected {low:g}..{high:g}, got {value:g}")
