"""Where models answer: one small record of capabilities per kind of server, and which model is found where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

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
