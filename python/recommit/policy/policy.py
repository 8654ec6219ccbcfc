"""The policy: from an observation to a depth and a plan, one commitment.

A state is drawn and encoded (``vision.py``). The backbone reads the picture and a fixed prompt once; its last hidden
state is z. From z the depth head (``depth_head.py``) gives the number of actions to commit to, and the action decoder
(``action_decoder.py``) the actions. ``encode`` makes z; ``act`` plays, ``plan`` plans for several depths at once, and
calling the policy is teacher forcing. ``checkpoint.py`` saves all of it but the frozen backbone.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from recommit import checks
from recommit.policy.action_decoder import ActionDecoder
from recommit.policy.backbones.backbone import find_backbone, given_backbone, given_class, load_backbone
from recommit.policy.backbones.conv import ConvBackbone
from recommit.policy.checkpoint import load_policy, save_policy
from recommit.policy.config import PASS, PolicyConfig
from recommit.policy.depth_head import DepthHead, head_inputs
from recommit.policy.lora import add_lora
from recommit.policy.tensors import to_device, to_host
from recommit.policy.threads import threads
from recommit.policy.vision import PromptCache, Vision
from recommit.policy.world_model import WorldModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.checks import Grids
    from recommit.policy.backbones.backbone import Backbone, PromptInputs
    from recommit.policy.backbones.transformer import TransformersBackbone
    from recommit.policy.config import HeadConfig
    from recommit.prices import Prices
    from recommit.puzzles.puzzle import Puzzle

    Noise = tuple[NDArray[np.float32], NDArray[np.float32]]


class ActedDepths(NamedTuple):
    """The result of ``act``."""

    depths: NDArray[np.int32]  #: [N] actions of the plan that are committed
    plans: NDArray[np.uint8]  #: [N, plan length]


class PlannedDepths(NamedTuple):
    """The result of ``plan``."""

    inputs: NDArray[np.float32]  #: [N, inputs] of the depth head
    logits: NDArray[np.float32]  #: [N, |H|] of the policy's own depths
    plans: NDArray[np.uint8]  #: [N, D, 8] greedy actions for each depth
    #: [N, 1, 8, 4] where a plan is the same whatever its depth (``plans_first``), else [N, D, 8, 4].
    probs: NDArray[np.float32]


class CommitPolicy(nn.Module):
    """A backbone with a depth head and an action decoder beside it (never inside a PEFT wrapper)."""

    def __init__(self, backbone: Backbone, config: PolicyConfig, *, source: str = "", revision: str = "") -> None:
        super().__init__()
        self.config = config
        #: Where the backbone's weights came from: a folder, or a hub name and its commit.
        self.source, self.revision = source, revision
        self.backbone = backbone
        self.depth_head = DepthHead(backbone.width, len(config.depths), config.head, config.plan_length)
        self.decoder = ActionDecoder(backbone.width, len(config.tasks), config.decoder, config.plan_length)
        self.world_model = None if config.world_model is None else WorldModel(config.world_model).requires_grad_(False)
        self.vision = Vision(backbone, config)
        self.prompts_cache = PromptCache(backbone, self.vision, config)
        #: z of states that were encoded in a pass over several sizes, by the ``id`` of their array.
        self._known: dict[int, Tensor] = {}
        #: Cached fingerprint of frozen weights: see ``recommit.policy.checkpoint``.
        self.known_fingerprint = ""
        if config.lora is not None:
            add_lora(backbone, config.lora)

    @classmethod
    def from_backbone(
        cls,
        name_or_path: str | Path,
        config: PolicyConfig | None = None,
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
        revision: str = "",
        backbone_class: Any = None,
        **options: Any,
    ) -> CommitPolicy:
        """New heads (seeded) on a backbone from a local folder or the hub, read straight onto ``device``. ``revision``
        is a commit, tag or branch of its repository (default: the newest); ``backbone_class`` loads a backbone of no
        family of the package."""
        with given_backbone(None, backbone_class), torch.random.fork_rng(devices=[]):
            folder, commit = find_backbone(name_or_path, revision)
            torch.default_generator.manual_seed(seed)
            backbone = load_backbone(folder, device=device, backbone_class=given_class(), **options)
            return cls(backbone, config or PolicyConfig(), source=str(name_or_path), revision=commit).to(device)

    def replace_head(self, config: HeadConfig, *, seed: int = 0, depths: tuple[int, ...] = ()) -> None:
        """Replace the depth head, with new ``depths`` if given, none deeper than the plan length; plans are shortened
        to the deepest of them where possible."""
        depths, most = depths or self.config.depths, self.config.plan_length
        if depths[-1] > most:
            raise ValueError(
                f"depths: expected numbers 1..{most}, since the policy's plans have {most} actions, got {depths}; "
                f'recommit train sft --set "model.policy.depths={list(depths)}" makes one with longer plans'
            )
        self._configure(head=config, depths=depths)
        self.decoder.shorten(length := self.config.plan_length)
        old = self.depth_head.weight
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            self.depth_head = DepthHead(self.backbone.width, len(depths), config, length).to(old)

    def replace_augmentations(self, augmentations: int, distance: int = 0) -> None:
        """Set the number of symmetry augmentations to average over, and that of the world model to ``distance`` (0:
        unchanged)."""
        self._configure(augmentations=augmentations)
        if distance and self.world_model is not None:
            self.world_model.config = replace(self.world_model.config, augmentations=distance)
            self._configure(world_model=self.world_model.config)

    def replace_rounds(self, rounds: int) -> None:
        """Set the number of rounds of a recurrent conv backbone."""
        if not isinstance(self.backbone, ConvBackbone) or self.backbone.shape.rounds == 1:
            raise ValueError(f"rounds: expected none for a network that does not think in rounds, got {rounds}")
        self.backbone.rounds = rounds

    def replace_prices(self, prices: Prices) -> None:
        """Set the prices that a conditioned depth head reads."""
        self._configure(prices=prices)

    def note_trained(self, *puzzles: str) -> None:
        """Add puzzles, with their sizes, to ``trained``."""
        self._configure(trained=tuple(sorted({*self.config.trained, *puzzles})))

    def _configure(self, **changes: Any) -> None:
        self.config = self.vision.config = replace(self.config, **changes)

    @classmethod
    def from_pretrained(cls, folder_or_repo: str | Path, *, anyway: bool = False, **options: Any) -> CommitPolicy:
        """Load a saved policy from a folder, a hub repository, or by the name of one that comes with the package
        (``recommit policies``). For the format and ``options`` see ``recommit.policy.checkpoint``. The policy refuses
        puzzles and sizes outside its training data, unless ``anyway``."""

        def make(backbone: Backbone, config: PolicyConfig, source: str, revision: str) -> CommitPolicy:
            config = replace(config, trained=()) if anyway else config
            return cls(backbone, config, source=source, revision=revision)

        with torch.random.fork_rng(devices=[]):  # modules draw random weights before loading
            return load_policy(make, folder_or_repo, **options).to(options.get("device", "cpu"))

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write the policy; the result is complete but for the frozen backbone of an adapter."""
        return save_policy(self, folder)

    @property
    def vision_frozen(self) -> bool:
        """True unless the picture encoder is trained."""
        return not any(parameter.requires_grad for parameter in self.backbone.vision_parameters())

    def train_only(self, *tasks: Puzzle, depth_head: bool) -> None:
        """Freeze the output layers of other tasks, and the depth head unless ``depth_head``: some optimisers decay
        weights without a gradient."""
        self.depth_head.requires_grad_(depth_head)
        trained = {self.task_index(task) for task in tasks}
        for index, output in enumerate(self.decoder.outputs):
            output.requires_grad_(index in trained)

    def task_index(self, task: Puzzle) -> int:
        return self.config.task_index(task.task)

    def tokens(self, task: Puzzle, shape: tuple[int, int]) -> int:
        """Tokens that the language model reads for a state of ``shape``."""
        return len(self.prompts_cache.of(task, shape, 1).tokens)

    def encode(self, task: Puzzle, states: NDArray[np.uint8], remaining: NDArray[np.integer] | None = None) -> Tensor:
        """z of each state, [N, width]; with ``augmentations`` of each copy of the picture, [N, copies, width].
        ``remaining`` are the decisions left, this one included; required if the prompt shows them (``show_budget``)."""
        if (known := self._known.get(id(states))) is not None:
            return known
        shape = states.shape[1], states.shape[2]
        self.config.refuse_untrained(task.task, shape)
        geometry, copies = self.prompts_cache.of_each(task, shape, remaining), self.vision.augmentations(task, shape)
        every = [self._z(task, states, geometry, copy) for copy in range(copies)]
        return every[0] if copies == 1 else torch.stack(every, dim=1)

    def together(self, tasks: Sequence[Puzzle]) -> list[list[int]]:
        """Group the indices of tasks that can share a pass: sizes of one puzzle, behind a shared prompt text."""
        found, shares = dict[Any, list[int]](), getattr(self.backbone, "shares", None)
        for number, task in enumerate(tasks):
            one = self.config.augmentations == 1 and shares and shares(self.prompts_cache.of(task, task.shape, 1))
            found.setdefault(task.task if one else number, []).append(number)
        return list(found.values())

    @contextmanager
    def encoded(self, parts: Sequence[tuple[Puzzle, NDArray[np.uint8], NDArray[np.integer]]]) -> Iterator[None]:
        """Within this context ``encode`` returns z of these states, with their remaining decisions, from one joint
        pass, if there are several parts (a group of ``together``)."""
        if parts[1:]:
            inputs = []
            for task, states, remaining in parts:
                shape = states.shape[1], states.shape[2]
                features = self.vision.features(task, states, frozen=self.vision_frozen)
                inputs.append((features, self.prompts_cache.of_each(task, shape, remaining)))
            every = cast("TransformersBackbone", self.backbone).z_of(inputs)
            dtype = self.depth_head.weight.dtype
            self._known = {id(states): z.to(dtype) for (_, states, _), z in zip(parts, every, strict=True)}
        try:
            yield
        finally:
            self._known = {}

    def _z(self, task: Puzzle, states: NDArray[np.uint8], geometry: PromptInputs, copy: int) -> Tensor:
        features = self.vision.features(task, states, frozen=self.vision_frozen, copy=copy)
        return self.backbone.z(features, geometry).to(self.depth_head.weight.dtype)

    def encode_at(self, task: Puzzle, states: NDArray[np.uint8], cells: NDArray[np.int64]) -> Tensor:
        """z of each state, followed by z read as if the player stood on other ``cells`` [N, D] (row * columns +
        column): [N + N * D, width], from one pass of a conv backbone."""
        if not isinstance(self.backbone, ConvBackbone):
            got = type(self.backbone).__name__
            raise ValueError(f"targets.dense: expected 0, or a backbone that reads cells (conv:small), got {got}")  # noqa: TRY004
        shape = states.shape[1], states.shape[2]
        features = self.vision.features(task, states, frozen=self.vision_frozen)
        ring = int(self.vision.crops(task))
        places = (cells // shape[1] - ring) * (shape[1] - 2 * ring) + cells % shape[1] - ring
        z = self.backbone.z_at(features, self.prompts_cache.of(task, shape, 1), to_device(places, features.device))
        return z.to(self.depth_head.weight.dtype)

    def forward(
        self,
        task: Puzzle,
        states: NDArray[np.uint8],
        actions: Tensor,
        depths: Tensor | None = None,
        heads: tuple[nn.Module, nn.Module] | None = None,
        remaining: NDArray[np.integer] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Teacher forcing: logits of the depths [N, |H|], and of each action [N, 8, 4] of one plan per state [N, 8], or
        [N, G, 8, 4] of several [N, G, 8] (8: the length of plans). ``depths`` [N] or [N, G] condition the decoder.
        ``heads`` replace the policy's own; ``remaining``: see ``encode``."""
        z, index = self.encode(task, states, remaining), self.task_index(task)
        depth_head, decoder = heads or (self.depth_head, self.decoder)
        previous = actions.to(z.device, non_blocking=True)[..., :-1]
        logits = depth_head(head_inputs(self, task, states, z, None, remaining, decoder))
        conditions = None if depths is None else self.conditioning(depths.to(z.device, non_blocking=True).flatten())
        if actions.ndim == 2:
            return logits, decoder(z, previous, index, conditions)
        plans = decoder(z.repeat_interleave(previous.shape[1], dim=0), previous.flatten(0, 1), index, conditions)
        return logits, plans.unflatten(0, previous.shape[:2])

    def act(
        self,
        task: Puzzle,
        states: Grids,
        *,
        depth: int | None = None,
        noise: Noise | None = None,
        remaining: NDArray[np.integer] | None = None,
    ) -> ActedDepths:
        """Depths [N] and plans [N, 8] of the states; only the first ``depths[i]`` actions are committed.

        Greedy, ties to the smaller depth and the lower action, or sampled with ``noise``: uniform numbers in (0, 1),
        [N, |H|] and [N, 8, 4]. ``depth`` fixes the depth, in or out of the head's set. ``remaining``: see ``encode``.
        A single state gets a single depth and plan.
        """
        if depth is not None and not 1 <= depth <= self.config.plan_length:
            raise ValueError(f"depth: expected 1..{self.config.plan_length}, got {depth}")
        batch, one = checks.grids(states)
        parts = [slice(begin, begin + PASS) for begin in range(0, max(len(batch), 1), PASS)]
        with threads(self):
            answers = [
                self._act(
                    task,
                    batch[p],
                    depth,
                    noise and (noise[0][p], noise[1][p]),
                    None if remaining is None else remaining[p],
                )
                for p in parts
            ]
        joined = answers[0] if len(answers) == 1 else ActedDepths(*map(np.concatenate, zip(*answers, strict=True)))
        return single(joined, one)

    @torch.no_grad()
    def _act(
        self,
        task: Puzzle,
        states: NDArray[np.uint8],
        depth: int | None,
        noise: Noise | None,
        remaining: NDArray[np.integer] | None,
    ) -> ActedDepths:
        z, index = self.encode(task, states, remaining), self.task_index(task)
        greedy = self.decoder.plans(z, index) if noise is None and self.plans_first else None
        if depth is None:
            logits = self.depth_head(head_inputs(self, task, states, z, greedy and greedy[1], remaining))
            if noise is not None:
                logits = logits - torch.log(-torch.log(to_device(noise[0], z.device).to(logits)))
            chosen = to_device(np.array(self.config.depths), z.device)[logits.argmax(dim=-1)]
        else:
            chosen = torch.full((len(z),), depth, device=z.device)
        actions, _ = greedy or self.decoder.plans(
            z,
            index,
            depths=self.conditioning(chosen),
            noise=None if noise is None else to_device(noise[1], z.device).to(z),
        )
        return ActedDepths(*to_host(chosen.int(), actions.byte()))

    def plan(
        self, task: Puzzle, states: Grids, depths: tuple[int, ...], remaining: NDArray[np.integer] | None = None
    ) -> PlannedDepths:
        """A greedy plan for each of ``depths`` with all action probabilities, and the depth head's inputs and logits;
        ``remaining``: see ``encode``."""
        batch, one = checks.grids(states)
        with threads(self):
            return single(self._plan(task, batch, depths, remaining), one)

    @torch.no_grad()
    def _plan(
        self, task: Puzzle, batch: NDArray[np.uint8], depths: tuple[int, ...], remaining: NDArray[np.integer] | None
    ) -> PlannedDepths:
        z, index = self.encode(task, batch, remaining), self.task_index(task)
        if self.plans_first:
            plan, scores = self.decoder.plans(z, index)
            inputs = head_inputs(self, task, batch, z, scores, remaining)
            actions, scores = plan[:, None].expand(-1, len(depths), -1), scores[:, None]
        else:
            conditions = (self.conditioning(torch.full((len(z),), depth, device=z.device)) for depth in depths)
            planned = [self.decoder.plans(z, index, depths=each) for each in conditions]
            inputs = head_inputs(self, task, batch, z)
            actions, scores = (torch.stack(parts, dim=1) for parts in zip(*planned, strict=True))
        logits = self.depth_head(inputs).float()
        arrays = to_host(inputs.float(), logits, actions.byte(), scores.float().softmax(-1))
        return PlannedDepths(*arrays)

    @property
    def plans_first(self) -> bool:
        """True if plans do not depend on the depth, so that the plan can be decoded before the depth is chosen."""
        return self.config.decoder.depth_conditioning == "none"

    def conditioning(self, depths: Tensor) -> Tensor | None:
        """The depth that the decoder is conditioned on: None by default, else the policy's next depth not below it."""
        if self.config.decoder.depth_conditioning == "none":
            return None
        grid = to_device(np.array(self.config.depths), depths.device)
        return grid[torch.searchsorted(grid, depths).clamp(max=len(grid) - 1)]


Answer = TypeVar("Answer", ActedDepths, PlannedDepths)


def single(answer: Answer, one: bool) -> Answer:
    """The first row of each array for a single state."""
    rows: Any = (array[0, ...] for array in answer)
    return type(answer)(*rows) if one else answer
