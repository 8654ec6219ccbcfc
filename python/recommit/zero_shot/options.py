"""What a zero-shot run is called with, from Python and on the command line. Light to import."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recommit.puzzles.registry import Task
from recommit.zero_shot.ledger import Caps

#: How every model is asked, as the paper has it.
SAMPLING = {"temperature": 0.7, "top_p": 0.9}
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
        length: Optimal length of every instance, or the shortest and longest (default: as in the data).
        budget: Decisions per episode (default: the loose budget of the paper).
        workers: Requests at a time.
        moves: What moves the way that an action of a sliding puzzle names: the blank, or the tile beside it.
        max_requests: Send at most so many requests, over all starts of the run; failed ones count.
        max_tokens: Spend at most so many tokens, questions and answers together.
        base_url: Where the server is, up to the version: http://127.0.0.1:8000/v1.
        key_variable: The environment variable that holds the key, if not the usual one. A company's own goes to another
            base_url only if it is named here.
        without: Of the paper's sampling, what not to send, since the server refuses it: temperature, top_p.
        answer_tokens: Most tokens of one answer, hidden thoughts included.
        extra: Further fields of the request, as JSON: {"reasoning_effort": "low"}.
        any_model: Accept answers whatever model the server says it ran.
        cell: Pixels per cell of the picture.
        timeout: Seconds that a reply is waited for.
    """

    model: str
    out: Path
    task: Task | None = None
    data: Path | None = None
    endpoint: str | None = None
    instances: int = 64
    size: tuple[int, ...] = ()
    length: tuple[int, ...] = ()
    budget: int | None = None
    workers: int = 4
    moves: Literal["blank", "tile"] = "blank"
    max_requests: int | None = None
    max_tokens: int | None = None
    base_url: str | None = None
    key_variable: str | None = None
    without: tuple[str, ...] = ()
    answer_tokens: int | None = None
    extra: str = "{}"
    any_model: bool = False
    cell: int = 56
    timeout: float = 120.0

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
        if unknown := [name for name in self.without if name not in SAMPLING]:
            raise ValueError(f"without: expected temperature or top_p, got {unknown[0]}")
        _ = self.fields

    @property
    def caps(self) -> Caps:
        """What the run may spend."""
        return Caps(self.max_requests, self.max_tokens)

    @property
    def sampling(self) -> dict[str, Any]:
        """The samplers that are asked for."""
        return {name: value for name, value in SAMPLING.items() if name not in self.without}

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
    "workers": (1, 256),
    "max_requests": (0, 10**15),
    "max_tokens": (0, 10**15),
    "answer_tokens": (16, 1 << 20),
    "cell": (4, 112),
    "timeout": (0, 3600),
}
