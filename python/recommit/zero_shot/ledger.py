"""What a run may spend and has spent, over all its starts: every request is written down before it is sent.

The errors here end a request, an episode or a run; no message holds a key.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recommit.storage.errors import Damaged, DataError
from recommit.zero_shot.endpoints import RefusedParameter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recommit.storage.jsonl import JsonLines


class ZeroShotError(DataError):
    """A run cannot go on, or one of its episodes cannot. Whatever had been answered is in the folder."""


class GaveUp(ZeroShotError):
    """One decision got no answer after all retries: its episode is an infra error, not a failure of the model."""


class Unusable(ZeroShotError):
    """No request can succeed: a wrong key, an unknown model, a redirect, or a server that answers nobody."""


class CapReached(ZeroShotError):
    """The next request could exceed a cap of the run. Raise it and run the same command again: it goes on."""


class StopRequested(ZeroShotError):
    """The run was asked to end; no further request is made."""


#: Taken for the tokens of a question until a server has said how many one has, or its bytes if they are more: a token
#: of text has one at least. A picture may have more tokens, so that until then a run with a cap on tokens or money has
#: one request under way: what one answer costs is the most that a cap is broken by.
QUESTION_TOKENS = 4096
#: An answer that says so many times more than any before is a surprise: the next may be as large.
SURPRISE = 2


@dataclass(frozen=True)
class Caps:
    """What a run may spend at most; None for no limit. Prices are per million tokens."""

    requests: int | None = None
    tokens: int | None = None
    money: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0

    def price(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


@dataclass
class Spent:
    """Requests sent, and tokens as the server counts them; where it did not say, the most they can have been."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def add(self, tokens: tuple[int, int]) -> None:
        """Count tokens of a question and its answer."""
        self.tokens_in += tokens[0]
        self.tokens_out += tokens[1]


@dataclass(frozen=True)
class Ticket:
    """Leave to send one request."""

    number: int
    reserved: tuple[int, int]


class Ledger:
    """Shared by all workers. A request is sent only if all requests under way fit the caps together."""

    def __init__(self, caps: Caps, log: JsonLines, answer_tokens: int, stop: threading.Event) -> None:
        self.caps, self.log, self.answer_tokens, self.stop = caps, log, answer_tokens, stop
        self.spent = Spent()
        #: The largest question and answer so far. No server has said how large a question is while it is 0.
        self._largest = (0, answer_tokens)
        #: Answers since the last surprise that said how large their questions were.
        self._sized = 0
        #: What questions are charged with whose size no server said: never less than the largest.
        self._unsaid: list[int] = []
        self._under_way: dict[int, tuple[int, int]] = {}
        self._changed = threading.Condition()

    def restore(self, attempts: Iterable[dict[str, Any]], decisions: Iterable[dict[str, Any]]) -> None:
        """Count what earlier starts of the run have spent; a request without any end was lost in a kill, and costs."""
        try:
            open_: dict[int, tuple[int, int]] = {}
            for record in attempts:
                if record["event"] == "sent":
                    open_[record["number"]] = _pair(record["reserved"])
                    self.spent.requests += 1
                elif record["event"] == "failed":
                    open_.pop(record["number"])
                    self._charge(_pair(record["charged"]), None, None)
                else:
                    RefusedParameter.read(record)
            for record in decisions:
                if record["number"] is not None:  # else the cache knew the answer
                    reserved, _ = open_.pop(record["number"])
                    self._compare(reserved, _size(record, "tokens_in"))
                    self._charge(_pair(record["charged"]), _size(record, "tokens_in"), _size(record, "tokens_out"))
        except (KeyError, TypeError, ValueError):
            raise Damaged("attempts.jsonl: expected one start and at most one end per request, got others") from None
        for lost in open_.values():
            self._charge(lost, None, None)

    def begin(self, record: dict[str, Any], size: int = 0) -> Ticket:
        """Reserve the most that a request of ``size`` bytes can cost and write it down; waits while others may leave
        room."""
        with self._changed:
            while (ticket := self.admit(record, size)) is None:
                self._changed.wait(0.1)
            return ticket

    def admit(self, record: dict[str, Any], size: int = 0) -> Ticket | None:
        """As ``begin``, but None instead of the wait."""
        with self._changed:
            if self.stop.is_set():
                raise StopRequested("no request is made any more")
            reserved = (self._largest[0] or max(QUESTION_TOKENS, size), self._largest[1])
            over = self._over(reserved)
            if over is not None and (not self._under_way or over.startswith("max_requests")):
                raise CapReached(over)
            if over is not None or self._must_wait():
                return None
            self.spent.requests += 1
            ticket = Ticket(self.spent.requests, reserved)
            self._under_way[ticket.number] = reserved
            self.log.add({"event": "sent", "number": ticket.number, **record, "reserved": list(reserved)})
            return ticket

    def _must_wait(self) -> bool:
        """Are the answers under way to say first what they cost? There are as many as answers were not surprising: each
        round trip doubles them, and a first question that is small tells little about the others."""
        unlimited = self.caps.tokens is None and self.caps.money is None
        return not unlimited and len(self._under_way) >= max(1, self._sized)

    def answered(self, ticket: Ticket, tokens_in: int | None, tokens_out: int | None, size: int = 0) -> tuple[int, int]:
        """A request got its answer, of ``size`` bytes; what it is charged with. The decision's record keeps that."""
        charged = (
            ticket.reserved[0] if tokens_in is None else tokens_in,
            max(ticket.reserved[1], size) if tokens_out is None else tokens_out,
        )
        self._settle(ticket, charged, tokens_in, tokens_out)
        return charged

    def failed(self, ticket: Ticket, charged: bool, record: dict[str, Any]) -> None:
        """A request failed; ``charged`` if the model may have worked for it."""
        tokens = ticket.reserved if charged else (0, 0)
        self._settle(ticket, tokens, None, None)
        self.log.add({"event": "failed", "number": ticket.number, **record, "charged": list(tokens)})

    def _settle(self, ticket: Ticket, charged: tuple[int, int], tokens_in: int | None, tokens_out: int | None) -> None:
        with self._changed:
            del self._under_way[ticket.number]
            self._compare(ticket.reserved[0], tokens_in)
            self._charge(charged, tokens_in, tokens_out)
            self._changed.notify_all()

    def _compare(self, reserved: int, tokens_in: int | None) -> None:
        """Is an answer as large as it was taken for? Those that were under way at a surprise say nothing more."""
        if tokens_in is not None and tokens_in > SURPRISE * (self._largest[0] or tokens_in):
            self._sized = 0
        elif tokens_in is not None and SURPRISE * reserved >= self._largest[0]:
            self._sized += 1

    def _charge(self, charged: tuple[int, int], tokens_in: int | None, tokens_out: int | None) -> None:
        """Count what a request cost; the tokens are what a server said of it, None where it did not."""
        if tokens_in is None and charged[0]:
            charged = (max(charged[0], self._largest[0]), charged[1])
            self._unsaid.append(charged[0])
        self.spent.add(charged)
        if tokens_in is not None and tokens_in > self._largest[0]:
            self._raise_unsaid(tokens_in)
        self._largest = (max(self._largest[0], tokens_in or 0), max(self._largest[1], tokens_out or 0))

    def _raise_unsaid(self, largest: int) -> None:
        """Questions that failed may have been as large as the largest that was answered."""
        raised = [max(tokens, largest) for tokens in self._unsaid]
        self.spent.tokens_in += sum(raised) - sum(self._unsaid)
        self._unsaid = raised

    def _over(self, wanted: tuple[int, int]) -> str | None:
        """Which cap another request could exceed, with both values."""
        tokens_in = self.spent.tokens_in + wanted[0] + sum(tokens for tokens, _ in self._under_way.values())
        tokens_out = self.spent.tokens_out + wanted[1] + sum(tokens for _, tokens in self._under_way.values())
        caps = self.caps
        if caps.requests is not None and self.spent.requests >= caps.requests:
            return f"max_requests: {caps.requests:,} allowed, {self.spent.requests:,} sent"
        if caps.tokens is not None and tokens_in + tokens_out > caps.tokens:
            return f"max_tokens: {caps.tokens:,} allowed, the next request could make it {tokens_in + tokens_out:,}"
        if caps.money is not None and caps.price(tokens_in, tokens_out) > caps.money:
            price = caps.price(tokens_in, tokens_out)
            return f"max_money: {caps.money:g} allowed, the next request could make it {price:.4g}"
        return None

    @property
    def money(self) -> float:
        """What has been spent, by the prices given."""
        return self.caps.price(self.spent.tokens_in, self.spent.tokens_out)


def _size(record: dict[str, Any], name: str) -> int | None:
    """Tokens that a record says; None where the server did not."""
    value = record.get(name)
    return None if value is None else int(value)


def _pair(value: Any) -> tuple[int, int]:
    first, second = value
    return int(first), int(second)
