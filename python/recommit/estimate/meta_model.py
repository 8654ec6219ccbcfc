"""A policy on torch's meta device: real shapes without data. The actual training and playing code runs on it and is
counted: FLOPs by torch's formulas, and peak bytes of tensors.

As a language model's layers are identical, only a few are made; passes are counted with all of them and with one fewer,
and the difference is added for each missing layer.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import astuple, replace
from functools import cache, cached_property, partial, reduce
from itertools import product
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from recommit.data.labels import label
from recommit.policy.backbones import transformer
from recommit.policy.backbones.backbone import GIVEN, family, family_of, given_class, given_place
from recommit.policy.backbones.conv import ConvBackbone, ConvNet, ConvShape
from recommit.policy.backbones.random_init import FROM_NOTHING, config, make_tokenizer, resized
from recommit.policy.depth_head import head_inputs
from recommit.policy.flop_counter import Cost, Watch, cost
from recommit.policy.policy import CommitPolicy
from recommit.policy.prompt import IMAGE, load_prompt
from recommit.policy.reference import REFERENCE, ReferencePolicy
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.train.config import SftConfig, TargetConfig
from recommit.train.grpo import loss
from recommit.train.grpo.batch import GrpoBatch
from recommit.train.grpo.trainer import freeze
from recommit.train.sft import targets
from recommit.train.sft.loss import sft_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor, nn

    from recommit.estimate.schedule import Passes, Stage
    from recommit.policy.prompt import Markers
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig

    Work = Callable[[], Any]

#: Hub name -> preset of ``policy.backbones.random_init`` with the same shapes, so that nothing is downloaded.
PUBLISHED = {
    "Qwen/Qwen2.5-VL-3B-Instruct": "random:3b",
    "Qwen/Qwen2.5-VL-7B-Instruct": "random:7b",
    "Qwen/Qwen3-VL-8B-Instruct": "random:qwen3-vl-8b",
}
#: Number of layers to make, beside those that get inner vision features; the last layer differs from the others, see
#: ``policy.backbones.transformer``.
FEW = 3
#: Prompt -> tokens before and behind the picture, without its two markers. Counted with Qwen's published vocabulary
#: (151,643 byte pairs), shared by all; prompt files never change. A user's own prompt counts a token per 4 characters.
LENGTHS = {
    "bare-v1": (0, 0),
    "sliding-v1": (3, 48),
    "sokoban-v1": (3, 47),
    "ice-v1": (3, 51),
    "sliding-v2": (58, 5),
    "sokoban-v2": (57, 5),
    "ice-v2": (61, 5),
}


class PublishedTokenizer:
    """A stand-in that yields as many tokens as the published tokenizer for a task prompt with a picture."""

    def __init__(self, markers: Markers, pad: int) -> None:
        self.markers, self.pad = markers, pad

    def __call__(self, text: str, **_options: Any) -> dict[str, list[int]]:
        """Token ids: the placeholder for the picture, 0 for all others."""
        pictures = text.count(self.markers.token)
        shown = self.markers.before + self.markers.token * pictures + self.markers.after
        known = {load_prompt(name).text: tokens for name, tokens in LENGTHS.items()}
        about = tuple(-(-len(part) // 4) for part in text.split(shown))  # of a prompt of the user's own
        before, behind = known.get(text.replace(shown, IMAGE), about)
        return {"input_ids": [0] * (before + 1) + [self.pad] * pictures + [0] * (behind + 1)}


def _policy(model: ModelConfig) -> tuple[CommitPolicy, int]:
    """The initial policy of a run on the meta device, and the number of missing language-model layers."""
    from transformers import AutoModel

    if model.backbone == GIVEN:
        if not Path(place := given_place()).is_dir():
            raise ValueError(f"backbone: expected a local folder, whose shapes are counted, got {place or 'none'}")
        adapted = family_of(Path(place), given_class())
        if not hasattr(adapted, "read_config"):
            raise ValueError(f"backbone: expected a model of transformers, whose layers are counted, got {place}")
        about, tokenizer = adapted.read_config(place), adapted.read_tokenizer(place)
    else:
        preset = PUBLISHED.get(model.backbone, model.backbone)
        shape = resized(preset.removeprefix("random:"), model.shape)
        if isinstance(shape, ConvShape):
            with torch.device("meta"):
                return CommitPolicy(ConvBackbone(ConvNet(shape), shape), model.policy, source=model.backbone), 0
        adapted, tokenizer = family(shape.family), make_tokenizer()
        about = config(shape, tokenizer)
        if not model.backbone.startswith(FROM_NOTHING):
            tokenizer = PublishedTokenizer(adapted.markers, about.image_token_id)
    vision = getattr(about, "vision_config", None)
    text, taps = about.get_text_config(), getattr(vision, "deepstack_visual_indexes", ())
    missing = max(text.num_hidden_layers - FEW - len(taps), 0)
    text.num_hidden_layers -= missing
    if getattr(text, "layer_types", None):
        text.layer_types = text.layer_types[: text.num_hidden_layers]
    with torch.device("meta"):
        backbone = adapted(
            AutoModel.from_config(about, attn_implementation="sdpa").to(getattr(torch, model.dtype)), tokenizer
        )
        return CommitPolicy(backbone, model.policy, source=model.backbone), missing


@cache
def _state(task: Puzzle) -> NDArray[np.uint8]:
    return task.generate(1, seed=0).states


def _seen(parts: Sequence[tuple[Puzzle, Any]]) -> list[tuple[Puzzle, Any, Any]]:
    return [(task, batch.states, batch.remaining) for task, batch in parts]


class Shadow:
    """The policy of a stage on the meta device, and the cost of its passes."""

    def __init__(
        self, stage: Stage, model: ModelConfig, task: Puzzle, *, puzzles: Sequence[Puzzle] = (), gpu: bool = False
    ) -> None:
        self.stage, self.task, self.puzzles, self.gpu = stage, task, puzzles or [task], gpu
        self.policy, self.missing = _policy(model)
        self.variant = variant(getattr(stage, "variant", "adaptive"))
        self.reference: ReferencePolicy | None = None
        self._costs: dict[Passes, Cost] = {}
        if isinstance(stage, SftConfig):
            self.policy.train_only(*self.puzzles, depth_head=False)
            self.policy.train()
        else:
            with torch.device("meta"):
                if stage.head is not None or stage.depths:
                    self.policy.replace_head(stage.head or self.policy.config.head, depths=stage.depths)
                freeze(self.policy, self.variant, [*self.puzzles])
                self.reference = ReferencePolicy(self.policy) if stage.objective.kl > 0 else None
        self.policy.backbone.recompute = stage.engine.checkpointing
        self.policy.backbone.compiled = stage.engine.compile

    @property
    def modules(self) -> list[nn.Module]:
        """The policy, and the reference's own modules."""
        return [self.policy, *(self.reference.own if self.reference else ())]

    @property
    def _languages(self) -> list[Any]:
        """Language models with missing layers."""
        backbones: list[Any] = [policy.backbone for policy in self.policies] if self.missing else []
        return [each.language_model for each in backbones]

    def whole(self, tensors: Iterable[Any]) -> list[Any]:
        """The tensors, with those of the last layer repeated for the missing layers."""
        last = {id(p) for each in self._languages for p in each.layers[-1].parameters()}
        there = list(tensors)
        return [*there, *(p for p in there if id(p) in last for _ in range(self.missing))]

    @cached_property
    def trained(self) -> list[nn.Parameter]:
        """Trained parameters."""
        return self.whole(p for p in self.policy.parameters() if p.requires_grad)

    @cached_property
    def parts(self) -> dict[str, list[nn.Parameter]]:
        """Parameters by part: language model, vision encoder, adapters, heads."""
        vision = {id(p) for p in self.policy.backbone.vision_parameters()}
        parts: dict[str, list[nn.Parameter]] = {"language": [], "vision": [], "lora": [], "reference": []}
        for name, parameter in self.policy.backbone.model.named_parameters():
            adapter = "reference" if f".{REFERENCE}." in name else "lora" if ".lora_" in name else ""
            parts[adapter or ("vision" if id(parameter) in vision else "language")] += self.whole([parameter])
        parts["decoder"] = list(self.policy.decoder.parameters())
        parts["depth head"] = list(self.policy.depth_head.parameters())
        return parts

    @cached_property
    def tokens(self) -> tuple[int, int]:
        """Tokens of an observation: (visual, text)."""
        rows, cols = self.policy.vision.grid(self.task, self.task.shape)
        return rows * cols, self.policy.tokens(self.task, self.task.shape) - rows * cols

    def features(self, states: int) -> int:
        """Bytes of cached features for a number of states; a separate reference policy has its own cache."""
        if not self._remembers:
            return 0
        with self._kernels():
            one = self.policy.vision.features(self.task, self._states(1), frozen=True)
        return states * one.numel() * one.element_size() * self._copies

    @property
    def policies(self) -> list[CommitPolicy]:
        """The policy, and the reference if it is a separate policy."""
        return [module for module in self.modules if isinstance(module, CommitPolicy)]

    @property
    def _remembers(self) -> bool:
        return self.policy.vision_frozen and not self.policy.vision.cell_local

    @property
    def _copies(self) -> int:
        return self.policy.vision.augmentations(self.task, self.task.shape)

    @cached_property
    def _watch(self) -> Watch:
        """The counter, initialised with all tensors allocated before a pass."""
        return Watch(t for module in self.modules for t in (*module.parameters(), *module.buffers()))

    def _states(self, many: int, task: Puzzle | None = None) -> NDArray[np.uint8]:
        """A batch of one repeated state."""
        return np.repeat(_state(task or self.task), many, axis=0)

    def _of_pass(self, passes: Passes) -> list[tuple[Puzzle, int]]:
        """Puzzles of a training pass, and states of each."""
        return [(self.task, passes.states), *((self.puzzles[number], many) for number, many in passes.beside)]

    def flops(self, passes: Passes) -> int:
        """FLOPs of all passes. For training, a smaller last pass is counted exactly, since the shared prompt prefix
        matters with few states; otherwise it counts in proportion to its states."""
        full, rest = divmod(passes.observations, passes.states)
        if rest and passes.kind in ("learn", "old", "reference"):
            last = replace(passes, observations=rest, states=rest)
            return full * self.cost(passes).flops + self.cost(last).flops
        return round(self.cost(passes).flops * passes.observations / passes.states)

    def kernels(self, passes: Passes, *, first: bool = True) -> tuple[int, int]:
        """Kernels, and launches with compiled regions, of all passes; a smaller last pass has as many. Pictures are
        encoded in batches of fixed size. Except in the ``first`` pass of an optimizer step, gradients are
        accumulated."""
        many, states, together = -(-passes.observations // passes.states), passes.states, self.policy.vision.together
        if passes.kind == "encode":
            many, states = many * -(-states // together), together
        added = passes.kind == "learn" and bool(self.stage.optim.micro_batch or not first)
        cost = self.cost(replace(passes, observations=states * (1 + added), states=states))
        return many * cost.kernels, many * cost.launches

    def row(self, passes: Passes) -> int:
        """Tokens of the language model in one pass."""
        start = self.policy.prompts_cache.of(self.task, self.task.shape, 1).image_start
        every = self._of_pass(passes)
        whole = max(self.policy.tokens(task, task.shape) for task, _ in every)
        shared = start if start >= transformer.SHARED else 0
        return shared + sum(many for _, many in every) * (whole - shared)

    def cost(self, passes: Passes) -> Cost:
        """Cost of one pass: FLOPs, kernels, and peak bytes beyond those before it. If a training pass is one of several
        in a step, the gradients of the others are already allocated."""
        several = passes.kind == "learn" and passes.observations > passes.states
        alike = replace(passes, observations=passes.states * (1 + several), puzzle=0)
        if alike not in self._costs:
            with self._kernels():
                own = self._counted(alike)
                if self.missing:
                    with self._shallower():
                        less = self._counted(alike)
                    whole = Cost(
                        *(a + self.missing * (a - b) for a, b in zip(astuple(own), astuple(less), strict=True))
                    )
                    # Without gradients, layers reuse each other's memory.
                    own = whole if passes.kind == "learn" else replace(whole, peak=own.peak)
            self._costs[alike] = own
        return self._costs[alike]

    @contextmanager
    def _shallower(self) -> Iterator[None]:
        """Within this context, drop the last layer."""
        stacks = [each.layers for each in self._languages]
        for each in self._languages:
            each.layers = each.layers[:-1]
        try:
            yield
        finally:
            for each, layers in zip(self._languages, stacks, strict=True):
                each.layers = layers

    def _counted(self, passes: Passes) -> Cost:
        if passes.kind == "encode" and not self._remembers:
            return Cost(0, 0, 0, 0)
        if self._remembers:  # fill the cache, so that other passes exclude the encoder
            for policy, (task, _), copy in product(self.policies, self._of_pass(passes), range(self._copies)):
                policy.vision.features(task, _state(task), frozen=True, copy=copy)
        work: Work = getattr(self, f"_{passes.kind}")(passes)
        with torch.no_grad():
            work()  # warm up caches (prompts, features of augmented pictures), which are counted separately
            if passes.kind not in ("learn", "head"):
                return cost(work, self._watch)
        before, learns = self._watch.now, [p for p in self.policy.parameters() if p.requires_grad]
        try:
            if passes.observations > passes.states:
                with self._watch:
                    for parameter in learns:
                        parameter.grad = torch.zeros_like(parameter)
            gradients = self._watch.now - before
            own = cost(lambda: work().backward(), self._watch)
        finally:
            self.policy.zero_grad(set_to_none=True)
        return replace(own, peak=gradients + own.peak)

    def _learn(self, passes: Passes) -> Work:
        stage = self.stage
        if isinstance(stage, SftConfig):
            return lambda: self._imitated(passes, stage.targets)
        parts = self._parts(passes)
        with torch.no_grad():
            against = self._reference(passes)() if self.reference else [None] * len(parts)

        judge = partial(loss.grpo_loss, self.policy, config=stage.objective, divisor=1.0, fresh=True)

        def work() -> Any:
            with self.policy.encoded(_seen(parts)):
                return reduce(add, [judge(*p, reference=r)[0] for p, r in zip(parts, against, strict=True)])

        return work

    def _parts(self, passes: Passes) -> list[tuple[Puzzle, GrpoBatch]]:
        """The micro-batches of a pass, by puzzle."""
        return [(task, self._decisions(many, task)) for task, many in self._of_pass(passes)]

    def _imitated(self, passes: Passes, config: TargetConfig) -> Any:
        parts, length = [], self.policy.config.plan_length
        for task, many in self._of_pass(passes):
            rows = label(task, self._states(many, task))
            parts.append((task, targets.make(task, rows, config, seed=0, first=0, length=length)))
        with self.policy.encoded(_seen(parts)):
            return reduce(add, [sft_loss(self.policy, *part, config, 1.0)[0] for part in parts])

    def _imitate(self, passes: Passes) -> Work:
        return lambda: self._imitated(passes, TargetConfig(depths=self.policy.config.depths))

    def _decisions(self, many: int, task: Puzzle) -> GrpoBatch:
        """A GRPO batch of zeros with the real shapes."""
        advantage, depths = self.stage.advantage, len(self.policy.config.depths)  # type: ignore[union-attr]
        exact = advantage.estimator == "exact"
        plans = 1 if advantage.estimator == "episode" else advantage.group_size
        judged = plans if not exact else 1 if self.variant.depth else depths
        if exact and self.policy.config.decoder.depth_conditioning != "none":
            plans *= judged  # separate plans per depth
        length, whole = self.policy.config.plan_length, np.zeros((many, judged), np.float32)
        part = np.zeros((many, plans, length), np.float32)
        columns, actions = whole.astype(np.int64), part.astype(np.int64)
        weight, remaining = np.ones(many, np.float32), np.ones(many, np.int64)
        deepest = np.full((many, plans), self.policy.config.depths[-1], np.int64)
        return GrpoBatch(
            self._states(many, task),
            columns,
            whole,
            whole,
            whole,
            actions,
            deepest,
            part,
            part,
            part,
            remaining,
            weight,
        )

    def _reference(self, passes: Passes) -> Work:
        reference, parts = self.reference, self._parts(passes)
        assert reference is not None
        played = [(torch.from_numpy(batch.actions), torch.from_numpy(batch.plan_depth)) for _, batch in parts]

        def work() -> Any:
            with reference.encoded(_seen(parts)):
                pairs = zip(parts, played, strict=True)
                return [reference(task, batch.states, *given, batch.remaining) for (task, batch), given in pairs]

        return work

    def _old(self, passes: Passes) -> Work:
        parts = self._parts(passes)

        def work() -> Any:
            with self.policy.encoded(_seen(parts)):
                return [loss.old_log_probs(self.policy, *part) for part in parts]

        return work

    def _plan(self, passes: Passes) -> Work:
        policy, task = self.policy, self.task
        states, remaining = self._states(passes.states), np.ones(passes.states, np.int64)

        def work() -> Any:
            z = policy.encode(task, states, remaining)
            plans, scores = policy.decoder.plans(z, policy.task_index(task))
            return plans, policy.depth_head(head_inputs(policy, task, states, z, scores, remaining))

        return work

    def _sample(self, passes: Passes) -> Work:
        """Sample plans, with depths from the head or fixed."""
        shape = passes.states, passes.plans
        actor = Actor(self.policy, self.task, self.variant, seed=0)
        own = self.policy.config
        uniform = torch.empty((*shape, len(own.depths) + 4 * own.plan_length), device="meta")
        forced = None if self.variant.head else np.full(shape, max(self.variant.depth, 1))
        return partial(actor._pass, self._states(passes.states), uniform, forced, np.ones(passes.states, np.int64))

    def _encode(self, passes: Passes) -> Work:
        encode, states = self.policy.vision._encode, self._states(passes.states)
        return lambda: [encode(self.task, states, copy) for copy in range(self._copies)]

    def _head(self, passes: Passes) -> Work:
        head = self.policy.depth_head
        inputs = torch.empty(passes.states, head.inputs, dtype=head.weight.dtype, device="meta")
        return lambda: head(inputs).sum()

    @contextmanager
    def _kernels(self) -> Iterator[None]:
        """Within this context, meta tensors use fused attention that stores no scores, as on real devices, and on GPUs
        fused RMS normalisation; torch would choose unfused kernels that store all intermediates. Compilable regions are
        marked."""
        attend, norm, region = F.scaled_dot_product_attention, F.rms_norm, transformer.region

        def chosen(query: Tensor, *rest: Any, **named: Any) -> Any:
            return (_attend if query.is_meta else attend)(query, *rest, **named)

        normed: Any = lambda x, _shape, weight, _eps: _Norm.apply(x, weight)
        F.scaled_dot_product_attention, F.rms_norm = chosen, normed if self.gpu else norm
        if self.policy.config.lora is not None:
            transformer.region = self._piece  # type: ignore[assignment]
        try:
            yield
        finally:
            F.scaled_dot_product_attention, F.rms_norm = attend, norm
            transformer.region = region

    def _piece(self, function: Callable[..., Tensor], _backend: str) -> Callable[..., Tensor]:
        """Replaces ``transformer.region`` and marks the region; its backward pass begins with the gradient of the
        result, and ends with that of the joined adapters."""

        begin, end = (partial(self._watch.piece, begins=begins) for begins in (True, False))

        def whole(*given: Any) -> Tensor:
            begin()
            result = function(*given)
            end()
            if result.requires_grad:
                result.register_hook(begin)
                next(iter(given[1].adapters._factors.values()))[0].grad_fn.register_prehook(end)
            return result

        return whole


class _Norm(torch.autograd.Function):
    """Fused RMS normalisation: one kernel forward and one backward, storing only the input."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None]:
        _, weight = ctx.saved_tensors  # once: checkpointing unpacks saved tensors a single time
        return grads[0] * weight, torch.empty_like(weight)


def _attend(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, **named: Any
) -> Tensor:
    mask = None if attn_mask is None else torch.empty_like(attn_mask, dtype=query.dtype)
    causal, scale = (
        named.get("is_causal", False),
        named.get("scale"),
    )  # grouped keys are inferred from the shapes
    attention = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    result: Tensor = attention(query, key, value, dropout_p, causal, attn_mask=mask, scale=scale)[0]
    return result
