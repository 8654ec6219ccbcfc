"""Qwen3-VL as a backbone: patches of 16 pixels, learned positions, and features of inner vision layers that are added
to the first layers of the language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from recommit.policy.backbones.qwen import QwenBackbone, VisionPass
from recommit.policy.pictures import normalise
from recommit.policy.transfer import to_device

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

#: The published image processor's; the smallest picture is one token here, since boards of few cells must not be
#: enlarged.
NORMAL = normalise.Normal((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


class Qwen3Backbone(QwenBackbone):
    """See ``Backbone``. Features are as many widths of the language model side by side as it has levels of them."""

    model_class = "Qwen3VLModel"

    def _is_cell_local(self, vision: Any) -> bool:  # noqa: ARG002
        return False

    def pixels(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> Tensor:
        """See ``Backbone``: drawn by the core, cut into patches here."""
        vision = self.config.vision_config
        frames = task.render(states, cell=cell or self.token_pixels, theme=theme, crop=crop)
        normal = normalise.normalised(to_device(frames, self.device), NORMAL)
        return normalise.patches(normal, vision.patch_size, vision.spatial_merge_size, vision.temporal_patch_size)

    def _pass(self, visual: Any, grid: tuple[int, int], device: torch.device) -> VisionPass:
        return DeepVisionPass(visual, grid, device)

    def processor(self) -> dict[str, Any]:
        """See ``TransformersBackbone``."""
        sides = {"shortest_edge": self.token_pixels**2, "longest_edge": 16777216}
        rest = {name: value for name, value in super().processor().items() if not name.endswith("_pixels")}
        return {**rest, "size": sides, "image_mean": list(NORMAL.mean), "image_std": list(NORMAL.std)}


class DeepVisionPass(VisionPass):
    """Learned positions between those of the square grid that was trained, no windows, and taps."""

    def __init__(self, visual: Any, grid: tuple[int, int], device: torch.device) -> None:
        super().__init__(visual, grid, device)
        side, merge = int(visual.config.num_position_embeddings**0.5), int(visual.config.spatial_merge_size)
        places = [_between(count * merge, side) for count in grid]
        (low_y, high_y, share_y), (low_x, high_x, share_x) = places
        places_of = [(y, x) for y in (low_y, high_y) for x in (low_x, high_x)]
        shares_of = [(y, x) for y in (1 - share_y, share_y) for x in (1 - share_x, share_x)]
        near = torch.stack([y[:, None] * side + x for y, x in places_of], dim=-1)
        share = torch.stack([y[:, None] * x for y, x in shares_of], dim=-1)
        self.near, self.share = (_by_token(t, merge).to(device) for t in (near, share))

    def _masks(self, config: Any, *_: Any) -> list[Tensor | None]:
        return [None] * int(config.depth)

    def _embed(self, visual: Any, pixels: Tensor) -> Tensor:
        x = super()._embed(visual, pixels)
        positions = (visual.pos_embed(self.near) * self.share[..., None]).sum(dim=1)
        return x + positions.to(x.dtype)

    def _taps(self, visual: Any) -> dict[int, nn.Module]:
        return dict(zip(visual.deepstack_visual_indexes, visual.deepstack_merger_list, strict=True))


def _between(count: int, side: int) -> tuple[Tensor, Tensor, Tensor]:
    """``count`` places spread evenly over a row of ``side``: the neighbours of each, and the share of the second."""
    place = torch.arange(count) * ((side - 1) / max(count - 1, 1))
    low = place.floor().long()
    return low, (low + 1).clamp(max=side - 1), place - low


def _by_token(grid: Tensor, merge: int) -> Tensor:
    """[height, width, ...] in the order of the patches: token by token."""
    height, width, *rest = grid.shape
    return grid.view(height // merge, merge, width // merge, merge, *rest).transpose(1, 2).flatten(0, 3)
