"""What is asked of a model beside the messages, and what is learned when a server refuses a part of it."""

from __future__ import annotations

import re
import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recommit.zero_shot.http.endpoints import TOKEN_PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recommit.zero_shot.http.endpoints import Endpoint

#: In this order, where a refusal names several: a model that takes one of two samplers keeps its temperature.
_DROPPED = ("top_p", "temperature")
#: Words of a refusal that is about how many tokens, not about the name of their parameter.
_TOO_MANY = re.compile(r"context length|too large|too long", re.IGNORECASE)
#: Of a line of ``attempts.jsonl`` that holds a ``Lesson``.
REFUSED = "refused"


@dataclass(frozen=True)
class Lesson:
    """A parameter that the server refused, what is sent in its place if anything, and the server's own words."""

    parameter: str
    instead: str | None
    message: str

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Lesson:
        """From a line of ``attempts.jsonl``."""
        if record["event"] != REFUSED:
            raise ValueError(f"event: expected {REFUSED}, got {record['event']}")
        return cls(str(record["parameter"]), record["instead"], str(record["said"]))

    def fields(self) -> dict[str, Any]:
        """Name what a line of ``attempts.jsonl`` says of it."""
        return {"parameter": self.parameter, "instead": self.instead, "said": self.message}

    def __str__(self) -> str:
        return f"{self.instead} for {self.parameter}" if self.instead else f"without {self.parameter}"


class Parameters:
    """Shared by all workers. Every parameter is dropped or renamed at most once, so learning ends.

    ``wanted`` are those of the spec: ``temperature`` and ``top_p``, where they are wanted, and ``answer_tokens``.
    """

    def __init__(self, endpoint: Endpoint, wanted: Mapping[str, Any]) -> None:
        named = {endpoint.token_parameter if name == "answer_tokens" else name: value for name, value in wanted.items()}
        self._values: dict[str, Any] = named
        self._lock = threading.Lock()
        self._renamed = False
        self.lessons: list[Lesson] = []

    def current(self) -> dict[str, Any]:
        """What to send now."""
        with self._lock:
            return dict(self._values)

    def restore(self, attempts: Iterable[Mapping[str, Any]]) -> None:
        """Take in what earlier starts of the run learned."""
        for lesson in lessons_of(attempts):
            if lesson.parameter in self._values:
                self._adapt(lesson.parameter, lesson.message)

    def learn(self, sent: dict[str, Any], words: str, named: str | None) -> tuple[bool, Lesson | None]:
        """Take in a refusal of ``sent``; is it worth asking again, and what is new?"""
        with self._lock:
            if self._values != sent:
                return True, None  # another worker has learned since
            lessons = (self._adapt(name, words) for name in _refused(words, named, sent) if name in self._values)
            lesson = next((lesson for lesson in lessons if lesson), None)
            return lesson is not None, lesson

    def _adapt(self, name: str, words: str) -> Lesson | None:
        instead = None
        if name in TOKEN_PARAMETERS:
            if self._renamed:
                return None
            instead, self._renamed = TOKEN_PARAMETERS[1 - TOKEN_PARAMETERS.index(name)], True
            self._values[instead] = self._values[name]
        del self._values[name]
        self.lessons.append(Lesson(name, instead, words))
        return self.lessons[-1]


def lessons_of(attempts: Iterable[Mapping[str, Any]]) -> list[Lesson]:
    """Those that ``attempts.jsonl`` holds."""
    return [Lesson.read(record) for record in attempts if record["event"] == REFUSED]


def sampling(
    wanted: Mapping[str, Any], attempts: Iterable[Mapping[str, Any]], decisions: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """For the manifest: what was asked for, what the answered requests had, how many of them, and what was refused
    how."""
    sent = Counter(tuple(sorted(one["parameters"].items())) for one in decisions)
    return {
        "asked": dict(wanted),
        "sent": [{"parameters": dict(values), "decisions": count} for values, count in sent.items()],
        "refused": [lesson.fields() for lesson in lessons_of(attempts)],
    }


def _refused(words: str, named: str | None, sent: dict[str, Any]) -> list[str]:
    """Which parameters a refusal is about: the one that it names, else those that its words do."""
    adaptable = _DROPPED if _TOO_MANY.search(words) else (*_DROPPED, *TOKEN_PARAMETERS)
    return [name for name in adaptable if (name == named if named in sent else _in(name, words))]


def _in(name: str, words: str) -> bool:
    return re.search(rf"\b{name}\b", words) is not None
