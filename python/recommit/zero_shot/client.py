"""Client of a chat-completions server: one answer per request, with jittered exponential backoff, within the caps of
the run."""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from recommit.puzzles.frames import data_url
from recommit.storage.errors import DataError
from recommit.zero_shot import transport
from recommit.zero_shot.transport import Address, Key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recommit.storage.jsonl import JsonLines
    from recommit.zero_shot.game import Observation
    from recommit.zero_shot.options import Endpoint, ZeroShotOptions

#: First pause before another attempt, in seconds, which doubles each time, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
#: Number of retries of a request without an answer.
RETRIES = 5
#: Status codes that persist until the call, the key or the account changes; and temporary ones.
_HOPELESS = {401, 402, 403, 404, 405, 410}
_PASSING = {408, 409, 425, 429}
#: Largest plausible count of tokens.
_MOST_TOKENS = 10**9


@dataclass(frozen=True)
class Server:
    """An endpoint, with its address and key."""

    endpoint: Endpoint
    address: Address
    key: Key

    @classmethod
    def of(cls, options: ZeroShotOptions) -> Server:
        """Resolve the endpoint and read the key from the environment. A company's key goes to another address only if
        its variable is named explicitly, and no key is sent in the clear to another machine."""
        endpoint, elsewhere = options.server, options.base_url
        if not (elsewhere or endpoint.base):
            raise ValueError(f"base_url: expected an address for the endpoint {endpoint.name}, got none")
        address = Address.parse(elsewhere or endpoint.base)
        variable = endpoint.key_variable if options.key_variable is None else options.key_variable
        key = Key.from_environment(variable)
        at_home = elsewhere is None or address == Address.parse(endpoint.base or elsewhere)
        if endpoint.key_needed and at_home and not key:
            raise ValueError(f"key_variable: expected a key in {key.variable}, got an empty variable")
        if endpoint.key_needed and not at_home and key and options.key_variable is None:
            raise ValueError(
                f"key_variable: expected --key-variable {variable} beside --base-url, so that {address.place} gets the "
                f"key of {endpoint.name}, got none"
            )
        if key and address.scheme == "http" and not address.local:
            raise ValueError(f"base_url: expected https, since {key.variable} holds a key, got http")
        return cls(endpoint, address, key)


@dataclass(frozen=True)
class Completion:
    """Answer of a model. Tokens are None if the server does not report them."""

    text: str
    finish: str = ""
    refused: bool = False
    cut_off: bool = False
    model: str = ""
    id: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


@dataclass(frozen=True)
class Failure:
    """Reason for a missing answer, and what to do next: ask ``again``, ``give up`` this decision, or ``end`` the run.

    ``wait`` are the seconds that the server asks to wait.
    """

    verdict: Literal["again", "give up", "end"]
    kind: str
    message: str = ""
    wait: float = 0.0

    @property
    def words(self) -> str:
        """Kind, and the server's message."""
        return f"{self.kind}: {self.message}" if self.message else self.kind


def write(model: str, shown: Observation, parameters: dict[str, Any]) -> bytes:
    """Encode the body of a request; equal observations give equal bytes."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": shown.text}]
    if shown.png is not None:
        parts.insert(0, {"type": "image_url", "image_url": {"url": data_url(shown.png)}})
    messages = [{"role": "system", "content": shown.system}, {"role": "user", "content": parts}]
    body = {"model": model, "messages": messages, **parameters}
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()


def read(body: bytes) -> Completion:
    """Parse the answer in the body of a reply; raises ``ValueError`` if there is none."""
    try:
        reply = json.loads(body.decode("utf-8"))
        choice, usage = reply["choices"][0], reply.get("usage")
        message, finish = choice["message"], _word(choice.get("finish_reason"))
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise ValueError("the reply has no message") from None
    if reply.get("error"):
        raise ValueError("the reply is an error")
    tokens_in, tokens_out = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    total = _count(usage, "total_tokens")
    if tokens_in is not None and tokens_out is not None and total is not None:
        tokens_out = max(tokens_out, total - tokens_in)  # hidden thoughts may be in the total alone
    refused = bool(message.get("refusal")) or finish == "content_filter"
    model, name = _word(reply.get("model")), _word(reply.get("id"))
    return Completion(text, finish, refused, finish == "length", model, name, tokens_in, tokens_out)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(value, float) and value.is_integer():  # JSON has one kind of number
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def complaint(body: bytes) -> tuple[str, str]:
    """Message and code of a server's error: from a body in any of the usual shapes, or its text."""
    text = body.decode("utf-8", "replace")
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    reply = reply[0] if isinstance(reply, list) and reply else reply
    inner = reply.get("error", reply.get("detail", reply)) if isinstance(reply, dict) else reply
    message = inner.get("message") if isinstance(inner, dict) else inner
    code = inner.get("code") or inner.get("type") if isinstance(inner, dict) else None
    return message if isinstance(message, str) else text, str(code or "")


def of_reply(reply: transport.Reply) -> Failure:
    """Classify a reply with a status other than 200."""
    status = reply.status
    if 300 <= status < 400:
        return Failure("end", f"http_{status}", "a redirect, which is never followed")
    message, code = complaint(reply.body)
    verdict: Literal["again", "give up", "end"] = "give up"
    if status in _HOPELESS or code == "insufficient_quota":
        verdict = "end"
    elif status in _PASSING or status >= 500 or status < 300:
        verdict = "again"
    wait = transport.retry_after(reply.headers.get("retry-after"))
    return Failure(verdict, f"http_{status}", message, wait)


class ZeroShotError(DataError):
    """A run, or one of its episodes, cannot go on. All answers so far are in the folder."""


class GaveUp(ZeroShotError):
    """One decision got no answer after all retries: its episode is an infra error, not a failure of the model."""


class Unusable(ZeroShotError):
    """No request can succeed: a wrong key, an unknown model, a redirect, or a server that refuses every request."""


class CapReached(ZeroShotError):
    """The run has reached its cap of requests. Raise it and run the same command again to resume."""


class StopRequested(ZeroShotError):
    """The run was asked to end; no further request is made."""


class Ledger:
    """Counts shared by all workers: requests over all starts of the run, at most ``most`` (None: no limit), and the
    tokens that servers reported."""

    def __init__(self, most: int | None, log: JsonLines, stop: threading.Event) -> None:
        self.most, self.log, self.stop = most, log, stop
        self.requests = self.tokens_in = self.tokens_out = 0
        self._lock = threading.Lock()

    def restore(self, attempts: Iterable[dict[str, Any]], decisions: Iterable[dict[str, Any]]) -> None:
        """Count the requests and tokens of earlier starts of the run, including requests that were lost in a kill."""
        self.requests = sum(record.get("event") == "sent" for record in attempts)
        for record in decisions:
            self.answered(record["tokens_in"], record["tokens_out"])

    def begin(self, record: dict[str, Any]) -> None:
        """Log a request before it is sent; raises if the cap is reached or the run was asked to stop."""
        with self._lock:
            if self.stop.is_set():
                raise StopRequested("no request is made any more")
            if self.most is not None and self.requests >= self.most:
                raise CapReached(f"max_requests: {self.most:,} allowed, {self.requests:,} sent")
            self.requests += 1
            self.log.add({"event": "sent", "number": self.requests, **record})

    def answered(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Add the tokens of an answer; None if the server does not report them."""
        with self._lock:
            self.tokens_in += tokens_in or 0
            self.tokens_out += tokens_out or 0


class Client:
    """Client of one model, shared by all workers."""

    def __init__(self, options: ZeroShotOptions, server: Server, ledger: Ledger) -> None:
        self.model, self.server, self.ledger = options.model, server, ledger
        self.fields: dict[str, Any] = {
            **options.parameters,
            server.endpoint.token_parameter: server.endpoint.answer_tokens,
        }

    def ask(self, shown: Observation, place: dict[str, Any]) -> tuple[Completion, dict[str, Any]]:
        """The model's answer to an observation, with attempts, seconds and address. ``place`` identifies the decision
        in the log."""
        body = write(self.model, shown, self.fields)
        for attempt in count(1):
            self.ledger.begin({**place, "attempt": attempt})
            begin = time.monotonic()
            result = self._posted(body)
            seconds = round(time.monotonic() - begin, 3)
            if isinstance(result, Completion):
                self.ledger.answered(result.tokens_in, result.tokens_out)
                return result, {"attempts": attempt, "seconds": seconds, "address": str(self.server.address)}
            record = {**place, "attempt": attempt, "kind": result.kind, "said": result.message, "seconds": seconds}
            self.ledger.log.add({"event": "failed", **record})
            if result.verdict == "end":
                raise Unusable(f"{self.server.address} refuses every such request: {result.words}")
            if result.verdict == "give up":
                raise GaveUp(result.words)
            if attempt > RETRIES:
                raise GaveUp(f"{result.words}, {attempt} times")
            # Between half and all of a pause that doubles: workers that failed together come back apart.
            pause = min(FIRST_PAUSE * 2.0 ** (attempt - 1), LONGEST_PAUSE) * random.uniform(0.5, 1.0)
            self.ledger.stop.wait(max(pause, result.wait))
        raise AssertionError("attempts end")

    def _posted(self, body: bytes) -> Completion | Failure:
        """Send one request; returns the answer or failure, with the key redacted in case the server echoed it."""
        key = self.server.key
        try:
            reply = transport.post(self.server.address, key, body)
        except transport.Broken as broken:
            return Failure("again", str(broken))
        if reply.status != 200:
            failure = of_reply(reply)
            return replace(failure, message=clean(failure.message, key))
        if "json" not in reply.headers.get("content-type", "").lower():
            return Failure("again", "wrong_content_type")
        try:
            said = read(reply.body)
        except ValueError as error:
            message = clean(f"{error}: {complaint(reply.body)[0]}", key)
            return Failure("again", "malformed", message)
        finish, model, name = (key.redact(each)[:200] for each in (said.finish, said.model, said.id))
        return replace(said, text=key.redact(said.text), finish=finish, model=model, id=name)


def clean(text: str, key: Key, most: int = 200) -> str:
    """Sanitise a server's text for a message or a log: without the key, printable, on one line, short."""
    # The key goes first: cutting could leave a part of it.
    shown = "".join(c if c.isprintable() and c.isascii() else " " for c in key.redact(text)[: 8 * most])
    shown = " ".join(shown.split())
    return shown if len(shown) <= most else shown[:most] + "..."
