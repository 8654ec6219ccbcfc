"""Asking one question: retries with growing, jittered pauses, parameters that a server refuses, caps, and one answer in
the end, which runs may share in a cache."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from recommit import rng
from recommit.storage import files
from recommit.storage.safe_open import content
from recommit.storage.verified import typed
from recommit.zero_shot import messages, transport
from recommit.zero_shot.endpoints import REFUSED, find
from recommit.zero_shot.ledger import GaveUp, StopRequested, Unusable
from recommit.zero_shot.messages import Completion, Failure, Verdict
from recommit.zero_shot.secret import Key, clean
from recommit.zero_shot.transport import Address

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.zero_shot.endpoints import Endpoint, SamplingParameters
    from recommit.zero_shot.ledger import Ledger, Ticket
    from recommit.zero_shot.messages import Question
    from recommit.zero_shot.options import ZeroShotOptions

#: The first pause before another attempt, which doubles each time, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
#: Characters of what a server says about a failure that are looked at.
MOST_CHARACTERS = 4096


class StoppableClock:
    """Time, and pauses that end early once a stop is asked for."""

    def __init__(self) -> None:
        self.stop = threading.Event()

    def now(self) -> float:
        """Seconds, never going back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Pause."""
        self.stop.wait(seconds)


@dataclass(frozen=True)
class Server:
    """Who is asked: an endpoint's dialect, at an address, with a key."""

    endpoint: Endpoint
    address: Address
    key: Key

    @classmethod
    def of(cls, options: ZeroShotOptions) -> Server:
        """Find it, and the key in the environment; a key is not sent in the clear to another machine."""
        endpoint, own = find(options.model, options.endpoint), options.base_url
        if not (own or endpoint.base):
            raise ValueError(f"base_url: expected an address for the endpoint {endpoint.name}, got none")
        address = Address.parse(own or endpoint.base)
        key = Key.from_environment(options.key_variable or endpoint.key_variable)
        if endpoint.key_needed and not key and own is None:
            raise ValueError(f"key_variable: expected a key in {key.variable}, got an empty variable")
        if key and address.scheme == "http" and not address.local:
            raise ValueError(f"base_url: expected https, since {key.variable} holds a key, got http")
        return cls(endpoint, address, key)


@dataclass(frozen=True)
class DecisionPlace:
    """Which decision is asked for. Its question may be that of another one, but it is answered for itself."""

    instance: str
    index: int
    decision: int


@dataclass(frozen=True)
class Answer:
    """What the model said, and what it took to hear it. ``number`` is the request's, None if the answer was known."""

    completion: Completion
    request: str
    number: int | None
    charged: tuple[int, int]
    parameters: dict[str, Any]
    attempts: int
    seconds: float
    address: str


class Cache:
    """Answers by what was asked, shared between runs: one file per answer in a folder, or nothing without a folder.

    The first decisions of a larger budget are those of a smaller one. Safe from any thread and process.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder, self._files = folder, files.Files()

    def get(self, name: str) -> Completion | None:
        """The answer kept under a name; a file that holds none counts as no answer."""
        if self.folder is None:
            return None
        try:
            return typed(Completion, json.loads(content(self._path(self.folder, name))))
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def put(self, name: str, completion: Completion) -> None:
        """Keep an answer."""
        if self.folder is None:
            return
        path = self._path(self.folder, name)
        files.make_folders(self._files, path.parent)
        files.replace(self._files, path, json.dumps(asdict(completion)).encode("ascii"))

    @staticmethod
    def _path(folder: Path, name: str) -> Path:
        return folder / name[:2] / f"{name}.json"


class Client:
    """Asks one model. Used by all workers at once."""

    def __init__(
        self,
        options: ZeroShotOptions,
        server: Server,
        parameters: SamplingParameters,
        ledger: Ledger,
        clock: StoppableClock,
    ) -> None:
        self.options, self.server, self.parameters = options, server, parameters
        self.ledger, self.clock, self.cache = ledger, clock, Cache(options.cache)
        #: Nobody asks before this moment: the server said that it is overloaded.
        self._open_at = 0.0
        self._lock = threading.Lock()

    def ask(self, question: Question, place: DecisionPlace) -> Answer:
        """The answer to one decision's question."""
        failures, attempts = 0, 0
        while True:
            sent = self.parameters.current()
            fields = {**self.options.fields, **sent}
            body = messages.write(self.server.endpoint, self.options.model, question, fields)
            name = self._name(body, place)
            if (cached := self.cache.get(name)) is not None:
                return Answer(cached, name, None, (0, 0), sent, attempts, 0.0, "")
            self._wait_for_turn()
            attempts += 1
            result = self._once(body, name, place, sent, attempts)
            if isinstance(result, Answer):
                self.cache.put(name, result.completion)
                return result
            if self._adapted(result, sent):
                continue
            failures += 1
            self._go_on(result, failures)
            self._pause(result, failures, place)

    def _once(
        self, body: bytes, name: str, place: DecisionPlace, sent: dict[str, Any], attempt: int
    ) -> Answer | Failure:
        where = {"instance": place.instance, "decision": place.decision, "attempt": attempt, "request": name}
        ticket, begin = self.ledger.begin(where, len(body)), self.clock.now()
        result = _without(self._posted(body), self.server.key)
        seconds = round(self.clock.now() - begin, 3)
        if isinstance(result, Failure):
            self._note(ticket, result, seconds)
            return result
        size = len(result.text.encode("utf-8", "surrogatepass"))
        charged = self.ledger.answered(ticket, result.tokens_in, result.tokens_out, size)
        return Answer(result, name, ticket.number, charged, sent, attempt, seconds, str(self.server.address))

    def _posted(self, body: bytes) -> Completion | Failure:
        """One request and what it came to, in the server's own words."""
        server, endpoint, options = self.server, self.server.endpoint, self.options
        try:
            reply = transport.post(server.address, endpoint, server.key, body, seconds=options.timeout)
        except transport.Broken as broken:
            return messages.of_broken(broken)
        if reply.status != 200:
            return messages.of_reply(reply)
        if "json" not in reply.headers.get("content-type", "").lower():
            return Failure(Verdict.AGAIN, "wrong_content_type", charged=True)
        try:
            completion = messages.read(endpoint, reply.body)
        except messages.Malformed as error:
            return Failure(
                Verdict.AGAIN, "malformed", f"{error}: {messages.complaint(reply.body).message}", charged=True
            )
        if not options.any_model and not messages.same_model(options.model, completion.model):
            return Failure(Verdict.AGAIN, "wrong_model", f"answered by {completion.model}", charged=True)
        return completion

    def _note(self, ticket: Ticket, failure: Failure, seconds: float) -> None:
        record = {"kind": failure.kind, "said": clean(failure.message, self.server.key), "seconds": seconds}
        self.ledger.failed(ticket, failure.charged, record)

    def _adapted(self, failure: Failure, sent: dict[str, Any]) -> bool:
        if failure.verdict is not Verdict.ADAPT:
            return False
        again, refused = self.parameters.adapt(sent, failure.message, failure.parameter)
        if refused is not None:
            said = clean(refused.message, self.server.key)
            self.ledger.log.add({"event": REFUSED, **refused.fields(), "said": said})
        return again

    def _go_on(self, failure: Failure, failures: int) -> None:
        """Raise unless another attempt makes sense."""
        words = clean(failure.message, self.server.key)
        what = f"{failure.kind}: {words}" if words else failure.kind
        if failure.verdict is Verdict.END:
            raise Unusable(f"{self.server.address} answers nobody like this: {what}")
        if failure.verdict is not Verdict.AGAIN:
            raise GaveUp(what)
        if failures > self.options.retries:
            raise GaveUp(f"{what}, {failures} times")

    def _pause(self, failure: Failure, failures: int, place: DecisionPlace) -> None:
        seconds = max(self._backoff(failures, place), failure.wait)
        if failure.crowded:
            with self._lock:
                self._open_at = max(self._open_at, self.clock.now() + seconds)
        else:
            self.clock.sleep(seconds)

    def _backoff(self, failures: int, place: DecisionPlace) -> float:
        """Between half and all of a pause that doubles; workers that failed together come back apart."""
        number = (place.index << 24) + (place.decision << 8) + failures
        share = float(rng.uniform(rng.streams(self.options.seed, rng.Purpose.JITTER, number), 0)[0])
        return min(FIRST_PAUSE * 2.0 ** (failures - 1), LONGEST_PAUSE) * (0.5 + 0.5 * share)

    def _wait_for_turn(self) -> None:
        while not self.clock.stop.is_set():
            with self._lock:
                remaining = self._open_at - self.clock.now()
            if remaining <= 0:
                return
            self.clock.sleep(remaining)
        raise StopRequested("no request is made any more")

    def _name(self, body: bytes, place: DecisionPlace) -> str:
        """Names the answer: everything that is sent but the key, and for which decision."""
        where = f"{self.server.address}{self.server.endpoint.path}\n{place.instance}\n{place.decision}\n"
        return files.sha256(where.encode() + body)


def _without(result: Completion | Failure, key: Key) -> Completion | Failure:
    """The same without the key, should a server have put it there; only then is anything cut to a sensible length."""
    if isinstance(result, Failure):
        named = None if result.parameter is None else _short(result.parameter, key)
        return replace(result, message=_short(result.message, key), parameter=named)
    finish, model, name = (_short(text, key)[:200] for text in (result.finish, result.model, result.id))
    return replace(result, text=key.redact(result.text), finish=finish, model=model, id=name)


def _short(text: str, key: Key) -> str:
    # Cut first, since a server may say a lot; a part of the key at the cut is hidden like any other part.
    return key.redact(text[: 16 * MOST_CHARACTERS])[:MOST_CHARACTERS]
