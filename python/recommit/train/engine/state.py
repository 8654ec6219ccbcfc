"""What an engine must remember, in one format for all engines and any number of ranks.

    engine-00000.safetensors ...   of trained parameter i: {i}.weight, {i}.exp_avg, {i}.exp_avg_sq, {i}.step

Weights and moments are whole and in float32, whoever split or rounded them: a run goes on with another number of ranks,
and with another stage of ZeRO. Files are of bounded size, so that nobody holds all of a large model twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from safetensors import safe_open
from safetensors.torch import save_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    State = dict[str, Tensor]

#: A file is closed when it holds so many bytes.
FILE_BYTES = 1 << 31


def save(folder: Path, states: Iterable[State], *, write: bool = True, limit: int = FILE_BYTES) -> None:
    """Write the state of every parameter in turn. Ranks that do not ``write`` go through ``states`` all the same, which
    may gather each of them from all ranks."""
    waiting: State = {}
    number = 0
    for i, state in enumerate(states):
        if not write:
            continue
        waiting |= {f"{i}.{name}": tensor.detach().contiguous() for name, tensor in state.items()}
        if sum(t.numel() * t.element_size() for t in waiting.values()) >= limit:
            save_file(waiting, folder / _name(number))
            waiting, number = {}, number + 1
    if waiting:
        save_file(waiting, folder / _name(number))


def load(folder: Path, shapes: Sequence[torch.Size]) -> Iterator[State]:
    """The state of every parameter in turn, on the CPU; parameters of other ``shapes`` are refused."""
    paths = sorted(folder.glob("engine*.safetensors"))
    files = [safe_open(path, framework="pt") for path in paths]
    where = {name: file for file in files for name in file.keys()}  # noqa: SIM118 - not a mapping
    if extra := [name for name in where if int(name.partition(".")[0]) >= len(shapes)]:
        raise ValueError(f"{folder}: expected the state of {len(shapes)} weights, got {extra[0]} besides")
    for i, shape in enumerate(shapes):
        name = f"{i}.weight"
        got = tuple(where[name].get_slice(name).get_shape()) if name in where else None
        if got != tuple(shape):
            raise ValueError(f"{folder}: expected weight {i} of shape {tuple(shape)}, got {got}")
    for i in range(len(shapes)):
        names = [name for name in where if name.partition(".")[0] == str(i)]
        yield {name.partition(".")[2]: where[name].get_tensor(name) for name in names}


def shape(parameter: Tensor) -> torch.Size:
    """Shape of all of a parameter, also while ZeRO has split it."""
    size: torch.Size = getattr(parameter, "ds_shape", parameter.shape)
    return size


def numel(parameter: Tensor) -> int:
    """Size of all of a parameter, also while ZeRO has split it."""
    return int(getattr(parameter, "ds_numel", parameter.numel()))


def _name(number: int) -> str:
    return f"engine-{number:05d}.safetensors"
