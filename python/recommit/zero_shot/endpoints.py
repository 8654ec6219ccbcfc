"""Where models answer: one record of capabilities per kind of server, which model is found where, and the sampling
parameters of a run, without those that a server refuses."""

from __future__ import annotations

import re
import threading
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Parameters that hold the most tokens of an answer, by the name that a server knows it by.
TOKEN_PARAMETERS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class Endpoint:
    """How to talk to one kind of server."""

    name: str
    #: Address up to the version; empty if the user must say it.
    base: str
    #: Environment variable of the key; a server of one's own may need none.
    key_variable: str
    key_needed: bool = True
    #: Which messages go there: OpenAI's chat completions, or Anthropic's messages.
    style: Literal["chat", "messages"] = "chat"
    path: str = "/chat/completions"
    token_parameter: str = "max_tokens"
    #: Most tokens of an answer, hidden thoughts included.
    answer_tokens: int = 4096
    #: How a picture travels: as a data address, or as a source of its own.
    image: Literal["url", "source"] = "url"
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: tuple[tuple[str, str], ...] = ()


_KNOWN = (
    Endpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", token_parameter="max_completion_tokens"),
    Endpoint(
        "anthropic",
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        style="messages",
        path="/messages",
        image="source",
        key_header="x-api-key",
        key_prefix="",
        headers=(("anthropic-version", "2023-06-01"),),
    ),
    Endpoint("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    Endpoint("vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY", key_needed=False),
    Endpoint("sglang", "http://127.0.0.1:30000/v1", "SGLANG_API_KEY", key_needed=False),
    Endpoint("ollama", "http://127.0.0.1:11434/v1", "OLLAMA_API_KEY", key_needed=False),
    Endpoint("transformers-serve", "http://127.0.0.1:8000/v1", "TRANSFORMERS_SERVE_API_KEY", key_needed=False),
    Endpoint("custom", "", "RECOMMIT_API_KEY", key_needed=False),
)
ENDPOINTS = {endpoint.name: endpoint for endpoint in _KNOWN}


@dataclass(frozen=True)
class ModelRecord:
    """Where a model is found, and what it is known to want beyond what its endpoint wants."""

    endpoint: str
    answer_tokens: int | None = None


#: The ten models of the paper, all of them asked with its temperature and top-p: what an endpoint refuses of that it
#: says itself. Reasoning models spend their answer's tokens on hidden thoughts first.
MODELS = {
    "gpt-5.5-2026-04-23": ModelRecord("openai", answer_tokens=16384),
    "claude-sonnet-4-6": ModelRecord("anthropic"),
    "gemini-3.1-pro-preview": ModelRecord("gemini", answer_tokens=16384),
    "OpenGVLab/InternVL3-8B": ModelRecord("vllm"),
    "OpenGVLab/InternVL3-14B": ModelRecord("vllm"),
    "OpenGVLab/InternVL3-78B": ModelRecord("vllm"),
    "Qwen/Qwen2.5-VL-7B-Instruct": ModelRecord("vllm"),
    "Qwen/Qwen2.5-VL-72B-Instruct": ModelRecord("vllm"),
    "Qwen/Qwen3-VL-8B-Instruct": ModelRecord("vllm"),
    "Qwen/Qwen3-VL-32B-Instruct": ModelRecord("vllm"),
}


def find(model: str, endpoint: str | None) -> Endpoint:
    """The record to use for a model; a recipe adds to it where the model is asked at its usual place."""
    recipe = MODELS.get(model)
    name = endpoint or (recipe.endpoint if recipe else None)
    if name is None:
        raise ValueError(f"endpoint: expected one of {', '.join(ENDPOINTS)}, got none, and {model} has no recipe")
    if name not in ENDPOINTS:
        raise ValueError(f"endpoint: expected one of {', '.join(ENDPOINTS)}, got {name}")
    record = ENDPOINTS[name]
    if recipe is None or recipe.endpoint != name:
        return record
    return replace(record, answer_tokens=recipe.answer_tokens or record.answer_tokens)


#: In this order, where a refusal names several: a model that takes one of two samplers keeps its temperature.
_DROPPED = ("top_p", "temperature")
#: Words of a refusal that is about how many tokens, not about the name of their parameter.
_TOO_MANY = re.compile(r"context length|too large|too long", re.IGNORECASE)
#: The event of a line of ``attempts.jsonl`` that holds a ``RefusedParameter``.
REFUSED = "refused"


@dataclass(frozen=True)
class RefusedParameter:
    """What the server refused, what is sent in its place if anything, and the server's own words."""

    parameter: str
    instead: str | None
    message: str

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> RefusedParameter:
        """From a line of ``attempts.jsonl``."""
        if record["event"] != REFUSED:
            raise ValueError(f"event: expected {REFUSED}, got {record['event']}")
        return cls(str(record["parameter"]), record["instead"], str(record["said"]))

    def fields(self) -> dict[str, Any]:
        """Name what a line of ``attempts.jsonl`` says of it."""
        return {"parameter": self.parameter, "instead": self.instead, "said": self.message}

    def __str__(self) -> str:
        return f"{self.instead} for {self.parameter}" if self.instead else f"without {self.parameter}"


class SamplingParameters:
    """Shared by all workers. Every parameter is dropped or renamed at most once, so adapting ends.

    ``wanted`` are those of the spec: ``temperature`` and ``top_p``, where they are wanted, and ``answer_tokens``.
    """

    def __init__(self, endpoint: Endpoint, wanted: Mapping[str, Any]) -> None:
        named = {endpoint.token_parameter if name == "answer_tokens" else name: value for name, value in wanted.items()}
        self._values: dict[str, Any] = named
        self._lock = threading.Lock()
        self._renamed = False
        self.refused: list[RefusedParameter] = []

    def current(self) -> dict[str, Any]:
        """What to send now."""
        with self._lock:
            return dict(self._values)

    def restore(self, attempts: Iterable[Mapping[str, Any]]) -> None:
        """Leave out what earlier starts of the run were refused."""
        for refused in refused_in(attempts):
            if refused.parameter in self._values:
                self._change(refused.parameter, refused.message)

    def adapt(self, sent: dict[str, Any], message: str, named: str | None) -> tuple[bool, RefusedParameter | None]:
        """Take in a refusal of ``sent``; is it worth asking again, and what is new?"""
        with self._lock:
            if self._values != sent:
                return True, None  # another worker has adapted since
            changes = (self._change(name, message) for name in _refused(message, named, sent) if name in self._values)
            change = next((change for change in changes if change), None)
            return change is not None, change

    def _change(self, name: str, message: str) -> RefusedParameter | None:
        instead = None
        if name in TOKEN_PARAMETERS:
            if self._renamed:
                return None
            instead, self._renamed = TOKEN_PARAMETERS[1 - TOKEN_PARAMETERS.index(name)], True
            self._values[instead] = self._values[name]
        del self._values[name]
        self.refused.append(RefusedParameter(name, instead, message))
        return self.refused[-1]


def refused_in(attempts: Iterable[Mapping[str, Any]]) -> list[RefusedParameter]:
    """Those that ``attempts.jsonl`` holds."""
    return [RefusedParameter.read(record) for record in attempts if record["event"] == REFUSED]


def sampling(
    wanted: Mapping[str, Any], attempts: Iterable[Mapping[str, Any]], decisions: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """For the manifest: what was asked for, what the answered requests had, how many, and what was refused how."""
    sent = Counter(tuple(sorted(one["parameters"].items())) for one in decisions)
    return {
        "asked": dict(wanted),
        "sent": [{"parameters": dict(values), "decisions": count} for values, count in sent.items()],
        "refused": [each.fields() for each in refused_in(attempts)],
    }


def _refused(message: str, named: str | None, sent: dict[str, Any]) -> list[str]:
    """Which parameters a refusal is about: the one that it names, else those that its message does."""
    adaptable = _DROPPED if _TOO_MANY.search(message) else (*_DROPPED, *TOKEN_PARAMETERS)
    return [name for name in adaptable if (name == named if named in sent else re.search(rf"\b{name}\b", message))]
