"""What is sent to a chat-completions server, and what its replies say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recommit.puzzles.frames import data_url

if TYPE_CHECKING:
    from recommit.zero_shot.game import Observation

#: A count of tokens beyond this is no count.
_MOST_TOKENS = 10**9


@dataclass(frozen=True)
class Completion:
    """What the model answered. Tokens are None where the server does not say."""

    text: str
    finish: str = ""
    refused: bool = False
    cut_off: bool = False
    model: str = ""
    id: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


class Malformed(ValueError):
    """A reply that is no answer; the message is ours."""


def write(model: str, shown: Observation, parameters: dict[str, Any]) -> bytes:
    """The body of a request; equal bytes for equal observations."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": shown.text}]
    if shown.png is not None:
        parts.insert(0, {"type": "image_url", "image_url": {"url": data_url(shown.png)}})
    messages = [{"role": "system", "content": shown.system}, {"role": "user", "content": parts}]
    body = {"model": model, "messages": messages, **parameters}
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()


def decode(body: bytes) -> Any:
    """JSON in strict UTF-8, however deep or long it claims to be."""
    try:
        return json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise Malformed("the reply is not UTF-8") from None
    except (ValueError, RecursionError):
        raise Malformed("the reply is not JSON") from None


def read(body: bytes) -> Completion:
    """The answer in the body of a reply."""
    reply = decode(body)
    if not isinstance(reply, dict):
        raise Malformed("the reply is no JSON object")
    if reply.get("error"):
        raise Malformed("the reply is an error")
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Malformed("the reply has no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise Malformed("the reply has no message")
    finish, usage = _word(choices[0].get("finish_reason")), reply.get("usage")
    # A server that says that a question took no tokens does not count, and no cap would ever be reached.
    tokens_in, tokens_out = _count(usage, "prompt_tokens") or None, _count(usage, "completion_tokens")
    total = _count(usage, "total_tokens")
    if tokens_in is not None and tokens_out is not None and total is not None:
        tokens_out = max(tokens_out, total - tokens_in)  # hidden thoughts may be in the total alone
    return Completion(
        _joined(message.get("content")),
        finish,
        bool(message.get("refusal")) or finish == "content_filter",
        finish == "length",
        _word(reply.get("model")),
        _word(reply.get("id")),
        tokens_in,
        tokens_out,
    )


def _joined(content: Any) -> str:
    """The text of a message: a string, parts with text, or nothing."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text", "") if isinstance(part, dict) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise Malformed("the content is no text")
    return "".join(str(text) for text in texts)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(value, float) and value.is_integer():  # JSON has one kind of number
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def complaint(body: bytes) -> tuple[str, str]:
    """What a server says is wrong, and its code: from the body of an error in any of the usual shapes, or its text."""
    text = body.decode("utf-8", "replace")
    try:
        reply = decode(body)
    except Malformed:
        return text, ""
    reply = reply[0] if isinstance(reply, list) and reply else reply
    inner = reply.get("error", reply.get("detail", reply)) if isinstance(reply, dict) else reply
    if not isinstance(inner, dict):
        return inner if isinstance(inner, str) else text, ""
    message = inner.get("message")
    return message if isinstance(message, str) else text, str(inner.get("code") or inner.get("type") or "")
