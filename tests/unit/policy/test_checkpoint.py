"""Saved and loaded is the same policy; anything else is an error."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager, suppress

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
from safetensors.torch import load_file, save
from tests.refusals import refused

import recommit
from recommit.policy import checkpoint
from recommit.policy.backbones.backbone import given_backbone
from recommit.policy.backbones.random_init import make_backbone
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.storage.errors import NeedsFlag, WrongFolder

DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)
CONFIGS = {
    "whole": PolicyConfig(lora=None, decoder=DECODER),
    "adapter": PolicyConfig(lora=LoraConfig(), decoder=DECODER),
}
TASK = recommit.Sliding(3)
STATES = TASK.generate(5, seed=0).states


def logits(policy):
    with torch.no_grad():
        return torch.cat([part.flatten() for part in policy.eval()(TASK, STATES, torch.zeros(5, 7, dtype=torch.long))])


@pytest.fixture(autouse=True)
def given(tiny):
    """The place of the backbone, which no file names."""
    with given_backbone(tiny):
        yield


@pytest.fixture(params=CONFIGS, ids=str)
def saved(request, tiny, tmp_path):
    policy = recommit.CommitPolicy.from_backbone(tiny, CONFIGS[request.param], seed=1)
    with torch.no_grad():
        for parameter in policy.parameters():
            if parameter.requires_grad:
                parameter.add_(0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(7)))
    policy.save_pretrained(tmp_path / "saved")
    return policy, tmp_path / "saved"


def test_reloading_gives_equal_logits(saved, tmp_path):
    policy, folder = saved
    again = recommit.CommitPolicy.from_pretrained(folder)
    assert again.config == policy.config
    assert torch.equal(logits(again), logits(policy))
    again.save_pretrained(tmp_path / "twice")
    assert (tmp_path / "twice" / "heads.safetensors").read_bytes() == (folder / "heads.safetensors").read_bytes()


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("saved", ["adapter"], indirect=True)
def test_peft_reads_the_adapter(saved):
    policy, folder = saved
    from peft import PeftModel

    from recommit.policy.backbones.backbone import load_backbone

    plain = load_backbone(policy.source)
    plain.model = PeftModel.from_pretrained(plain.model, folder / "adapter")
    given = dict(plain.model.named_parameters())
    for name, parameter in policy.backbone.model.named_parameters():
        assert torch.equal(given[name], parameter), name


@pytest.mark.parametrize("saved", ["adapter"], indirect=True)
def test_an_adapter_needs_its_own_backbone(saved, tmp_path):
    policy, folder = saved
    with given_backbone(""), pytest.raises(NeedsFlag, match="backbone: expected the place of the weights") as lacking:
        recommit.CommitPolicy.from_pretrained(folder)
    assert lacking.value.flag == "--backbone PLACE"
    other = make_backbone(tmp_path / "other", "tiny", seed=9)
    with pytest.raises(ValueError, match="backbone: expected the weights"):
        recommit.CommitPolicy.from_pretrained(folder, backbone=other)
    moved = shutil.copytree(policy.source, tmp_path / "moved")
    assert torch.equal(logits(recommit.CommitPolicy.from_pretrained(folder, backbone=moved)), logits(policy))


@contextmanager
def other_bytes(path, data):
    whole = path.read_bytes()
    path.write_bytes(data)
    yield
    path.write_bytes(whole)


def rename(tensors):
    tensors["other.name"] = tensors.pop(min(tensors))


def reshape(tensors):
    tensors[min(tensors)] = torch.zeros(3, 3, 3)


def spoil(tensors):
    tensors[min(tensors)].flatten()[0] = np.nan


def overflow(tensors):
    """Finite, until it is what the policy has."""
    name = min(tensors)
    tensors[name] = torch.full(tensors[name].shape, 1e300, dtype=torch.float64)


def cast(tensors):
    """Of which torch has no ``isfinite``."""
    tensors[min(tensors)] = tensors[min(tensors)].to(torch.float8_e4m3fn)


PARTS = ["heads.safetensors", "adapter/adapter_model.safetensors"]


@pytest.mark.parametrize("saved", ["adapter"], indirect=True)
def test_weights_that_do_not_fit_are_refused(saved):
    read, folder = recommit.CommitPolicy.from_pretrained, saved[1]
    for name in ("config.json", *PARTS, "DIGESTS"):
        flipped = bytearray((folder / name).read_bytes())
        flipped[-3] ^= 1
        with other_bytes(folder / name, flipped):
            refused([(lambda: read(folder), name)])
    (folder / "DIGESTS").unlink()
    for part in PARTS:
        for change in (rename, reshape, spoil, overflow, cast):
            tensors = load_file(folder / part)
            change(tensors)
            with other_bytes(folder / part, save(tensors)):
                refused([(lambda: read(folder), f"{part}: expected")])
    for keep in (0, 100):
        with other_bytes(folder / PARTS[0], (folder / PARTS[0]).read_bytes()[:keep]):
            refused([(lambda: read(folder), f"{PARTS[0]}: expected a whole safetensors file")])


#: Fields of config.json; those of the last rows ask for more than the weights have.
WRONG = [
    ("format", 99, "expected policy format 1, got 99"),
    ("policy", 3, "policy: expected an object"),
    ("backbone", "x", "backbone: expected an object"),
    ("backbone.source", "/etc", "expected a backbone of "),
    ("backbone.revision", "../x", "expected a backbone of "),
    ("backbone", {"source": 3, "dtype": "float32"}, "source: expected text"),
    ("policy.decoder.width", 65536, "heads.safetensors: expected decoder."),
    ("policy.head.hidden", 10**4, "depth_head"),
    ("policy.head.hidden", 10**30, "head.hidden: expected 0..65536"),
    ("policy.world_model", {"task": "sliding", "rows": 64, "cols": 64, "kinds": 256, "blocks": 64}, "world"),
    ("policy.lora", {"rank": 10**9, "alpha": 32, "dropout": 0.0}, "lora.rank: expected 1..4096"),
    ("policy.decoder.heads", 4.0, "heads: expected int, got 4.0"),
    ("policy.depths", [1.0, 2, 4, 8], "depths: expected"),
    ("policy.prices", [-1.0, 0.0], "action: expected"),
    ("policy.cell", 28 * 5000, "cell: expected 0..112, got 140000"),
]


@pytest.mark.parametrize("saved", ["adapter"], indirect=True)
def test_a_configuration_that_does_not_fit_makes_nothing(saved, monkeypatch):
    """A few bytes of a stranger's would take gigabytes; the digests are the stranger's too."""
    folder = saved[1]
    (folder / "DIGESTS").unlink()
    monkeypatch.setattr(recommit.CommitPolicy, "__init__", lambda *_, **__: pytest.fail("made before it was checked"))
    for place, value, words in WRONG:
        part = about = json.loads((folder / "config.json").read_text())
        *inner, last = place.split(".")
        for name in inner:
            part = part[name]
        part[last] = value
        with other_bytes(folder / "config.json", json.dumps(about).encode()):
            refused([(lambda: recommit.CommitPolicy.from_pretrained(folder), words)])


@pytest.mark.parametrize("saved", ["whole"], indirect=True)
def test_what_a_killed_writer_of_weights_left_is_swept(saved):
    """safetensors writes beside the file, under a name that is not ours."""
    policy, folder = saved
    half = folder / "backbone" / ".tmp7ELL8Y"
    half.write_text("half")
    policy.save_pretrained(folder)
    assert not half.exists()


@pytest.mark.parametrize("ends", [True, False], ids=["whole", "killed"])
def test_a_policy_that_is_saved_while_it_is_read_is_no_mixture(saved, monkeypatch, ends):
    """Heads of one policy fit the backbone of another, and their files say so only together."""
    policy, folder = saved
    read, write = checkpoint.read_weights, checkpoint.replace

    def replace(files, path, data):
        write(files, path, data)
        if not ends:
            raise SystemExit  # behind the heads, as by a signal

    def overtaken(path):
        if path.name == "heads.safetensors":
            with torch.no_grad():
                policy.depth_head.weight.add_(1.0)
            monkeypatch.setattr(checkpoint, "replace", replace)
            with suppress(SystemExit):
                policy.save_pretrained(folder)
        return read(path)

    monkeypatch.setattr(checkpoint, "read_weights", overtaken)
    load = lambda: recommit.CommitPolicy.from_pretrained(folder)
    refused([(load, "expected files that stay while they are read, got others now")])
    monkeypatch.undo()
    if ends:
        assert torch.equal(logits(load()), logits(policy))
    else:
        refused([(load, "heads.safetensors: expected what was written there, got other bytes")])


@pytest.mark.parametrize("saved", ["whole"], indirect=True)
def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(saved):
    """Under a name that nobody opens, so that without the check nothing is refused and nothing waits."""
    policy, folder = saved
    (folder / "DIGESTS").unlink()
    os.mkfifo(pipe := folder / "backbone" / "pipe.json")
    uses = (lambda: recommit.CommitPolicy.from_pretrained(folder), lambda: policy.save_pretrained(folder))
    refused([(use, "pipe.json: expected a file, got something else") for use in uses], WrongFolder)
    pipe.unlink()
    policy.save_pretrained(folder)
