"""Asking one question: retries with growing, jittered pauses, within the caps of the run, and one answer in the end."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from recommit.zero_shot import messages, transport
from recommit.zero_shot.ledger import GaveUp, Unusable
from recommit.zero_shot.messages import Completion
from recommit.zero_shot.secret import Key, clean
from recommit.zero_shot.transport import Address

if TYPE_CHECKING:
    from recommit.zero_shot.game import Observation
    from recommit.zero_shot.ledger import Ledger
    from recommit.zero_shot.options import Endpoint, ZeroShotOptions

#: The first pause before another attempt, which doubles each time, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
#: How often a request is repeated that got no answer.
RETRIES = 5
#: Characters of what a server says about a failure that are looked at.
MOST_CHARACTERS = 4096
#: No request succeeds until something about the call, the key or the account changes; and those that may later.
_HOPELESS = {401, 402, 403, 404, 405, 410}
_PASSING = {408, 409, 425, 429}


@dataclass(frozen=True)
class Server:
    """Which endpoint is asked, at which address, with which key."""

    endpoint: Endpoint
    address: Address
    key: Key

    @classmethod
    def of(cls, options: ZeroShotOptions) -> Server:
        """Find it, and the key in the environment. The key of a company goes to that company's address alone unless
        it is named beside the other address, and no key is sent in the clear to another machine."""
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
class Failure:
    """Why there is no answer, and what to do next: ask ``again``, ``give up`` this decision, or ``end`` the run.

    ``charged`` if the model may have worked for it; ``wait`` is what the server asks for.
    """

    verdict: Literal["again", "give up", "end"]
    kind: str
    message: str = ""
    wait: float = 0.0
    charged: bool = False


def of_reply(reply: transport.Reply) -> Failure:
    """A reply other than 200."""
    status = reply.status
    if 300 <= status < 400:
        return Failure("end", f"http_{status}", "a redirect, which is never followed")
    message, code = messages.complaint(reply.body)
    verdict: Literal["again", "give up", "end"] = "give up"
    if status in _HOPELESS or code == "insufficient_quota":
        verdict = "end"
    elif status in _PASSING or status >= 500 or status < 300:
        verdict = "again"
    wait = transport.retry_after(reply.headers.get("retry-after"))
    return Failure(verdict, f"http_{status}", message, wait, status < 300)


class Client:
    """Asks one model. Used by all workers at once."""

    def __init__(self, options: ZeroShotOptions, server: Server, ledger: Ledger) -> None:
        self.model, self.server, self.ledger = options.model, server, ledger
        self.fields: dict[str, Any] = {
            **options.parameters,
            server.endpoint.token_parameter: server.endpoint.answer_tokens,
        }

    def ask(self, shown: Observation, place: dict[str, Any]) -> tuple[Completion, dict[str, Any]]:
        """The model's answer to an observation, and what it took to hear it. ``place`` says in the log which decision
        it is for."""
        body = messages.write(self.model, shown, self.fields)
        for attempt in count(1):
            result = self._once(body, place, attempt)
            if isinstance(result, tuple):
                return result
            self._go_on(result, attempt)
            # Between half and all of a pause that doubles: workers that failed together come back apart.
            pause = min(FIRST_PAUSE * 2.0 ** (attempt - 1), LONGEST_PAUSE) * random.uniform(0.5, 1.0)
            self.ledger.stop.wait(max(pause, result.wait))
        raise AssertionError("attempts end")

    def _once(self, body: bytes, place: dict[str, Any], attempt: int) -> tuple[Completion, dict[str, Any]] | Failure:
        ticket, begin = self.ledger.begin({**place, "attempt": attempt}), time.monotonic()
        result = _without(self._posted(body), self.server.key)
        seconds = round(time.monotonic() - begin, 3)
        if isinstance(result, Failure):
            record = {"kind": result.kind, "said": clean(result.message, self.server.key), "seconds": seconds}
            self.ledger.failed(ticket, result.charged, record)
            return result
        charged = self.ledger.answered(ticket, result.tokens_in, result.tokens_out)
        took = {"number": ticket.number, "charged": charged, "attempts": attempt, "seconds": seconds}
        return result, took | {"address": str(self.server.address)}

    def _posted(self, body: bytes) -> Completion | Failure:
        """One request and what it came to, in the server's own words."""
        try:
            reply = transport.post(self.server.address, self.server.key, body)
            if reply.status != 200:
                return of_reply(reply)
            if "json" not in reply.headers.get("content-type", "").lower():
                return Failure("again", "wrong_content_type", charged=True)
            return messages.read(reply.body)
        except transport.Broken as broken:
            return Failure("again", broken.kind, charged=broken.sent)
        except messages.Malformed as error:
            return Failure("again", "malformed", f"{error}: {messages.complaint(reply.body)[0]}", charged=True)

    def _go_on(self, failure: Failure, failures: int) -> None:
        """Raise unless another attempt makes sense."""
        words = clean(failure.message, self.server.key)
        what = f"{failure.kind}: {words}" if words else failure.kind
        if failure.verdict == "end":
            raise Unusable(f"{self.server.address} refuses every such request: {what}")
        if failure.verdict == "give up":
            raise GaveUp(what)
        if failures > RETRIES:
            raise GaveUp(f"{what}, {failures} times")


def _without(result: Completion | Failure, key: Key) -> Completion | Failure:
    """The same without the key, should a server have put it there; only then is anything cut to a sensible length."""
    if isinstance(result, Failure):
        return replace(result, message=_short(result.message, key))
    finish, model, name = (_short(text, key)[:200] for text in (result.finish, result.model, result.id))
    return replace(result, text=key.redact(result.text), finish=finish, model=model, id=name)


def _short(text: str, key: Key) -> str:
    # Cut first, since a server may say a lot; a part of the key at the cut is hidden like any other part.
    return key.redact(text[: 16 * MOST_CHARACTERS])[:MOST_CHARACTERS]
