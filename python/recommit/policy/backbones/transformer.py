"""Base class of all transformers backbones: loading, prompt, language model, saving; and image processing for families
whose patches the core does not draw.

Three differences from calling the stock model, with the same result: positions and masks are computed once per picture
size; a long text before the picture, shared by all states, is computed once per pass (``SharedText``); and the last
decoder layer computes only the position that is read.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.bias import causal_lower_right
from torch.utils.checkpoint import checkpoint

from recommit.policy.backbones.backbone import INDEX, PromptInputs, quiet
from recommit.policy.lora import Adapters
from recommit.policy.tensors import to_device
from recommit.storage import verified
from recommit.storage.files import Files, replace
from recommit.storage.recipe_text import brief, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from recommit.policy.prompt import Markers, PicturePrompt
    from recommit.puzzles.puzzle import Puzzle


#: Options for ``from_pretrained`` of transformers, and its attention implementation.
READING, ATTENTION = {"local_files_only": True, "trust_remote_code": False}, "sdpa"
#: Configuration entries that are kept although they are not dataclass fields: the model type, and older names.
NAMED_BESIDES = {"model_type", "rope_theta", "rope_scaling", "torch_dtype"}
#: Tokenizer settings that reference files, besides those of its class; rejected on load.
NAMING_FILES = ("fast_tokenizer_files", "vocab", "merges", "gguf_file", "tokenizer_object")
#: Fewest tokens before the picture for which computing them once for all states pays.
SHARED = 8
#: Smallest compiled batch, and most compiled shapes: puzzles, sizes and powers of two, with and without gradients and
#: dropout.
LEAST, SHAPES = 4, 256


class TransformersBackbone(nn.Module):
    """A model of the transformers library with decoder layers like those of Llama and Qwen. A family defines the class
    attributes below, and its pictures: ``token_pixels``, ``pixels``, ``features``, ``vision_modules`` and
    ``processor``. ``model`` may be wrapped by PEFT; the modules are looked up through ``base``."""

    lora_targets = r".*language_model\.layers\.\d+\.(self_attn\.(q|k|v|o)_proj|mlp\.(gate|up|down)_proj)"
    cell_local = False
    token_pixels: int
    #: Name of the family's transformers class without a language-model head.
    model_class: str
    #: Name of its tokenizer class, which a folder cannot choose.
    tokenizer_class = "Qwen2Tokenizer"
    #: Class per sub-configuration, where the family's configuration accepts any.
    config_parts: ClassVar[dict[str, str]] = {}
    #: Text around a picture and its placeholder token.
    markers: Markers

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__()
        self.model = model
        self.tokenizer: Any = tokenizer
        self.config: Any = model.config
        self.width = int(self.config.get_text_config().hidden_size)
        self.recompute, self.compiled = False, "none"

    @classmethod
    def from_pretrained(
        cls,
        path: str | Path,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        **options: Any,
    ) -> Self:
        """Load from a local folder; the language-model head of a checkpoint is dropped.

        Nothing in the folder can make transformers access a network, unpickle, or fetch a compiled kernel.

        Each tensor goes from the mapped file straight to its device, so that there is never a full second copy. On a
        CPU, in the file's own dtype, the weights are the file's pages, which all processes share.
        """
        import transformers

        if device is not None and torch.device(device).type != "cpu":
            options["device_map"] = {"": torch.device(device)}
        kind = getattr(transformers, cls.model_class)
        try:
            _refuse_larger(kind, about := cls.read_config(path), Path(path))
            tokenizer = cls.read_tokenizer(path)
            cell = tokenizer(cls.markers.token, add_special_tokens=False)["input_ids"]
            said = getattr(about, "image_token_id", None)  # absent in text-only models
            if cell != [said] and (said is not None or len(cell) != 1):  # without tokenizer.json the tokenizer is empty
                raise ValueError(
                    f"expected files of a tokenizer that writes {cls.markers.token} as token {said}, as config.json "
                    f"says, got {cell}"
                )
            about.image_token_id = cell[0]
            with quiet():
                model, report = kind.from_pretrained(
                    path,
                    config=about,
                    dtype=dtype or torch.float32,
                    output_loading_info=True,
                    **READING,
                    use_safetensors=True,
                    attn_implementation=ATTENTION,
                    **options,
                )
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # the library raises its own errors and those of its parsers
            words = cut(" ".join(str(error).split()), 300)
            raise ValueError(f"backbone: expected a model that transformers reads in {path}, got: {words}") from error
        if missing := sorted(report["missing_keys"]):
            raise ValueError(f"backbone: expected all tensors of the model in {path}, got none for {missing[:3]}")
        return cls(model, tokenizer)

    @classmethod
    def read_tokenizer(cls, path: str | Path) -> Any:
        """The tokenizer of a local folder, from files with the standard names. Settings that name files are refused:
        transformers would read those anywhere."""
        import transformers

        kind, settings = getattr(transformers, cls.tokenizer_class), Path(path) / "tokenizer_config.json"
        said = verified.values(settings.parent, settings.name) if settings.is_file() else {}
        if named := [name for name in (*NAMING_FILES, *kind.vocab_files_names) if said.get(name) is not None]:
            raise ValueError(f"backbone: expected no {named[0]} in {settings}, got {brief(said[named[0]])}")
        return kind.from_pretrained(path, **READING)

    @classmethod
    def read_config(cls, path: str | Path) -> Any:
        """The configuration in a local folder, restricted to the family's fields. Others are dropped, since some make
        transformers read other files or run other code."""
        import transformers

        kind = getattr(transformers, cls.model_class).config_class
        values = verified.values(Path(path), "config.json")
        parts = {name: getattr(transformers, part) for name, part in cls.config_parts.items()}
        for name, part in {"config.json": kind, **parts}.items():
            said = values if part is kind else values.get(name) or {}
            if (got := said.get("model_type")) != (wanted := part.model_type):
                raise ValueError(f"expected {name} of model type {wanted} for {cls.__name__}, got {brief(got)}")
        about = kind.from_dict(_fields_of(kind, kind.sub_configs | parts, values))
        about._attn_implementation, about._experts_implementation = ATTENTION, None
        return about

    @property
    def base(self) -> Any:
        """The transformers model under any PEFT wrapper."""
        model: Any = self.model
        return model.get_base_model() if hasattr(model, "get_base_model") else model

    @property
    def language_model(self) -> Any:
        """The module with ``embed_tokens``, ``layers``, ``norm`` and ``rotary_emb``."""
        return self.base.language_model

    @property
    def device(self) -> torch.device:
        return next(self.base.parameters()).device

    def grid(self, rows: int, cols: int, cell: int) -> tuple[int, int]:
        """See ``Backbone``: every cell is a square of whole tokens."""
        tokens = (cell or self.token_pixels) // self.token_pixels
        return rows * tokens, cols * tokens

    @abstractmethod
    def pixels(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> Tensor:
        """See ``Backbone``."""

    @abstractmethod
    def features(self, pixels: Tensor, grid: tuple[int, int]) -> Tensor:
        """See ``Backbone``."""

    @abstractmethod
    def vision_modules(self) -> list[nn.Module]:
        """The modules between pixels and features."""

    @abstractmethod
    def processor(self) -> dict[str, Any]:
        """Settings that make the published image processor prepare pictures as this class does."""

    def tokenize_prompt(self, prompt: PicturePrompt, rows: int, cols: int) -> PromptInputs:
        """Token ids by the tokenizer, positions by the family's rule."""
        text = prompt.expand(rows * cols, self.markers, self.chat)
        tokens = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        pad = self.config.image_token_id
        if tokens.count(pad) != rows * cols:
            raise ValueError(f"prompts: expected {rows * cols} image tokens in {prompt.name}, got {tokens.count(pad)}")
        start = tokens.index(pad)
        positions = self.positions(len(tokens), start, rows, cols).to(self.device)
        return PromptInputs(rows, cols, torch.tensor(tokens, device=self.device), positions, start)

    def chat(self, said: str) -> str:  # noqa: ARG002
        """Format a user turn that contains "{image}" by the family's chat template, up to where the answer begins, with
        tokens that begin a text. Empty: keep the prompt file as it is, in Qwen's chat template."""
        return ""

    def positions(self, count: int, start: int, rows: int, cols: int) -> Tensor:  # noqa: ARG002
        """Positions for the rotary embedding, [1, count] or [3, 1, count]; here visual tokens count like text."""
        return torch.arange(count)[None]

    def z(self, features: Tensor, geometry: PromptInputs) -> Tensor:
        """See ``Backbone.z``."""
        return self.z_of([(features, geometry)])[0]

    def shares(self, geometry: PromptInputs) -> bool:
        """True if pictures of several sizes under this prompt can share a pass."""
        return geometry.image_start >= SHARED

    def z_of(self, parts: Sequence[tuple[Tensor, PromptInputs]]) -> list[Tensor]:
        """``z`` of pictures of several sizes behind one text, from one pass. Shorter sequences are padded at the end,
        which earlier tokens do not attend to."""
        language, start = self.language_model, parts[0][1].image_start
        whole = max(geometry.tokens.shape[-1] for _, geometry in parts)
        rows = [self._embedded(features, geometry, whole) for features, geometry in parts]
        x, *deeper = map(torch.cat, zip(*rows, strict=True))
        sizes, positions, ends = [len(features) for features, _ in parts], parts[0][1].positions, None
        if parts[1:]:
            spread = [geometry.positions.expand(*positions.shape[:-2], len(f), -1) for f, geometry in parts]
            positions = torch.cat([F.pad(each, (0, whole - each.shape[-1])) for each in spread], dim=-2)
            own = torch.tensor([geometry.tokens.shape[-1] - start for _, geometry in parts])
            ends = own.repeat_interleave(torch.tensor(sizes)).to(x.device)
        if self.compiled != "none":  # pad to a power of two, so that there are few shapes
            missing = max(LEAST, 1 << (len(x) - 1).bit_length()) - len(x)
            x, *deeper = (F.pad(each, (0, 0, 0, 0, 0, missing)) for each in (x, *deeper))
            if ends is not None:
                positions, ends = F.pad(positions, (0, 0, 0, missing)), F.pad(ends, (0, missing), value=1)
        cos, sin = language.rotary_emb(x, positions)
        adapters = Adapters((group for layer in language.layers for group in of_one_input(layer)), x.dtype)
        sequences = (SharedText if start >= SHARED else Sequences)(start, x, (cos, signed(sin)), adapters, ends)
        recompute = self.recompute and torch.is_grad_enabled()
        run = region(decoded, self.compiled)
        z = run(language, sequences, sequences.pack(x), list(map(sequences.pack, deeper)), recompute)
        return list(z[: sum(sizes)].split(sizes))

    def _embedded(self, features: Tensor, geometry: PromptInputs, whole: int) -> list[Tensor]:
        """Input embeddings of text and pictures, padded to ``whole`` tokens; where features are wider than the language
        model, also the inputs that its first layers add to the visual tokens, one width per layer."""
        embedded = self.language_model.embed_tokens(geometry.tokens).expand(len(features), -1, -1)
        start, end = geometry.image_start, geometry.image_start + features.shape[1]
        seen, *deeper = features.to(embedded.dtype).split(self.width, dim=-1)
        x = torch.cat([embedded[:, :start], seen, embedded[:, end:]], dim=1)
        rows = [x, *(F.pad(each, (0, 0, start, x.shape[1] - end)) for each in deeper)]
        return [F.pad(each, (0, 0, 0, whole - x.shape[1])) for each in rows] if whole > x.shape[1] else rows

    def vision_parameters(self) -> Iterator[nn.Parameter]:
        for module in self.vision_modules():
            yield from module.parameters()

    def frozen_state(self) -> dict[str, Tensor]:
        names = {name.replace(".base_layer", ""): tensor for name, tensor in self.base.state_dict().items()}
        return {name: tensor for name, tensor in names.items() if ".lora_" not in name}

    def save(self, folder: Path) -> None:
        with quiet():
            self.base.save_pretrained(folder)
        self.save_processor(folder)

    def save_processor(self, folder: Path) -> None:
        self.tokenizer.save_pretrained(folder)
        text = json.dumps(self.processor(), indent=2) + "\n"
        replace(Files(), folder / "preprocessor_config.json", text.encode())


@lru_cache
def region(function: Callable[..., Tensor], backend: str) -> Callable[..., Tensor]:
    """The function, or for a ``backend`` other than ``none`` compiled as one graph per shape. CUDA graphs reuse their
    output memory, so results are cloned."""
    if backend == "none":
        return function
    mode = {"mode": "reduce-overhead"} if backend == "inductor" else {}
    run = torch.compile(function, backend=backend, fullgraph=True, dynamic=False, **mode)

    def whole(*given: Any) -> Tensor:
        with torch._dynamo.config.patch(recompile_limit=SHAPES, accumulated_recompile_limit=SHAPES):
            return run(*given).clone()

    return whole


def decoded(language: Any, sequences: Sequences, x: Tensor, added: list[Tensor], recompute: bool) -> Tensor:
    """The normalised output of all decoder layers at each state's last position, [batch, width]; ``added[i]`` is added
    to the output of layer i."""
    *layers, last = language.layers
    for number, layer in enumerate(layers):
        run = partial(sequences.layer, layer)
        x = checkpoint(run, x, use_reentrant=False) if recompute else run(x)
        if number < len(added):
            x = x + added[number]
    return normed(language.norm, sequences.last(last, x))


def _fields_of(kind: Any, parts: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """The configuration values that are fields of its class or of its parts; published models keep the latter nested or
    at the top level."""
    own = {name: {field.name for field in fields(part)} | NAMED_BESIDES for name, part in parts.items()}
    known = {field.name for field in fields(kind)}.union(NAMED_BESIDES, *own.values())
    kept = {name: value for name, value in values.items() if name in known}
    for name, names in own.items():
        if isinstance(inner := kept.get(name), dict):
            kept[name] = {key: value for key, value in inner.items() if key in names}
    return kept


def _refuse_larger(kind: Any, config: Any, folder: Path) -> None:
    """Refuse a configuration with more parameters than its files have bytes, before memory is allocated for them."""
    with torch.device("meta"):
        model = kind(config)
    asked = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    names = {"model.safetensors"}
    if not (folder / "model.safetensors").is_file():
        if not (folder / INDEX).is_file():
            raise ValueError(f"backbone: expected model.safetensors or {INDEX}, got neither in {folder}")
        names = set(verified.values(folder, INDEX, {"weight_map": dict})["weight_map"].values())
    there = sum((folder / name).stat().st_size for name in names)
    if asked > there:
        raise ValueError(f"backbone: expected {asked:,} numbers, as config.json says, got {there:,} bytes in {folder}")


class Sequences:
    """Decoder layers over a whole sequence per state."""

    def __init__(
        self, text: int, x: Tensor, angles: tuple[Tensor, Tensor], adapters: Adapters, _ends: Tensor | None = None
    ) -> None:
        self.text, self.batch, self.own, self.angles = text, len(x), x.shape[1] - text, angles
        self.adapters, self.linears = adapters, adapters.linears

    def pack(self, x: Tensor) -> Tensor:
        """Arrange [batch, tokens, width] as the layers expect; here one sequence per state."""
        return x

    def layer(self, layer: Any, x: Tensor) -> Tensor:
        """A decoder layer's output."""
        given = normed(layer.input_layernorm, x)
        q, k, v = self.projections(layer.self_attn, given, given)
        return self.behind_attention(layer, x, self.attended(layer.self_attn, q, k, v))

    def attended(self, attention: Any, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """[batch, heads, tokens, width] of queries, keys and values -> [batch, tokens, heads * width]"""
        return attend(attention, q, k, v, is_causal=True)

    def last(self, layer: Any, x: Tensor) -> Tensor:
        """The last decoder layer's output at each state's last position, [batch, width]: one query, all keys and
        values."""
        given, end = normed(layer.input_layernorm, x), slice(-1, None)
        attended = attend(layer.self_attn, *self.projections(layer.self_attn, given[:, end], given, end))
        return self.behind_attention(layer, x[:, -1], attended[:, 0])

    def projections(self, attention: Any, asking: Tensor, given: Tensor, where: slice = slice(None)) -> list[Tensor]:
        """Queries of ``asking`` (the tokens ``where``), keys and values of all tokens: [batch, heads, tokens, width]"""

        def split(projected: Tensor, norm: str = "") -> Tensor:
            heads = projected.unflatten(-1, (-1, attention.head_dim))
            return normed(getattr(attention, norm), heads) if hasattr(attention, norm) else heads

        others, (cos, sin) = (attention.k_proj, attention.v_proj), (angle[:, :, None] for angle in self.angles)
        if asking is given:
            q, k, v = self.linears(given, attention.q_proj, *others)
            q, k = split(q, "q_norm"), split(k, "k_norm")
            q, k = rotate(torch.cat([q, k], dim=2), cos, sin).split([q.shape[2], k.shape[2]], dim=2)
        else:
            (q,), (k, v) = (
                self.linears(asking, attention.q_proj),
                self.linears(given, attention.k_proj, attention.v_proj),
            )
            q = rotate(split(q, "q_norm"), cos[:, where], sin[:, where])
            k = rotate(split(k, "k_norm"), cos, sin)
        return [each.transpose(1, 2) for each in (q, k, split(v))]

    def behind_attention(self, layer: Any, x: Tensor, attended: Tensor) -> Tensor:
        """A decoder layer's output, from its input and its attention's output."""
        (out,), mlp = self.linears(attended, layer.self_attn.o_proj), layer.mlp
        x = x + out
        gate, up = self.linears(normed(layer.post_attention_layernorm, x), mlp.gate_proj, mlp.up_proj)
        (out,) = self.linears(mlp.act_fn(gate) * up, mlp.down_proj)
        return x + out


class SharedText(Sequences):
    """Decoder layers over a text that all states share, followed by each state's own tokens, packed into one row, [1,
    text + batch * own, width]: the text is there once, and only attention separates the states.

    Same arithmetic as a whole sequence per state, except that LoRA's dropout has one mask per pass for the text;
    gradients of all states flow into the text once. ``ends`` are the numbers of own tokens per state, where they
    differ.
    """

    def __init__(
        self, text: int, x: Tensor, angles: tuple[Tensor, Tensor], adapters: Adapters, ends: Tensor | None = None
    ) -> None:
        super().__init__(text, x, angles, adapters)
        of_each = (a.expand(self.batch, -1, -1) for a in angles)
        self.angles = tuple(torch.cat([a[:1, :text], a[:, text:].reshape(1, -1, a.shape[-1])], dim=1) for a in of_each)
        self.mask = behind_text(self.own, text, x.device)
        #: Index of each state's last token in the row, and its mask of keys (None: all; the states are equally long).
        self.ends: Any = slice(text + self.own - 1, None, self.own)
        self.seen: Tensor | None = None
        if ends is not None:
            self.ends = text + torch.arange(self.batch, device=x.device) * self.own + ends - 1
            self.seen = (torch.arange(text + self.own, device=x.device) < text + ends[:, None])[:, None, None]

    def pack(self, x: Tensor) -> Tensor:
        """Pack into one row, the text once."""
        return torch.cat([x[:1, : self.text], x[:, self.text :].reshape(1, -1, x.shape[-1])], dim=1)

    def unpack(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """[1, heads, row, width] -> [1, heads, text, width] and, of each state, [batch, heads, own, width]"""
        text, own = x.split([self.text, self.batch * self.own], dim=2)
        return text, own.unflatten(2, (self.batch, self.own)).squeeze(0).transpose(0, 1)

    def attended(self, attention: Any, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        (q, own_q), (k, own_k), (v, own_v) = map(self.unpack, (q, k, v))
        text = attend(attention, q, k, v, is_causal=True)
        own = attend(attention, own_q, self.behind(k, own_k), self.behind(v, own_v), attn_mask=self.mask)
        return torch.cat([text, own.reshape(1, -1, own.shape[-1])], dim=1)

    def last(self, layer: Any, x: Tensor) -> Tensor:
        given, ends = normed(layer.input_layernorm, x), self.ends
        q, k, v = self.projections(layer.self_attn, given[:, ends], given, ends)
        (k, own_k), (v, own_v) = self.unpack(k), self.unpack(v)
        keys, values = self.behind(k, own_k), self.behind(v, own_v)
        attended = attend(layer.self_attn, q.transpose(0, 2), keys, values, attn_mask=self.seen)
        return self.behind_attention(layer, x[0, ends], attended[:, 0])

    def behind(self, text: Tensor, own: Tensor) -> Tensor:
        """Keys or values of whole sequences: the shared text's, followed by each state's own."""
        return torch.cat([text.expand(self.batch, -1, -1, -1), own], dim=2)


def behind_text(own: int, text: int, device: torch.device) -> Tensor:
    """Attention mask of tokens behind a text: all of it, and earlier tokens. On a GPU a causal bias without a tensor:
    the flash kernel takes no mask, and the other kernels with grouped keys store the scores."""
    if device.type == "cuda":
        return causal_lower_right(own, text + own)
    return torch.ones(own, text + own, dtype=torch.bool, device=device).tril(text)


def normed(norm: Any, x: Tensor) -> Tensor:
    """RMS normalisation by the fused kernel; any other norm is called as it is."""
    if not hasattr(norm, "variance_epsilon") or hasattr(norm.weight, "ds_id"):
        result: Tensor = norm(x)
        return result
    return F.rms_norm(x, norm.weight.shape, norm.weight, norm.variance_epsilon)


def of_one_input(layer: Any) -> list[list[Any]]:
    """The projections of a decoder layer, grouped by common input."""
    attention, mlp = layer.self_attn, layer.mlp
    queried = [attention.q_proj, attention.k_proj, attention.v_proj]
    return [queried, [attention.o_proj], [mlp.gate_proj, mlp.up_proj], [mlp.down_proj]]


def attend(attention: Any, q: Tensor, k: Tensor, v: Tensor, **how: Any) -> Tensor:
    """[batch, heads, tokens, width] -> [batch, tokens, heads * width]"""
    attended = F.scaled_dot_product_attention(
        q, k, v, scale=attention.scaling, enable_gqa=q.shape[1] != k.shape[1], **how
    )
    return attended.transpose(1, 2).flatten(2)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding in the two-halves convention, by ``signed`` sines."""
    first, second = x.chunk(2, dim=-1)
    return torch.addcmul(x * cos, torch.cat([second, first], dim=-1), sin)


def signed(sin: Tensor) -> Tensor:
    """Sines with the first half negated, since ``rotate`` subtracts a vector's second half from its first."""
    first, second = sin.chunk(2, dim=-1)
    return torch.cat([-first, second], dim=-1)


@dataclass(frozen=True)
class Normalization:
    """Mean and standard deviation per channel by which an image processor normalises values in 0..1."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


@lru_cache(maxsize=8)
def table(normalization: Normalization, device: torch.device) -> Tensor:
    """float32[3, 256]: the normalised value of each byte, rounded as image processors round."""
    bytes_ = (np.arange(256, dtype=np.float64) * (1 / 255)).astype(np.float32)
    rows = [
        (bytes_ - np.float32(mean)) / np.float32(std)
        for mean, std in zip(normalization.mean, normalization.std, strict=True)
    ]
    return to_device(np.stack(rows), device)


def normalize(frames: Tensor, normalization: Normalization) -> Tensor:
    """uint8[N, height, width, 3] -> float32[N, 3, height, width]."""
    values = table(normalization, frames.device)
    return torch.stack([values[channel][frames[..., channel].int()] for channel in range(3)], dim=1)


def patches(pictures: Tensor, side: int, merge: int, times: int) -> Tensor:
    """[N, 3, height, width] -> [N * patches, 3 * times * side * side]: patches token by token, row by row, each of
    them repeated ``times`` times, since a still picture is a video of equal frames."""
    count, channels, height, width = pictures.shape
    rows, cols = height // (side * merge), width // (side * merge)
    cut = pictures.view(count, channels, rows, merge, side, cols, merge, side).permute(0, 2, 5, 3, 6, 1, 4, 7)
    return cut.unsqueeze(6).expand(*cut.shape[:6], times, side, side).reshape(-1, channels * times * side * side)
