"""A small residual convolutional network over the cells of a picture, for policies trained from scratch on a laptop.

The first layer is one projection per cell, and as all cells of a kind look the same, a board is a gather from a small
table. Every block adds mean and max over all cells to each cell. z is read at one place by soft attention: a linear
score weights the cells, so that the network learns to read where the player, or the blank, stands. The cells around
that place are read with it: one cell's channels are too few to hold eight actions.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from safetensors.torch import save
from torch import Tensor, nn

from recommit import checks
from recommit.policy.backbones.backbone import PromptInputs
from recommit.policy.tensors import to_device
from recommit.storage import verified
from recommit.storage.files import Files, replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from recommit.policy.prompt import PicturePrompt
    from recommit.puzzles.puzzle import Puzzle

MODEL_TYPE = "recommit_conv"
#: Pixels of a cell, and numbers of its patches: 2 x 2 of 14 x 14 pixels, three colours, twice.
CELL, VALUES = 28, 4 * 1176


@dataclass(frozen=True)
class ConvShape:
    """The sizes of a network."""

    #: Channels of a cell.
    width: int = 32
    #: Residual blocks of two convolutions.
    blocks: int = 8
    #: Width of z.
    z: int = 128
    #: Rows and columns around the place of z whose cells are read with it.
    reach: int = 3
    #: Number of times the blocks are applied, with shared weights; above 1 the network is recurrent.
    rounds: int = 1

    def __post_init__(self) -> None:
        ranges = {"width": (1, 1024), "blocks": (1, 128), "z": (1, 4096), "reach": (0, 8), "rounds": (1, 128)}
        for name, (least, most) in ranges.items():
            checks.integer(f"model.shape.{name}", getattr(self, name), least, most)


#: Shapes by the NAME of ``conv:NAME``.
CONV = {"small": ConvShape(32, 8, 128), "base": ConvShape(64, 12, 128)}


class Block(nn.Module):
    """Residual block of two convolutions with a bias pooled from the whole board; initialised to the identity."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.pooled = nn.Linear(2 * width, width, bias=False)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, x: Tensor) -> Tensor:
        inner = F.relu(x)
        whole = self.pooled(pooled(inner))[:, :, None, None]
        return x + self.second(F.relu(self.first(inner) + whole))


def pooled(x: Tensor) -> Tensor:
    """Mean and max over the cells: [N, width, rows, columns] -> [N, 2 * width]."""
    return torch.cat([x.mean(dim=(2, 3)), x.amax(dim=(2, 3))], dim=-1)


class ConvNet(nn.Module):
    """The network of a conv backbone."""

    def __init__(self, shape: ConvShape) -> None:
        super().__init__()
        self.cell = nn.Linear(VALUES, shape.width)
        self.stem = nn.Conv2d(shape.width, shape.width, 3, padding=1)
        self.blocks = nn.ModuleList(Block(shape.width) for _ in range(shape.blocks))
        self.recall = nn.Conv2d(shape.width, shape.width, 1) if shape.rounds > 1 else nn.Identity()
        self.score = nn.Linear(shape.width, 1, bias=False)
        self.out = nn.Linear(((2 * shape.reach + 1) ** 2 + 2) * shape.width, shape.z)
        with torch.no_grad():  # most pixels are the same in all cells: few values tell kinds apart
            self.cell.weight.mul_(4.0)


class ConvBackbone(nn.Module):
    """See ``Backbone``. It has no LoRA targets and reads no text."""

    token_pixels = CELL
    lora_targets = ""
    cell_local = True

    def __init__(self, model: ConvNet, shape: ConvShape) -> None:
        super().__init__()
        self.model = model
        self.shape, self.width = shape, shape.z
        self.recompute, self.compiled = False, "none"
        #: ``rounds`` may be changed at inference. With ``early`` half of the pictures of a training batch are read
        #: after fewer rounds, so that imitation trains every round.
        self.rounds, self.early = shape.rounds, False

    @classmethod
    def from_pretrained(
        cls, path: str | Path, *, dtype: torch.dtype | None = None, device: torch.device | str | None = None, **_: Any
    ) -> Self:
        from recommit.policy.checkpoint import check_and_copy, check_shapes, read_weights

        path = Path(path)
        names = [field.name for field in fields(ConvShape)]
        # The packaged policies were saved before networks had rounds.
        values = {"rounds": 1} | verified.values(path, "config.json", dict.fromkeys(names[:-1], int))
        try:
            shape = ConvShape(**{name: values[name] for name in names})
        except ValueError as error:
            raise ValueError(f"backbone: {error} in {path}") from None
        stored = read_weights(file := path / "model.safetensors")
        with torch.device("meta"):  # an untrusted folder may declare any size
            check_shapes(ConvNet(shape).state_dict(), stored, file)
        model = ConvNet(shape)
        check_and_copy(model.state_dict(), stored, file)
        return cls(model.to(device=device, dtype=dtype), shape)

    def grid(self, rows: int, cols: int, cell: int) -> tuple[int, int]:
        if cell not in (0, CELL):
            raise ValueError(f"cell: expected 0 or {CELL}, as wide as a conv backbone reads cells, got {cell}")
        return rows, cols

    def tokenize_prompt(self, prompt: PicturePrompt, rows: int, cols: int) -> PromptInputs:  # noqa: ARG002
        return PromptInputs(rows, cols, torch.zeros(rows * cols), torch.zeros(1, rows * cols), 0)

    def pixels(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> Tensor:
        values, _ = task.patches(states, cell=cell or CELL, theme=theme, crop=crop)
        return to_device(values, self.model.cell.weight.device)

    def features(self, pixels: Tensor, grid: tuple[int, int]) -> Tensor:
        return self.model.cell(pixels.reshape(-1, grid[0] * grid[1], VALUES))

    def z(self, features: Tensor, geometry: PromptInputs) -> Tensor:
        return self.read(self.cells(features, geometry), self.own(features, geometry))

    def own(self, features: Tensor, geometry: PromptInputs) -> Tensor:
        """The policy's own attention weights over the cells for reading z: [N, 1, rows, columns]."""
        shares: Tensor = self.model.score(features).softmax(dim=1)
        return shares.transpose(1, 2).unflatten(2, (geometry.rows, geometry.cols))

    def cells(self, features: Tensor, geometry: PromptInputs) -> Tensor:
        """Features of every cell of the board, [N, width, rows, columns]."""
        if geometry.tokens.ndim == 2:
            raise ValueError("show_budget: expected false for a conv backbone, which reads no text, got true")
        x = features.transpose(1, 2).unflatten(2, (geometry.rows, geometry.cols))
        begin = x = self.model.stem(x.contiguous(memory_format=torch.channels_last))
        last = torch.arange(len(x), device=x.device) % (2 * self.rounds)
        result = x
        for number in range(self.rounds):
            if number:  # rescaled to unit RMS in every round, with the picture added again
                x = x * torch.rsqrt(x.square().mean(dim=1, keepdim=True) + 1e-6) + self.model.recall(begin)
            for block in self.model.blocks:
                x = block(x)
            result = (
                torch.where((last >= number)[:, None, None, None], x, result) if self.early and self.training else x
            )
        return F.relu(result)

    def z_at(self, features: Tensor, geometry: PromptInputs, places: Tensor) -> Tensor:
        """z of each picture, followed by z read at other ``places`` [N, D]: [N + N * D, width]."""
        cells, (many, others) = self.cells(features, geometry), places.shape
        there = F.one_hot(places, cells.shape[2] * cells.shape[3]).to(cells.dtype).unflatten(2, cells.shape[2:])
        every = self.read(cells, torch.cat([self.own(features, geometry), there], dim=1))
        z = every.unflatten(0, (many, 1 + others))
        return torch.cat([z[:, 0], z[:, 1:].flatten(0, 1)])

    def read(self, cells: Tensor, shares: Tensor) -> Tensor:
        """z read at K places, [N * K, width]; ``shares`` [N, K, rows, columns] are attention weights over the cells."""
        reach, places = self.shape.reach, shares.shape[1]
        # Unfold the weights, not the cells: they have fewer channels.
        moved = F.unfold(shares, 2 * reach + 1, padding=reach)
        around = (moved @ cells.flatten(2).transpose(1, 2)).unflatten(1, (places, -1)).flatten(2)
        board = pooled(cells)[:, None].expand(-1, places, -1)
        return self.model.out(torch.cat([around, board], dim=-1).flatten(0, 1))

    def vision_parameters(self) -> Iterator[nn.Parameter]:
        return self.model.cell.parameters()

    def frozen_state(self) -> dict[str, Tensor]:
        return dict(self.model.state_dict())

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        weights = {name: tensor.detach().contiguous() for name, tensor in self.model.state_dict().items()}
        replace(Files(), folder / "model.safetensors", save(weights, metadata={"format": "pt"}))
        about = {"model_type": MODEL_TYPE, **asdict(self.shape)}
        replace(Files(), folder / "config.json", (json.dumps(about, indent=2) + "\n").encode())

    def save_processor(self, folder: Path) -> None:
        """Nothing to write."""


def make_conv(folder: str | Path, shape: ConvShape, *, seed: int = 0) -> Path:
    """Write a network with random weights; returns the folder."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        ConvBackbone(ConvNet(shape), shape).save(Path(folder))
    return Path(folder)
