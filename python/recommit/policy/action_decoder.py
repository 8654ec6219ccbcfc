"""The action decoder: the actions of a plan.

A small causal transformer turns z into a plan of eight actions, or as many as the deepest commitment; a commitment of
depth h is its first h actions. Without ``decoder.depth_conditioning`` all depths share one plan and one pass of the
backbone. The depth is chosen by ``depth_head.py``.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recommit.policy.augmentations import Copies
from recommit.policy.config import PLAN_LENGTH, DecoderConfig

ACTIONS = 4


class Block(nn.Module):
    """Pre-norm causal attention and MLP, with an optional cache of keys and values."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, config.ffn), nn.Linear(config.ffn, width)
        #: Attention to a single vector is a linear map of it, the same at every position.
        self.cross = nn.Linear(width, width) if config.z == "cross" else None

    def forward(
        self, x: Tensor, past: tuple[Tensor, Tensor] | None = None, beside: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """``x`` is [batch, positions, width]; ``past`` holds keys and values of earlier positions; ``beside`` [batch,
        width] is one more vector to attend to."""
        batch, positions, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, positions, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        # With a cache the only query is the newest position, which may attend to everything.
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.proj(attended.transpose(1, 2).reshape(batch, positions, width))
        if self.cross is not None and beside is not None:
            x = x + self.cross(beside)[:, None]
        return x + self.down(F.gelu(self.up(self.norm2(x)))), (k, v)


class ActionDecoder(nn.Module):
    """A plan of ``length`` actions from z. Positions: z (unless it is attended to), a start token, then the actions so
    far; one output map per task."""

    def __init__(self, z_width: int, tasks: int, config: DecoderConfig, length: int = PLAN_LENGTH) -> None:
        super().__init__()
        #: Actions of a plan.
        self.length = length
        self.prefix = nn.Linear(z_width, config.width)
        self.tokens = nn.Embedding(ACTIONS + 1, config.width)  # the last one starts a plan
        #: Positions before the start token.
        self.first = 1 if config.z == "prefix" else 0
        self.positions = nn.Parameter(torch.zeros(self.first + length, config.width))
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.outputs = nn.ModuleList(nn.Linear(config.width, ACTIONS) for _ in range(tasks))
        self.depth_vectors = (
            nn.Embedding(length + 1, config.width) if config.depth_conditioning == "embedding" else None
        )
        for table in (self.tokens.weight, self.positions):
            nn.init.normal_(table, std=0.02)
        if self.depth_vectors is not None:
            nn.init.zeros_(self.depth_vectors.weight)

    def shorten(self, length: int) -> None:
        """Make plans shorter; they are the beginnings of the longer ones."""
        if length == self.length:
            return
        self.length, kept = length, self.positions.detach()[: self.first + length]
        self.positions = nn.Parameter(kept.clone())
        if self.depth_vectors is not None:
            vectors = self.depth_vectors.weight.detach()[: length + 1]
            self.depth_vectors = nn.Embedding.from_pretrained(vectors.clone(), freeze=False)

    def forward(
        self, z: Tensor, actions: Tensor | None, task: int, depths: Tensor | None = None, noise: Tensor | None = None
    ) -> Any:
        """Teacher forcing: logits [batch, n + 1, 4] of the action after each prefix of ``actions`` [batch, n]; for z of
        several augmentations [batch, copies, width] those of their mean.

        Without ``actions``: ``plans``. Both go through ``forward``, since weights sharded over ranks are gathered in
        its hooks.
        """
        if actions is None:
            return self._plans(z, task, depths, noise)
        copies = Copies(z)
        started = self.tokens(F.pad(copies.inward(actions), (1, 0), value=ACTIONS))
        x, beside = self._begun(copies.rows(z), copies.repeated(depths), started)
        for block in self.blocks:
            x, _ = block(x, None, beside)
        return copies.mean(self.outputs[task](self.norm(x[:, self.first :])))

    def plans(
        self, z: Tensor, task: int, *, depths: Tensor | None = None, noise: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """A plan per row of z and the logits that it was chosen by: argmax, or Gumbel-max with ``noise``.

        ``noise`` [batch, length, 4] holds uniform numbers in (0, 1); the same numbers give the same plans whatever the
        batch. With several augmentations each action is chosen from their mean distribution.
        """
        return self(z, None, task, depths, noise)

    def _plans(self, z: Tensor, task: int, depths: Tensor | None, noise: Tensor | None) -> tuple[Tensor, Tensor]:
        copies = Copies(z)
        z, depths = copies.rows(z), copies.repeated(depths)
        x, beside = self._begun(z, depths, self.tokens(torch.full((len(z), 1), ACTIONS, device=z.device)))
        caches: list[tuple[Tensor, Tensor] | None] = [None] * len(self.blocks)
        actions, logits = [], []
        for i in range(self.length):
            for k, block in enumerate(self.blocks):
                x, caches[k] = block(x, caches[k], beside)
            now = copies.mean(self.outputs[task](self.norm(x[:, -1])))
            logits.append(now)
            drawn = None if noise is None else now.float() - torch.log(-torch.log(noise[:, i]))
            actions.append(copies.best(now) if drawn is None else drawn.argmax(dim=-1))
            if i + 1 < self.length:
                x = (self.tokens(copies.inward(actions[-1])) + self.positions[self.first + i + 1])[:, None]
        return torch.stack(actions, dim=1), torch.stack(logits, dim=1)

    def _begun(self, z: Tensor, depths: Tensor | None, tokens: Tensor) -> tuple[Tensor, Tensor | None]:
        """The embedded sequence of ``tokens`` [batch, n, width]; for ``cross`` also the vector to attend to."""
        prefix = self.prefix(z)
        if self.depth_vectors is not None:
            if depths is None:
                raise ValueError("depths: expected one per state, since this decoder is conditioned on depth; got None")
            prefix = prefix + self.depth_vectors(depths)
        if self.first == 0:
            return tokens + self.positions[: tokens.shape[1]], prefix
        x = torch.cat([prefix[:, None], tokens], dim=1)
        return x + self.positions[: x.shape[1]], None
