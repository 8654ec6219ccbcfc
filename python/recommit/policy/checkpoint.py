"""Saving and loading a policy: JSON and safetensors only, strict in both directions.

config.json          configuration, and what backbone it belongs to, of which dtype (with a fingerprint), and the name
                     of the caller's class that reads it, if it takes one
heads.safetensors    depth head and action decoder
adapter/             LoRA weights in PEFT's format            (adapters on a backbone that lives elsewhere)
backbone/            the whole model in its published format  (backbones that were trained whole)
DIGESTS              sha256 of every file, checked before one is read
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import nn
from torch.overrides import TorchFunctionMode

from recommit.policy import lora, pretrained
from recommit.policy.action_decoder import ActionDecoder
from recommit.policy.backbones.backbone import (
    GIVEN,
    LISTED,
    find_backbone,
    given_backbone,
    given_class,
    given_place,
    is_repository,
    load_backbone,
    own_class,
    refuse_ungiven,
    snapshot,
)
from recommit.policy.config import PolicyConfig
from recommit.policy.depth_head import DepthHead
from recommit.policy.world_model import WorldModel
from recommit.prices import Prices
from recommit.storage import errors, schema, verified
from recommit.storage.files import Files, file_sha256, refuse_links, replace, sha256, sweep_files
from recommit.storage.recipe_text import brief, cut
from recommit.storage.safe_open import NotAFile, content
from recommit.storage.verified import DIGESTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.policy.backbones.backbone import Backbone

FORMAT = 1
#: Fields of config.json.
FIELDS = {"policy": dict, "backbone": dict.fromkeys(("source", "dtype", "fingerprint"), str)}
#: Source of a backbone in the policy's own folder; others are ``LISTED``, or ``GIVEN`` by the caller.
WHOLE = "backbone"
_COMMIT = re.compile(r"([0-9a-f]{40})?")
#: Allowed dtypes of stored weights.
DTYPES = ("float32", "bfloat16", "float16")
#: Values of each tensor that a fingerprint reads.
SAMPLE = 4096


class Parts(Protocol):
    """The parts of a ``CommitPolicy`` that are saved."""

    config: PolicyConfig
    backbone: Backbone
    depth_head: nn.Module
    decoder: nn.Module
    world_model: nn.Module | None
    source: str
    revision: str
    known_fingerprint: str


P = TypeVar("P", bound=Parts)


def fingerprint(backbone: Backbone) -> str:
    """Hash of frozen weights without reading all of a large model: every name and shape, and up to 4,096 values of each
    tensor, rounded to bfloat16 so that the same weights in another dtype hash alike."""
    digest = hashlib.sha256()
    for name, tensor in sorted(backbone.frozen_state().items()):
        digest.update(f"{name}{tuple(tensor.shape)}".encode())
        sample = tensor.detach().flatten()[:SAMPLE].to(torch.bfloat16).to("cpu", torch.float32)
        digest.update(sample.numpy().tobytes())
    return digest.hexdigest()


def fingerprint_of(policy: Parts) -> str:
    """The fingerprint of a policy's backbone; if frozen, computed once, before it is sharded over ranks."""
    if policy.config.lora is None:
        return fingerprint(policy.backbone)
    if not policy.known_fingerprint:
        policy.known_fingerprint = fingerprint(policy.backbone)
    return policy.known_fingerprint


def save_policy(policy: Parts, folder: str | Path) -> Path:
    """Write the policy to ``folder``: configuration, heads, and the LoRA adapter or the whole backbone."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    refuse_links(folder)
    sweep_files(Files(), folder)  # a killed save leaves a partial temporary file of the backbone
    replace(Files(), folder / "heads.safetensors", save(heads(policy)))
    whole, listed = policy.config.lora is None, policy.source in LISTED
    revision, own = policy.revision if listed else "", own_class(type(policy.backbone))
    if whole:
        policy.backbone.save(folder / "backbone")
    else:
        lora.save(policy.backbone, policy.source if listed else "", revision, folder / "adapter")
    about = {
        "format": FORMAT,
        "model_type": "recommit",
        "policy": asdict(policy.config) | {"prices": list(astuple(policy.config.prices))},
        "backbone": {
            "source": WHOLE if whole else policy.source if listed else GIVEN,
            **({"revision": revision} if revision and not whole else {}),
            "dtype": str(next(policy.backbone.model.parameters()).dtype).removeprefix("torch."),
            "fingerprint": fingerprint_of(policy),
            **({"class": own} if own else {}),
        },
    }
    replace(Files(), folder / "config.json", (json.dumps(about, indent=2) + "\n").encode())
    policy.backbone.save_processor(folder)
    verified.seal(Files(), folder, _written(folder))
    return folder


#: Suffixes of the sealed files of a policy; pages for people, which may be edited, have others.
_ENDINGS = (".json", ".safetensors", ".jinja", ".txt")


def _written(folder: Path) -> list[str]:
    """Names of the files of a policy, including tokenizer and processor."""
    inner = [*folder.iterdir(), *(path for part in ("adapter", "backbone") for path in (folder / part).rglob("*"))]
    return sorted(p.relative_to(folder).as_posix() for p in inner if p.is_file() and p.suffix in _ENDINGS)


def load_policy(
    make: Callable[[Backbone, PolicyConfig, str, str], P],
    folder: str | Path,
    *,
    revision: str = "",
    backbone: str | Path | None = None,
    backbone_class: Any = None,
    dtype: torch.dtype | None = None,
    device: torch.device | str = "cpu",
    **options: Any,
) -> P:
    """Load the policy of a folder or hub repository (at ``revision``) into the object that ``make`` constructs, on
    ``device``, its backbone in ``dtype`` (default: as saved). ``backbone`` is the place of an adapter's backbone:
    required where that is neither in the folder nor ``LISTED``; its fingerprint has to match. ``backbone_class`` loads
    the backbone of a policy that was trained with the caller's own class."""
    folder = _fetched(folder, revision)
    before = _as_it_is(folder)
    about = read_config(folder / "config.json")
    verified.verify(folder)
    config = parse_config(about["policy"], folder / "config.json")
    name, mark = about["backbone"].get("class", ""), about["backbone"]["fingerprint"][:12]
    with given_backbone(None, backbone_class):
        own = given_class() if name or backbone_class else None
        source, revision = _source(folder, about["backbone"], backbone, whole=config.lora is None)
        place = "" if source else f"the place of the weights {mark} that {folder} is an adapter of"
        refuse_ungiven(place, "" if own else name)
        if (got := own_class(own) if own else "") != name:
            raise ValueError(f"backbone_class: expected {brief(name)}, as in {folder / 'config.json'}, got {got!r}")
        found, commit = find_backbone(source, revision)
    dtype = dtype or saved_dtype(about["backbone"], folder / "config.json")
    weights = load_backbone(found, dtype=dtype, device=device, backbone_class=own, **options)
    stored = read_weights(path := folder / "heads.safetensors")
    check_shapes(imagined_heads(config, weights.width), stored, path)
    policy = make(weights, config, str(source), commit)
    if config.lora is not None:
        load_adapter(policy, folder / "adapter")
    check_and_copy(heads(policy), stored, path)
    if (here := fingerprint(policy.backbone)) != about["backbone"]["fingerprint"]:  # must be the one it was trained on
        got = f"{here[:12]} from {policy.source}"
        raise ValueError(f"backbone: expected the weights {mark} that {folder} was saved with, got {got}")
    if _as_it_is(folder) != before:
        raise errors.Damaged(f"{folder}: expected files that stay while they are read, got others now; read it again")
    return policy


def _as_it_is(folder: Path) -> dict[Path, tuple[int, int]]:
    """Inode and mtime per file, to detect a concurrent write: one policy's heads would fit another's backbone."""
    every = (path for path in folder.rglob("*") if path.suffix in _ENDINGS and not path.name.startswith("."))
    return {path: (about.st_ino, about.st_mtime_ns) for path in every if path.exists() for about in [path.stat()]}


def _source(folder: Path, about: dict[str, Any], given: str | Path | None, *, whole: bool) -> tuple[str | Path, str]:
    """Place and commit of a saved policy's backbone; empty where unknown."""
    if whole:
        return folder / WHOLE, ""
    if given:
        return given, ""
    if (name := about["source"]) in LISTED:
        return name, about.get("revision", "")
    return next((place for place in inside(folder) if place.is_dir()), given_place()), ""


def inside(policy: Path) -> list[Path]:
    """Where a run keeps a randomly initialised backbone, for an adapter in RUN/init or in a checkpoint of RUN."""
    return [policy.parent / WHOLE, *([policy.parents[2] / WHOLE] if policy.parent.name.startswith("step-") else [])]


def saved_dtype(about: dict[str, Any], path: Path) -> torch.dtype:
    """The dtype of a saved policy's backbone."""
    name = about.get("dtype")
    if name not in DTYPES:
        raise ValueError(f"{path}: expected a backbone of dtype {', '.join(DTYPES)}, got {brief(name)}")
    return getattr(torch, name)


def local_folder(name: str | Path) -> Path:
    """A policy folder as given, or the best policy of a run, also of one that comes with the package. Never asks a hub:
    a mistyped run must raise."""
    folder = pretrained.find(name)
    if os.path.lexists(folder / "best.json"):
        return verified.inside(folder, verified.values(folder, "best.json", {"policy": str})["policy"])
    if (folder / "checkpoints").is_dir():
        raise ValueError(
            f"{name}: expected a run with a best policy, got one without best.json; go on with its training"
        )
    if folder.is_dir():
        return folder
    raise pretrained.unknown(name)


def _fetched(name: str | Path, revision: str) -> Path:
    """The local folder of a policy; a hub repository, OWNER/NAME, is downloaded."""
    if os.path.lexists(name) or not is_repository(name):
        return local_folder(name)
    return snapshot("policy", str(name), revision)


def heads(policy: Parts) -> dict[str, torch.Tensor]:
    """The weights beside the backbone, by name."""
    return _named(policy.depth_head, policy.decoder, policy.world_model)


def _named(depth_head: nn.Module, decoder: nn.Module, world_model: nn.Module | None) -> dict[str, torch.Tensor]:
    parts = {"depth_head": depth_head, "decoder": decoder} | (
        {} if world_model is None else {"world_model": world_model}
    )
    return {f"{part}.{k}": v.contiguous() for part, module in parts.items() for k, v in module.state_dict().items()}


class _WithoutInit(TorchFunctionMode):
    """Skip weight initialisation: meta tensors have no storage, and initialising them makes torch import its compiler,
    which takes as long as importing torch."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Functions of ``torch.nn.init`` return their tensor unchanged."""
        named = kwargs or {}
        if getattr(function, "__module__", "") == "torch.nn.init":
            return args[0] if args else named["tensor"]
        return function(*args, **named)


def imagined_heads(config: PolicyConfig, width: int) -> dict[str, torch.Tensor]:
    """``heads`` on the meta device, to check a file's shapes first: an untrusted configuration may declare any size."""
    with torch.device("meta"), _WithoutInit():
        world_model = None if config.world_model is None else WorldModel(config.world_model)
        depth_head = DepthHead(width, len(config.depths), config.head, config.plan_length)
        decoder = ActionDecoder(width, len(config.tasks), config.decoder, config.plan_length)
        return _named(depth_head, decoder, world_model)


def load_adapter(policy: Parts, folder: Path) -> None:
    """Load adapter weights; unlike PEFT, which only warns, names that do not match are an error."""
    path = folder / "adapter_model.safetensors"
    check_and_copy(lora.weights(policy.backbone), read_weights(path), path)


#: Largest safetensors header in bytes; that of a 7B model's adapter is some 60,000.
MOST_HEADER = 1 << 20


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file; a damaged one is a ValueError."""
    if not path.is_file():
        raise ValueError(f"{path}: expected a file of weights, got none")
    try:
        data = content(path)
        if (size := int.from_bytes(data[:8], "little")) > MOST_HEADER:  # a parsed entry takes much more
            raise OverflowError(f"header of {size:,} bytes")
        return load(data)
    except (SafetensorError, MemoryError, OverflowError, NotAFile) as error:
        raise ValueError(f"{path}: expected a whole safetensors file, got one that is damaged ({error})") from None


def check_shapes(wanted: dict[str, torch.Tensor], weights: dict[str, torch.Tensor], path: Path) -> None:
    """Refuse weights whose names or shapes differ from ``wanted``."""
    missing, extra = sorted(wanted.keys() - weights.keys()), sorted(weights.keys() - wanted.keys())
    if missing or extra:
        raise ValueError(f"{path}: expected the tensors {missing[:3]} besides, got {extra[:3]} too many")
    for name, tensor in weights.items():
        if tensor.shape != wanted[name].shape:
            raise ValueError(f"{path}: expected {name} of shape {tuple(wanted[name].shape)}, got {tuple(tensor.shape)}")


def check_and_copy(wanted: dict[str, torch.Tensor], weights: dict[str, torch.Tensor], path: Path) -> None:
    """Copy ``weights`` into ``wanted`` after checking names, shapes, dtypes and finiteness."""
    check_shapes(wanted, weights, path)
    for name, tensor in weights.items():
        if (kind := str(tensor.dtype).removeprefix("torch.")) not in DTYPES:
            raise ValueError(f"{path}: expected {name} in {', '.join(DTYPES)}, got {kind}")
        if not tensor.to(wanted[name].dtype).isfinite().all():  # a large number may be infinity in a smaller dtype
            raise ValueError(f"{path}: expected finite numbers, got NaN or infinity in {name}")
    with torch.no_grad():
        for name, tensor in weights.items():
            wanted[name].copy_(tensor)


def read_config(path: Path) -> dict[str, Any]:
    """Read and check config.json of a saved policy."""
    about = verified.values(path.parent, path.name)
    if about.get("format") != FORMAT:
        raise ValueError(f"{path}: expected policy format {FORMAT}, got {brief(about.get('format'))}")
    verified.expect(path, about, FIELDS)
    source, revision = about["backbone"]["source"], about["backbone"].get("revision", "")
    if source not in (WHOLE, GIVEN, *LISTED) or not (isinstance(revision, str) and _COMMIT.fullmatch(revision)):
        raise ValueError(
            f"{path}: expected a backbone of {', '.join((WHOLE, GIVEN, *LISTED))}, of a commit if any, "
            f"got {brief(source)} of {brief(revision)}"
        )
    return about


def parse_config(values: Any, path: Path | str = "config") -> PolicyConfig:
    """A PolicyConfig from JSON values; invalid ones raise a ValueError that names ``path``."""
    try:
        config: PolicyConfig = schema.parse(
            PolicyConfig, {**values, "prices": Prices(*values["prices"])}, owner="policy"
        )
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{path}: expected the fields of a policy, got: {cut(str(error))}") from None
    return config


def weights_of(policy: Path) -> str:
    """One sha256 of all files of a saved policy but for their digests."""
    listed = sorted(p for p in policy.rglob("*") if p.is_file() and p.name != DIGESTS)
    return sha256("\n".join(f"{p.relative_to(policy).as_posix()} {file_sha256(p)}" for p in listed).encode())
