"""Random weights as a hub keeps large models: shards of safetensors and an index, written piece by piece.

No tensor is ever whole in memory, so a model of any size is made on any machine with room on its disk. Each tensor has
a random stream of its own: neither the order nor the size of shards changes a value.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from recommit.storage.files import Files, replace, replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: Bytes of a shard, about as many as published models have.
SHARD = 4_000_000_000
INDEX = "model.safetensors.index.json"
#: Numbers that are drawn at once.
_PIECE = 1 << 23
_NAMES = {"float32": "F32", "bfloat16": "BF16"}


@dataclass(frozen=True)
class RandomTensor:
    """A tensor that will be written: its published name, its shape, and how wide its numbers are spread."""

    name: str
    shape: tuple[int, ...]
    spread: float

    @property
    def count(self) -> int:
        """Numbers in it."""
        return torch.Size(self.shape).numel()

    def pieces(self, seed: int, dtype: torch.dtype) -> Iterator[torch.Tensor]:
        """Its values, a part at a time: zeros for biases, ones for scales, draws for the rest."""
        stream = hashlib.sha256(f"{seed} {self.name}".encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(stream[:7], "little"))
        for begin in range(0, self.count, _PIECE):
            size = min(_PIECE, self.count - begin)
            if len(self.shape) == 1:
                yield torch.full((size,), 0.0 if self.name.endswith("bias") else 1.0, dtype=dtype)
            else:
                yield torch.randn(size, generator=generator).mul_(self.spread).to(dtype)


def write(
    folder: Path, shapes: Mapping[str, tuple[int, ...]], *, spread: float, seed: int, dtype: str, shard: int = SHARD
) -> None:
    """Files of up to ``shard`` bytes each with the tensors of ``shapes``; the index comes last."""
    wide = getattr(torch, dtype).itemsize
    parts = _split([RandomTensor(name, shape, spread) for name, shape in shapes.items()], shard // wide)
    names = [f"model-{number + 1:05}-of-{len(parts):05}.safetensors" for number in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        _write_file(folder / name, part, seed, dtype)
    total = wide * sum(tensor.count for part in parts for tensor in part)
    places = {tensor.name: name for name, part in zip(names, parts, strict=True) for tensor in part}
    index = {"metadata": {"total_size": total}, "weight_map": places}
    replace(Files(), folder / INDEX, (json.dumps(index, indent=2) + "\n").encode())


def _split(tensors: list[RandomTensor], limit: int) -> list[list[RandomTensor]]:
    """In their order, as many to a file as fit; one that is larger has a file of its own."""
    parts: list[list[RandomTensor]] = [[]]
    for tensor in tensors:
        if parts[-1] and sum(each.count for each in parts[-1]) + tensor.count > limit:
            parts.append([])
        parts[-1].append(tensor)
    return parts


def _write_file(path: Path, tensors: list[RandomTensor], seed: int, dtype: str) -> None:
    kind = getattr(torch, dtype)
    with replacing(path) as file:
        file.write(_header(tensors, dtype))
        for tensor in tensors:
            for piece in tensor.pieces(seed, kind):
                file.write(memoryview(piece.view(torch.uint8).numpy()))


def _header(tensors: list[RandomTensor], dtype: str) -> bytes:
    """As safetensors has it: its length, then names, shapes and places as JSON, up to a multiple of eight bytes."""
    about: dict[str, object] = {"__metadata__": {"format": "pt"}}
    begin = 0
    for tensor in tensors:
        end = begin + tensor.count * getattr(torch, dtype).itemsize
        about[tensor.name] = {"dtype": _NAMES[dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(about, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text
