"""Start states with their identity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Instance:
    """One start state: its id, and its optimal length where that is known (else ``UNKNOWN``)."""

    id: str
    state: NDArray[np.uint8]
    length: int


@dataclass(frozen=True)
class Instances:
    """A run of generated instances: number ``start`` and following of (task, size name, seed)."""

    task: str
    size_name: str
    seed: int
    start: int
    states: NDArray[np.uint8]
    #: Optimal length of each instance, ``UNKNOWN`` where nobody asked for it.
    length: NDArray[np.int32]

    @property
    def ids(self) -> list[str]:
        """One id per instance; equal ids mean equal bytes, on every machine."""
        return [f"{self.task}/{self.size_name}/{self.seed}/{i}" for i in range(self.start, self.start + len(self))]

    def __len__(self) -> int:
        return len(self.states)

    def __iter__(self) -> Iterator[Instance]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> Instance: ...
    @overload
    def __getitem__(self, key: slice) -> Instances: ...
    def __getitem__(self, key: int | slice) -> Instance | Instances:
        if isinstance(key, slice):
            first, _, step = key.indices(len(self))
            if step != 1:
                raise ValueError(f"key: expected a slice with step 1, got step {step}")
            return replace(self, start=self.start + first, states=self.states[key], length=self.length[key])
        index = range(len(self))[key]
        instance = f"{self.task}/{self.size_name}/{self.seed}/{self.start + index}"
        return Instance(instance, self.states[index], int(self.length[index]))
