"""Options of a zero-shot run, and the known servers and models. Light to import."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from recommit.puzzles.registry import Task

#: Sampling parameters of every model, as in the paper.
SAMPLING = {"temperature": 0.7, "top_p": 0.9}
#: Fields of a request that users cannot set.
_OURS = {"model", "messages", "system", "stream", "n", "max_tokens", "max_completion_tokens"}


@dataclass(frozen=True)
class Endpoint:
    """A kind of server with OpenAI's chat-completions API."""

    name: str
    #: Address up to the version; empty if the user must give it.
    base: str
    #: Environment variable of the key; a local server may need none.
    key_variable: str
    key_needed: bool = True
    #: Name of the request's field for the most tokens of an answer, and its value, hidden thoughts included.
    token_parameter: str = "max_tokens"
    answer_tokens: int = 4096


_OPENAI = Endpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", token_parameter="max_completion_tokens")
_ANTHROPIC = Endpoint("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY")
_GEMINI = Endpoint("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY")
_VLLM = Endpoint("vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY", key_needed=False)
_CUSTOM = Endpoint("custom", "", "RECOMMIT_API_KEY", key_needed=False)
ENDPOINTS = {each.name: each for each in (_OPENAI, _ANTHROPIC, _GEMINI, _VLLM, _CUSTOM)}
#: The ten models of the paper. Reasoning models spend their answer's tokens on hidden thoughts first.
MODELS = {
    "gpt-5.5-2026-04-23": replace(_OPENAI, answer_tokens=16384),
    "claude-sonnet-4-6": _ANTHROPIC,
    "gemini-3.1-pro-preview": replace(_GEMINI, answer_tokens=16384),
    "OpenGVLab/InternVL3-8B": _VLLM,
    "OpenGVLab/InternVL3-14B": _VLLM,
    "OpenGVLab/InternVL3-78B": _VLLM,
    "Qwen/Qwen2.5-VL-7B-Instruct": _VLLM,
    "Qwen/Qwen2.5-VL-72B-Instruct": _VLLM,
    "Qwen/Qwen3-VL-8B-Instruct": _VLLM,
    "Qwen/Qwen3-VL-32B-Instruct": _VLLM,
}


@dataclass(frozen=True)
class ZeroShotOptions:
    """Let a vision-language model play puzzles, zero-shot, through an API.

    Args:
        model: The model's name on its server.
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
        moves: The piece that moves in the direction of a sliding puzzle's action: the blank, or the tile beside it.
        max_requests: Most requests over all starts of the run; failed ones count.
        base_url: Address of the server, up to the version: http://127.0.0.1:8000/v1.
        key_variable: The environment variable that holds the key, if not the usual one. A company's own key is sent to
            another base_url only if its variable is named here.
        answer_tokens: Most tokens of one answer, hidden thoughts included.
        extra: Further fields of the request, as JSON: {"reasoning_effort": "low"}. null leaves out a field of the paper
            that the server refuses: {"top_p": null}.
        cell: Pixels per cell of the picture.
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
    base_url: str | None = None
    key_variable: str | None = None
    answer_tokens: int | None = None
    extra: str = "{}"
    cell: int = 56

    def __post_init__(self) -> None:
        limits = (("instances", 1, 1 << 20), ("budget", 1, 64), ("workers", 1, 256), ("answer_tokens", 16, 1 << 20))
        for name, low, high in limits:
            if (value := getattr(self, name)) is not None and not low <= value <= high:
                raise ValueError(f"{name}: expected {low}..{high}, got {value}")
        _ = self.parameters

    @property
    def server(self) -> Endpoint:
        """The named endpoint, or the usual one of the paper's models, with the tokens of an answer."""
        usual, named = MODELS.get(self.model), self.endpoint
        found = usual if usual is not None and named in (None, usual.name) else ENDPOINTS.get(named or "")
        if found is None:
            got = named or f"none, and {self.model} is not one of the paper's"
            raise ValueError(f"endpoint: expected one of {', '.join(ENDPOINTS)}, got {got}")
        return replace(found, answer_tokens=self.answer_tokens or found.answer_tokens)

    @property
    def parameters(self) -> dict[str, Any]:
        """Fields of a request beside the messages: the paper's sampling and the user's ``extra``."""
        try:
            fields = json.loads(self.extra)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict) or _OURS & set(fields):
            raise ValueError(f"extra: expected a JSON object without {', '.join(sorted(_OURS))}, got another text")
        return {name: value for name, value in (SAMPLING | fields).items() if value is not None}
