"""What a run may spend and has spent, over all its starts: every request is written down before it is sent.

The errors here end a request, an episode or a run; no message holds a key.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from recommit.storage.errors import Damaged, DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recommit.storage.jsonl import JsonLines


class ZeroShotError(DataError):
    """A run cannot go on, or one of its episodes cannot. Whatever had been answered is in the folder."""


class GaveUp(ZeroShotError):
    """One decision got no answer after all retries: its episode is an infra error, not a failure of the model."""


class Unusable(ZeroShotError):
    """No request can succeed: a wrong key, an unknown model, a redirect, or a server that refuses every request."""


class CapReached(ZeroShotError):
    """The next request could exceed a cap of the run. Raise it and run the same command again: it goes on."""


class StopRequested(ZeroShotError):
    """The run was asked to end; no further request is made."""


#: Tokens: of a question, and of its answer.
Tokens = tuple[int, int]
#: Taken for the tokens of a question until a server has said how many one has. Until then a run with a cap on tokens
#: has one request under way: what one answer costs is the most that a cap is broken by.
QUESTION_TOKENS = 4096


class Ledger:
    """Shared by all workers. A request is sent only if all requests under way fit the caps together, each of them taken
    for as large as the largest so far. ``requests`` and ``tokens`` are the caps, None for no limit."""

    def __init__(
        self, requests: int | None, tokens: int | None, log: JsonLines, answer_tokens: int, stop: threading.Event
    ) -> None:
        self.most_requests, self.most_tokens, self.log, self.stop = requests, tokens, log, stop
        #: Requests sent, and tokens as the server counts them; where it did not say, the most they can have been.
        self.requests = self.tokens_in = self.tokens_out = 0
        self._under_way = 0
        #: Of a question (0 until a server has said), and of an answer.
        self._largest = (0, answer_tokens)
        self._changed = threading.Condition()

    @property
    def reserved(self) -> Tokens:
        """The most that a request is taken to cost."""
        return self._largest[0] or QUESTION_TOKENS, self._largest[1]

    def restore(self, attempts: Iterable[dict[str, Any]], decisions: Iterable[dict[str, Any]]) -> None:
        """Count what earlier starts of the run have spent; a request without any end was lost in a kill, and costs."""
        ended = 0
        try:
            for record in attempts:
                if record["event"] == "sent":
                    self.requests += 1
                else:
                    ended += 1
                    self._charge(_tokens(record["charged"]))
            for record in decisions:
                ended += 1
                self._charge(_tokens(record["charged"]), record["tokens_in"], record["tokens_out"])
            lost = _tokens([self.requests - ended] * 2)[0]
        except (KeyError, TypeError, ValueError):
            raise Damaged("attempts.jsonl: expected one start and at most one end per request, got others") from None
        self._charge((lost * self.reserved[0], lost * self.reserved[1]))

    def begin(self, record: dict[str, Any]) -> None:
        """Reserve the most that a request can cost and write it down; waits while others may leave room."""
        with self._changed:
            while not self.admit(record):
                self._changed.wait(0.1)

    def admit(self, record: dict[str, Any]) -> bool:
        """As ``begin``, but False instead of the wait."""
        with self._changed:
            if self.stop.is_set():
                raise StopRequested("no request is made any more")
            if self.most_requests is not None and self.requests >= self.most_requests:
                raise CapReached(f"max_requests: {self.most_requests:,} allowed, {self.requests:,} sent")
            if self.most_tokens is not None:
                wanted = self.tokens_in + self.tokens_out + (self._under_way + 1) * sum(self.reserved)
                if self._under_way and (wanted > self.most_tokens or self._must_wait()):
                    return False
                if wanted > self.most_tokens:
                    raise CapReached(
                        f"max_tokens: {self.most_tokens:,} allowed, the next request could make it {wanted:,}"
                    )
            self.requests += 1
            self._under_way += 1
            self.log.add({"event": "sent", "number": self.requests, **record})
            return True

    def _must_wait(self) -> bool:
        """Is the first answer to say how large a question is?"""
        return not self._largest[0]

    def answered(self, tokens_in: int | None, tokens_out: int | None) -> Tokens:
        """A request got its answer; what it is charged with. The decision's record keeps that."""
        most_in, most_out = self.reserved
        charged = (most_in if tokens_in is None else tokens_in, most_out if tokens_out is None else tokens_out)
        self._end(charged, tokens_in, tokens_out)
        return charged

    def failed(self, charged: bool, record: dict[str, Any]) -> None:
        """A request failed; ``charged`` if the model may have worked for it."""
        tokens = self.reserved if charged else (0, 0)
        self._end(tokens)
        self.log.add({"event": "failed", **record, "charged": list(tokens)})

    def _end(self, charged: Tokens, *said: int | None) -> None:
        with self._changed:
            self._under_way -= 1
            self._charge(charged, *said)
            self._changed.notify_all()

    def _charge(self, charged: Tokens, tokens_in: int | None = None, tokens_out: int | None = None) -> None:
        """Count what a request cost; the tokens are what a server said of it, None where it did not."""
        self.tokens_in += charged[0]
        self.tokens_out += charged[1]
        self._largest = (max(self._largest[0], tokens_in or 0), max(self._largest[1], tokens_out or 0))


def _tokens(value: Any) -> Tokens:
    first, second = value
    if not (type(first) is type(second) is int and min(first, second) >= 0):  # less than nothing would lift every cap
        raise ValueError(value)
    return first, second
