"""What is asked of a model beside the messages, and what is learned when a server refuses a part of it."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from recommit.evaluate.zero_shot.endpoints import TOKEN_PARAMETERS

if TYPE_CHECKING:
    from recommit.evaluate.zero_shot.endpoints import Endpoint

#: In this order, where a refusal names several: a model that takes one of two samplers keeps its temperature.
_DROPPED = ("top_p", "temperature")


class Parameters:
    """Shared by all workers. Every parameter is dropped or renamed at most once, so learning ends."""

    def __init__(self, endpoint: Endpoint, temperature: float, top_p: float, answer_tokens: int) -> None:
        values = {"temperature": temperature, "top_p": top_p, endpoint.token_parameter: answer_tokens}
        self._values: dict[str, Any] = {k: v for k, v in values.items() if k not in endpoint.without}
        self._lock = threading.Lock()
        self._renamed = False
        #: What was learned, in words.
        self.lessons: list[str] = []

    def current(self) -> dict[str, Any]:
        """What to send now."""
        with self._lock:
            return dict(self._values)

    def learn(self, sent: dict[str, Any], said: str, named: str | None) -> bool:
        """Take in a refusal of ``sent``; is it worth asking again?"""
        with self._lock:
            if self._values != sent:
                return True  # another worker has learned since
            refused = [named] if named in sent else [name for name in (*_DROPPED, *TOKEN_PARAMETERS) if _in(name, said)]
            return any(name in self._values and self._adapt(name) for name in refused)

    def _adapt(self, name: str) -> bool:
        if name not in TOKEN_PARAMETERS:
            del self._values[name]
            self.lessons.append(f"without {name}")
            return True
        if self._renamed:
            return False
        other = TOKEN_PARAMETERS[1 - TOKEN_PARAMETERS.index(name)]
        self._values[other] = self._values.pop(name)
        self._renamed = True
        self.lessons.append(f"{other} for {name}")
        return True


def _in(name: str, said: str) -> bool:
    return re.search(rf"\b{name}\b", said) is not None
