"""Streams of rows that can stop anywhere and go on at the exact next row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Resumable(ABC):
    """A stream whose order is a function of its ``identity``, so that its place in it is one number."""

    #: Rows handed out so far, all ranks together.
    position: int

    @property
    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What decides the order of the rows; plain values."""

    def state_dict(self) -> dict[str, Any]:
        """Where the stream is; plain values."""
        return {"position": self.position, "identity": self.identity}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on at the exact next row."""
        if state["identity"] != self.identity:
            raise ValueError(f"state: expected one of {self.identity}, got {state['identity']}")
        self.position = int(state["position"])
