"""Counts how often the host asks the device for a value and so waits for it: by the calls that read on every device,
and on a GPU also by what CUDA itself says of its waits."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from types import FrameType
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from recommit.policy import tensors

#: Operators whose result is a number or a shape that the host must know before it goes on.
READING = {"_local_scalar_dense", "is_nonzero", "equal", "nonzero", "masked_select", "_unique2", "unique_dim"}
#: Methods of tensors that the dispatcher never sees on a CPU.
METHODS = ("cpu", "numpy", "tolist")


class Waits(TorchDispatchMode):
    """A context; ``places`` counts the waits inside it by call and place. One call of ``to_host`` is one wait."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.device = device
        self.places: Counter[str] = Counter()
        self._batched: list[FrameType] = []
        self._patch = pytest.MonkeyPatch()

    def __len__(self) -> int:
        return sum(self.places.values())

    def __enter__(self) -> Any:
        for name in METHODS:
            self._patch.setattr(torch.Tensor, name, self._counted(name, getattr(torch.Tensor, name)))
        plain = torch.Tensor.to

        def to(tensor: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
            if "cpu" in [a for a in arguments if isinstance(a, str)]:  # uploads name a torch.device
                self._note("to")
            return plain(tensor, *arguments, **options)

        self._patch.setattr(torch.Tensor, "to", to)
        if self.device.type == "cuda":
            self._caught = warnings.catch_warnings(record=True)
            self.said = self._caught.__enter__()
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self.device.type == "cuda":
            torch.cuda.set_sync_debug_mode("default")
            self._caught.__exit__(None, None, None)
            self.places.update(f"CUDA: {w.filename}:{w.lineno}" for w in self.said if "synchroniz" in str(w.message))
        self._patch.undo()
        self._batched.clear()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in READING or (name == "index" and _by_mask(args)):
            self._note(name)
        return func(*args, **(kwargs or {}))

    def _counted(self, name: str, method: Any) -> Any:
        def counted(tensor: torch.Tensor, *arguments: Any, **options: Any) -> Any:
            self._note(name)
            return method(tensor, *arguments, **options)

        return counted

    def _note(self, name: str) -> None:
        place: FrameType | None = sys._getframe(1)
        where = ""
        while place is not None:
            if place.f_code is tensors.to_host.__code__:
                if any(place is each for each in self._batched):
                    return
                self._batched.append(place)  # kept, so that no later call has the same frame
                name, where = "to_host", ""
            if not where and "/recommit/" in place.f_code.co_filename and place.f_code is not tensors.to_host.__code__:
                where = f"{place.f_code.co_filename.rpartition('/recommit/')[2]}:{place.f_lineno}"
            place = place.f_back
        self.places[f"{name} {where}"] += 1


def _by_mask(arguments: Any) -> bool:
    """How many rows a mask keeps is a number that the host must know."""
    return any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in arguments[1])
