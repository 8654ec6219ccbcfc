"""Servers of OpenAI's chat completions: where they are, what they want, and where the models of the paper are found."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Endpoint:
    """One kind of server."""

    name: str
    #: Address up to the version; empty if the user must say it.
    base: str
    #: Environment variable of the key; a server of one's own may need none.
    key_variable: str
    key_needed: bool = True
    #: By which name it knows the most tokens of an answer, and how many are asked for, hidden thoughts included.
    token_parameter: str = "max_tokens"
    answer_tokens: int = 4096


ENDPOINTS = {
    each.name: each
    for each in (
        Endpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", token_parameter="max_completion_tokens"),
        Endpoint("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        Endpoint("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
        Endpoint("vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY", key_needed=False),
        Endpoint("custom", "", "RECOMMIT_API_KEY", key_needed=False),
    )
}
#: The ten models of the paper. Reasoning models spend their answer's tokens on hidden thoughts first.
MODELS = {
    "gpt-5.5-2026-04-23": replace(ENDPOINTS["openai"], answer_tokens=16384),
    "claude-sonnet-4-6": ENDPOINTS["anthropic"],
    "gemini-3.1-pro-preview": replace(ENDPOINTS["gemini"], answer_tokens=16384),
    "OpenGVLab/InternVL3-8B": ENDPOINTS["vllm"],
    "OpenGVLab/InternVL3-14B": ENDPOINTS["vllm"],
    "OpenGVLab/InternVL3-78B": ENDPOINTS["vllm"],
    "Qwen/Qwen2.5-VL-7B-Instruct": ENDPOINTS["vllm"],
    "Qwen/Qwen2.5-VL-72B-Instruct": ENDPOINTS["vllm"],
    "Qwen/Qwen3-VL-8B-Instruct": ENDPOINTS["vllm"],
    "Qwen/Qwen3-VL-32B-Instruct": ENDPOINTS["vllm"],
}


def find(model: str, endpoint: str | None) -> Endpoint:
    """The endpoint of a model: the one that is named, or where the paper's models are usually found."""
    usual = MODELS.get(model)
    if usual is not None and endpoint in (None, usual.name):
        return usual
    if endpoint not in ENDPOINTS:
        got = endpoint or f"none, and {model} is not one of the paper's"
        raise ValueError(f"endpoint: expected one of {', '.join(ENDPOINTS)}, got {got}")
    return ENDPOINTS[endpoint]
