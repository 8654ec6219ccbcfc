"""What is sent and what comes back, in the two dialects: OpenAI's chat completions and Anthropic's messages; and what
a reply that is no answer means: ask again, ask otherwise, give this question up, or end the run."""

from __future__ import annotations

import base64
import json
import math
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.zero_shot.endpoints import Endpoint
    from recommit.zero_shot.transport import Broken, Reply

#: A count of tokens beyond this is no count.
_MOST_TOKENS = 10**9


@dataclass(frozen=True)
class Question:
    """One observation, with what the model is told beside it."""

    system: str
    text: str
    png: bytes


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


def write(endpoint: Endpoint, model: str, question: Question, parameters: dict[str, Any]) -> bytes:
    """The body of a request; equal bytes for equal questions."""
    picture = base64.b64encode(question.png).decode()
    if endpoint.image == "url":
        part: dict[str, Any] = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}
    else:
        part = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}
    user = {"role": "user", "content": [part, {"type": "text", "text": question.text}]}
    if endpoint.style == "messages":
        body = {"model": model, "system": question.system, "messages": [user], **parameters}
    else:
        body = {"model": model, "messages": [{"role": "system", "content": question.system}, user], **parameters}
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()


def decode(body: bytes) -> Any:
    """JSON in strict UTF-8, however deep or long it claims to be."""
    try:
        return json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise Malformed("the reply is not UTF-8") from None
    except (ValueError, RecursionError):
        raise Malformed("the reply is not JSON") from None


def read(endpoint: Endpoint, body: bytes) -> Completion:
    """The answer in the body of a reply."""
    reply = decode(body)
    if not isinstance(reply, dict):
        raise Malformed("the reply is no JSON object")
    if reply.get("error"):
        raise Malformed("the reply is an error")
    return _messages(reply) if endpoint.style == "messages" else _chat(reply)


def _chat(reply: dict[str, Any]) -> Completion:
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Malformed("the reply has no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise Malformed("the reply has no message")
    finish, usage = _word(choices[0].get("finish_reason")), reply.get("usage")
    tokens_in, tokens_out = _question(usage, "prompt_tokens"), _count(usage, "completion_tokens")
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


def _messages(reply: dict[str, Any]) -> Completion:
    if not isinstance(reply.get("content"), list):
        raise Malformed("the reply has no content")
    finish, usage = _word(reply.get("stop_reason")), reply.get("usage")
    return Completion(
        _joined([part for part in reply["content"] if not isinstance(part, dict) or part.get("type") == "text"]),
        finish,
        finish == "refusal",
        finish in ("max_tokens", "model_context_window_exceeded"),
        _word(reply.get("model")),
        _word(reply.get("id")),
        _question(usage, *_INPUT),
        _count(usage, "output_tokens"),
    )


def _joined(content: Any) -> str:
    """The text of a message: a string, parts with text, or nothing."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise Malformed("the content is no text")
    texts = [part.get("text", "") if isinstance(part, dict) else None for part in content]
    if not all(isinstance(text, str) for text in texts):
        raise Malformed("the content is no text")
    return "".join(str(text) for text in texts)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


#: What a question may be divided into: what of it was in a cache is counted apart, and costs.
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _question(usage: Any, *names: str) -> int | None:
    """Tokens of a question. None has 0: a server that says so does not count, and no cap would ever be reached."""
    return sum(_count(usage, name) or 0 for name in names) or None


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(value, float) and value.is_integer():  # JSON has one kind of number
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


@dataclass(frozen=True)
class Complaint:
    """What a server says is wrong."""

    message: str
    parameter: str | None = None
    code: str = ""


def complaint(body: bytes) -> Complaint:
    """From the body of an error, in any of the usual shapes, or its text as it is."""
    text = body.decode("utf-8", "replace")
    try:
        reply = decode(body)
    except Malformed:
        return Complaint(text)
    reply = reply[0] if isinstance(reply, list) and reply else reply
    inner = reply.get("error", reply.get("detail", reply)) if isinstance(reply, dict) else reply
    if not isinstance(inner, dict):
        return Complaint(inner if isinstance(inner, str) else text)
    message = inner.get("message")
    named = inner.get("param")
    return Complaint(
        message if isinstance(message, str) else text,
        named if isinstance(named, str) else None,
        str(inner.get("code") or inner.get("type") or ""),
    )


#: What servers add to the name of a model: a date or number of a version, a revision, a tag.
_VERSION = re.compile(r"(-\d[\d-]*|[@:].*)?", re.DOTALL)


def same_model(model: str, reported: str) -> bool:
    """Is what the server says it ran what it was asked for? A server that says nothing is believed."""
    if not reported:
        return True
    wanted, got = model.casefold(), reported.casefold().removeprefix("models/")
    return any(
        got.startswith(name) and _VERSION.fullmatch(got[len(name) :]) for name in (wanted, wanted.split("/")[-1])
    )


#: A server that wants more patience than this gets no more.
LONGEST_WAIT = 120.0
#: Nobody is served until something about the call, the key or the account changes.
_HOPELESS = {401, 402, 403, 404, 405, 410}
_PASSING = {408, 409, 425, 429}
#: "I am overloaded": all workers wait.
_CROWDED = {429, 503, 529}


class Verdict(Enum):
    """What to do next."""

    AGAIN = "again"
    ADAPT = "adapt"  #: the request may be at fault: again without the part that was refused
    GIVE_UP = "give up"
    END = "end"


@dataclass(frozen=True)
class Failure:
    """Why there is no answer. ``charged`` if the model may have worked for it; ``wait`` is what the server asks for."""

    verdict: Verdict
    kind: str
    message: str = ""
    wait: float = 0.0
    charged: bool = False
    crowded: bool = False
    parameter: str | None = None


def of_broken(broken: Broken) -> Failure:
    """No whole reply came."""
    return Failure(Verdict.AGAIN, broken.kind, charged=broken.sent)


def of_reply(reply: Reply) -> Failure:
    """A reply other than 200."""
    status = reply.status
    if 300 <= status < 400:
        return Failure(Verdict.END, f"http_{status}", "a redirect, which is never followed")
    said = complaint(reply.body)
    wait = max(retry_after(reply.headers.get("retry-after")), _retry_in(said.message))
    verdict = Verdict.GIVE_UP
    if status in (400, 422):
        verdict = Verdict.ADAPT
    elif status in _HOPELESS or said.code == "insufficient_quota":
        verdict = Verdict.END
    elif status in _PASSING or status >= 500 or status < 300:
        verdict = Verdict.AGAIN
    return Failure(verdict, f"http_{status}", said.message, wait, status < 300, status in _CROWDED, said.parameter)


def retry_after(value: str | None, now: datetime | None = None) -> float:
    """Seconds to wait by a ``Retry-After`` header, in 0..LONGEST_WAIT; 0 for what is negative, or is no time."""
    if not value:
        return 0.0
    try:
        seconds = float(value) if re.fullmatch(r"\s*[-+]?\d+(\.\d*)?\s*", value, re.ASCII) else _until(value, now)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), LONGEST_WAIT) if not math.isnan(seconds) else 0.0


def _until(value: str, now: datetime | None) -> float:
    then = parsedate_to_datetime(value)
    then = then.replace(tzinfo=timezone.utc) if then.tzinfo is None else then
    return (then - (now or datetime.now(timezone.utc))).total_seconds()


def _retry_in(message: str) -> float:
    """Some servers say it in words: "Please retry in 7.78s"."""
    match = re.search(r"retry in (\d{1,9}(?:\.\d{1,9})?) ?s", message[:4096])
    return min(float(match[1]), LONGEST_WAIT) if match else 0.0
