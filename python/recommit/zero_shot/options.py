"""What a zero-shot run is called with, from Python and on the command line. Light to import."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recommit.puzzles.registry import Task
from recommit.zero_shot.ledger import Caps

#: Fields of a request that this program sets itself.
_OURS = {"model", "messages", "system", "stream", "n", "temperature", "top_p", "max_tokens", "max_completion_tokens"}


@dataclass(frozen=True)
class ZeroShotOptions:
    """Which model plays what, through which endpoint, and what it may cost.

    Args:
        model: The model's name, as its server knows it.
        out: The folder of the run.
        task: Which puzzle (default: sliding, or that of the data).
        data: A data set (see recommit data build): play its test instances, those of recommit evaluate. Or a frozen
            split of recommit score, by its name.
        endpoint: openai, anthropic, gemini, vllm or custom; the models of the paper know theirs.
        instances: Episodes to play.
        size: Rows, or rows and columns (default: 3 for sliding, 8 for the others).
        boxes: Boxes of a Sokoban level (default: 2).
        length: Optimal length of every instance, or the shortest and longest (default: as in the data).
        budget: Decisions per episode (default: the loose budget of the paper).
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
        key_variable: The environment variable that holds the key, if not the usual one. A company's own goes to another
            base_url only if it is named here.
        temperature: Of the model's sampling.
        top_p: Of the model's sampling.
        without: Of these two, what not to send, since the server refuses it: temperature, top_p.
        answer_tokens: Most tokens of one answer, hidden thoughts included.
        extra: Further fields of the request, as JSON: {"reasoning_effort": "low"}.
        any_model: Accept answers whatever model the server says it ran.
        cell: Pixels per cell of the picture.
        timeout: Seconds that a reply is waited for.
        retries: How often a request is repeated that got no answer.
    """

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

    def __post_init__(self) -> None:
        if not self.model or not self.model.isprintable():
            raise ValueError(f"model: expected a name, got {self.model!r}")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name}: expected {low}..{high}, got {value}")
        for name, what in (("size", "rows, or rows and columns"), ("length", "one length, or shortest and longest")):
            if len(getattr(self, name)) > 2:
                raise ValueError(f"{name}: expected {what}, got {len(getattr(self, name))} numbers")
        if self.max_money is not None and not (self.price_in > 0 and self.price_out > 0):
            raise ValueError(
                f"max_money: expected price_in and price_out with it, got {self.price_in:g} and {self.price_out:g}"
            )
        if unknown := [name for name in self.without if name not in ("temperature", "top_p")]:
            raise ValueError(f"without: expected temperature or top_p, got {unknown[0]}")
        _ = self.fields

    @property
    def caps(self) -> Caps:
        """What the run may spend."""
        return Caps(self.max_requests, self.max_tokens, self.max_money, self.price_in, self.price_out)

    @property
    def sampling(self) -> dict[str, Any]:
        """The samplers that are asked for."""
        both = {"temperature": self.temperature, "top_p": self.top_p}
        return {name: value for name, value in both.items() if name not in self.without}

    @property
    def fields(self) -> dict[str, Any]:
        """Further fields of a request."""
        try:
            fields = json.loads(self.extra)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict) or _OURS & set(fields):
            raise ValueError(f"extra: expected a JSON object without {', '.join(sorted(_OURS))}, got another text")
        return fields


_RANGES: dict[str, tuple[int, int]] = {
    "instances": (1, 1 << 20),
    "budget": (1, 64),
    "seed": (0, (1 << 63) - 1),
    "workers": (1, 256),
    "max_requests": (0, 10**15),
    "max_tokens": (0, 10**15),
    "max_money": (0, 10**15),
    "price_in": (0, 10**9),
    "price_out": (0, 10**9),
    "temperature": (0, 2),
    "top_p": (0, 1),
    "answer_tokens": (16, 1 << 20),
    "cell": (4, 112),
    "timeout": (0, 3600),
    "retries": (0, 100),
}
