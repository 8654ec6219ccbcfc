"""Randomly initialised backbones: a local directory in the published format, with weights, tokenizer and processor.

Pretrained weights come from a hub; these serve tests, laptops and speed measurements at real shapes, and go through the
same loading code. Large ones are sharded as on a hub.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from recommit import checks
from recommit.policy.backbones.backbone import MOST_LAYERS, family
from recommit.policy.backbones.conv import CONV, ConvShape, make_conv
from recommit.storage import schema

if TYPE_CHECKING:
    from collections.abc import Mapping

SPECIALS = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
]


@dataclass(frozen=True)
class Shape:
    """The sizes of a backbone within its family."""

    width: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vision_width: int
    vision_layers: int
    vision_heads: int
    vision_ffn: int
    #: Qwen2.5-VL: pixels; 28 keeps every window inside one merged token.
    window: int = 0
    #: Vision layers that attend over the whole picture. With none and window 28 a cell's feature depends on the cell
    #: alone, and a board is a gather from a small table.
    full_attention: tuple[int, ...] = ()
    vocabulary: int = 272
    rope_theta: float = 1e6
    family: str = "qwen2_5_vl"
    #: Qwen3-VL: vision layers whose features are added to the language model's first layers.
    taps: tuple[int, ...] = ()
    #: Qwen3-VL: trained positions along a picture's side.
    side: int = 0

    def __post_init__(self) -> None:
        for name in SIZES:
            checks.integer(
                f"model.shape.{name}", getattr(self, name), 1, MOST_LAYERS if "layers" in name else MOST_SIZE
            )
        for name in ("", "vision_"):
            width, heads = getattr(self, f"{name}width"), getattr(self, f"{name}heads")
            if width % heads:
                raise ValueError(f"model.shape.{name}width: expected a multiple of the {heads} heads, got {width}")
        checks.choice("model.shape.family", self.family, tuple(_FAMILIES))
        if self.window % 28 or (self.window == 0) == (self.family == "qwen2_5_vl"):
            wanted = "a multiple of 28 pixels" if self.family == "qwen2_5_vl" else "0"
            raise ValueError(f"model.shape.window: expected {wanted} of {self.family}, got {self.window}")


#: Sizes common to all families.
SIZES = ("width", "layers", "heads", "kv_heads", "ffn", "vision_width", "vision_layers", "vision_heads", "vision_ffn")
#: Above any real model's sizes.
MOST_SIZE = 1 << 20
#: Family -> the class of its configuration in transformers.
_FAMILIES = {"qwen2_5_vl": "Qwen2_5_VLConfig", "qwen3_vl": "Qwen3VLConfig"}
#: Prefixes of backbones with random weights in recipes, before a name: ``random:small``.
FROM_NOTHING = ("random:", "conv:")
BACKBONES = {
    "tiny": Shape(32, 2, 2, 1, 64, 32, 2, 2, 64, 56, (1,), rope_theta=100.0),
    # Low frequencies separate the columns of a small board poorly: theta 10 needs half as many steps as theta 100.
    "small": Shape(128, 4, 4, 4, 352, 64, 1, 2, 128, 28, (), rope_theta=10.0),
    "tiny-qwen3-vl": Shape(32, 3, 2, 1, 64, 32, 3, 2, 64, rope_theta=100.0, family="qwen3_vl", taps=(0, 1), side=6),
    "3b": Shape(2048, 36, 16, 2, 11008, 1280, 32, 16, 3420, 112, (7, 15, 23, 31), vocabulary=151936),
    "7b": Shape(3584, 28, 28, 4, 18944, 1280, 32, 16, 3420, 112, (7, 15, 23, 31), vocabulary=152064),
    "qwen3-vl-8b": Shape(
        4096, 36, 32, 8, 12288, 1152, 27, 16, 4304,
        vocabulary=151936, rope_theta=5e6, family="qwen3_vl", taps=(8, 16, 24), side=48,
    ),
}  # fmt: skip
#: Models wider than WIDEST are written as on a hub, in shards of at most SHARD bytes and their index.
WIDEST, SHARD = 512, 1_000_000_000


def config(shape: Shape, tokenizer: Any) -> Any:
    """The transformers configuration of a shape, with the token ids of a tokenizer."""
    import transformers

    token = tokenizer.convert_tokens_to_ids
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": shape.rope_theta}
    text = {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.width,
        "intermediate_size": shape.ffn,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "initializer_range": 0.02 if shape.width > 512 else 0.6 / math.sqrt(shape.width),
        "rope_parameters": rope,
        "bos_token_id": None,
        "eos_token_id": token("<|im_end|>"),
        "pad_token_id": token("<|endoftext|>"),
    }
    half = shape.width // shape.heads // 2
    side = half * 3 // 8  # rows and columns get three eighths of the frequencies each, as in the 7B
    rope["mrope_section"] = [half - 2 * side, side, side]
    vision: dict[str, Any] = {
        "hidden_size": shape.vision_width,
        "intermediate_size": shape.vision_ffn,
        "depth": shape.vision_layers,
        "num_heads": shape.vision_heads,
        "out_hidden_size": shape.width,
    }
    marks = {"image": "image_pad", "video": "video_pad", "vision_start": "vision_start", "vision_end": "vision_end"}
    ids = {f"{name}_token_id": token(f"<|{mark}|>") for name, mark in marks.items()}
    if shape.family == "qwen2_5_vl":
        vision |= {"window_size": shape.window, "fullatt_block_indexes": list(shape.full_attention)}
    if shape.family == "qwen3_vl":
        text["head_dim"] = shape.width // shape.heads
        rope["mrope_interleaved"] = True
        vision |= {"deepstack_visual_indexes": list(shape.taps), "num_position_embeddings": shape.side**2}
    kind = getattr(transformers, _FAMILIES[shape.family])
    return kind(tie_word_embeddings=shape.width <= 2048, text_config=text, vision_config=vision, **ids)


def make_tokenizer() -> Any:
    """A byte-level tokenizer of the real class: 256 bytes and the special tokens the model needs."""
    from tokenizers import pre_tokenizers
    from transformers import Qwen2Tokenizer

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    return Qwen2Tokenizer(
        vocab={symbol: i for i, symbol in enumerate(alphabet)},
        merges=[],
        unk_token="<|endoftext|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=SPECIALS,
    )


@torch.no_grad()
def spread_cells(model: Any, tokenizer: Any) -> None:
    """Shift and scale the last layer of the vision encoder so that the cells of sliding puzzles and Sokoban start out
    with four times the spread of word embeddings. Drawn cells are mostly background: without this they all begin as
    nearly the same vector, and a small model spends its first thousand steps learning to separate them."""
    from recommit.policy.backbones.qwen import QwenBackbone
    from recommit.policy.config import PolicyConfig
    from recommit.policy.vision import Vision
    from recommit.puzzles.sliding import Sliding
    from recommit.puzzles.sokoban import Sokoban

    backbone = QwenBackbone(model, tokenizer)
    vision = Vision(backbone, PolicyConfig(lora=None))
    cells = torch.cat([vision.legend(task) for task in (Sliding(5), Sokoban(8))])
    features = backbone.features(cells, (1, 1))[:, 0]
    mean = features.mean(dim=0)
    last = model.visual.merger.mlp[-1]
    scale = 4 * model.language_model.embed_tokens.weight.std() / (features - mean).square().mean().sqrt()
    last.bias.sub_(mean).mul_(scale)
    last.weight.mul_(scale)


def make_backbone(
    folder: str | Path,
    backbone: str | Shape | ConvShape = "tiny",
    *,
    seed: int = 0,
    dtype: str = "float32",
    shard: int = 0,
) -> Path:
    """Write a random backbone, one of ``BACKBONES`` by name or any shape; returns the folder.

    With ``shard``, in the layout of a hub: files of at most ``shard`` bytes, with a language-model head. Large shapes
    are always sharded.
    """
    folder, shape = Path(folder), _sizes(backbone) if isinstance(backbone, str) else backbone
    if isinstance(shape, ConvShape):
        return make_conv(folder, shape, seed=seed)
    from transformers import AutoModel, AutoModelForImageTextToText

    folder.mkdir(parents=True, exist_ok=True)
    adapted, tokenizer, kind = family(shape.family), make_tokenizer(), getattr(torch, dtype)
    about, published = config(shape, tokenizer), bool(shard or shape.width > WIDEST)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        if published:  # initialised in the file's dtype: no full float32 copy is ever made
            model = AutoModelForImageTextToText.from_config(about, dtype=kind)
        else:
            model = AutoModel.from_config(about)
    if published:
        model.save_pretrained(folder, max_shard_size=shard or SHARD)
        adapted(model.model, tokenizer).save_processor(folder)
        return folder
    if shape.window == 28 and not shape.full_attention:
        spread_cells(model, tokenizer)
    adapted(model.to(kind), tokenizer).save(folder)
    return folder


def _sizes(name: str) -> Shape | ConvShape:
    every: dict[str, Shape | ConvShape] = {**BACKBONES, **{f"conv:{name}": shape for name, shape in CONV.items()}}
    if name not in every:
        raise ValueError(f"backbone: expected one of {', '.join(every)}, got {name}")
    return every[name]


def resized(name: str, sizes: Mapping[str, Any]) -> Shape | ConvShape:
    """The shape of a named backbone, with the recipe's ``sizes`` replaced."""
    shape = _sizes(name)
    try:
        changed: Shape | ConvShape = schema.parse(type(shape), vars(shape) | dict(sizes), "model.shape")
    except ValueError as error:
        raise ValueError(f'{error}; --set "model.shape={{}}" takes the sizes of {name} as they are') from None
    return changed
