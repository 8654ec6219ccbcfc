"""Weights go from their file to where they are needed: no second copy, in no process."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
from safetensors.torch import load_file, save_file
from tests.refusals import refused

import recommit
from recommit.policy.backbones.backbone import INDEX, find_backbone, is_repository, load_backbone
from recommit.policy.backbones.random_init import Shape, make_backbone
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.reference import ReferencePolicy

CONFIG = PolicyConfig(lora=LoraConfig(rank=2), decoder=DecoderConfig(width=32, layers=1, heads=4, ffn=64))
FAMILIES = ("tiny", "tiny-qwen3-vl")


@pytest.fixture(scope="module", params=FAMILIES)
def sharded(request, tmp_path_factory):
    """In the layout of a hub, a few files."""
    return make_backbone(tmp_path_factory.mktemp("hub"), request.param, dtype="bfloat16", shard=60_000)


def everything(folder):
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        found |= load_file(path)
    return found


def digests(tensors):
    return sorted(hashlib.sha256(t.contiguous().view(torch.uint8).numpy()).hexdigest() for t in tensors)


def test_all_of_a_sharded_backbone_is_read_by_its_index(sharded):
    """Every tensor but the language model's head is somewhere in the model, bit for bit."""
    index, published = json.loads((sharded / INDEX).read_text()), everything(sharded)
    files = sorted(set(index["weight_map"].values()))
    assert len(files) > 2
    for file in files:
        assert set(load_file(sharded / file)) == {n for n, f in index["weight_map"].items() if f == file}
    assert index["metadata"]["total_size"] == sum(t.nbytes for t in published.values())
    kept = [tensor for name, tensor in published.items() if not name.endswith("lm_head.weight")]
    assert len(published) - len(kept) <= 1
    assert digests(load_backbone(sharded, dtype=torch.bfloat16).frozen_state().values()) == digests(kept)


def test_a_checkpoint_without_a_tensor_is_refused(sharded, tmp_path):
    """The stock loader would draw it at random and warn."""
    for path in sharded.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    index = json.loads((tmp_path / INDEX).read_text())
    file = tmp_path / max(index["weight_map"].values())
    tensors = load_file(file)
    del tensors[max(name for name in tensors if "lm_head" not in name)]
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(ValueError, match="backbone: expected all tensors of the model in"):
        load_backbone(tmp_path, dtype=torch.bfloat16)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux where memory comes from")
@pytest.mark.parametrize(("dtype", "mapped"), [(torch.bfloat16, True), (torch.float32, False)])
def test_weights_in_their_files_dtype_are_its_pages(sharded, dtype, mapped):
    """So that ranks on one machine share them; in another dtype each needs numbers of its own."""
    backbone = load_backbone(sharded, dtype=dtype)
    ranges = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if str(sharded) in line]
    spans = [tuple(int(end, 16) for end in words[0].split("-")) for words in ranges]
    inside = [any(a <= p.data_ptr() < b for a, b in spans) for p in backbone.model.parameters()]
    assert set(inside) == {mapped}


def storages():
    """Bytes of all tensors that are alive and hold numbers, each storage once."""
    gc.collect()
    kinds = torch.Tensor, torch.nn.Parameter  # isinstance wakes lazy modules; a compiler leaves fake tensors
    alive = [o for o in gc.get_objects() if type(o) in kinds]
    return {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in alive}


def test_a_frozen_reference_shares_the_backbone(tiny):
    policy = recommit.CommitPolicy.from_backbone(tiny, CONFIG, dtype=torch.bfloat16)
    beside = [*policy.depth_head.parameters(), *policy.decoder.parameters()]
    adapter = [p for name, p in policy.backbone.model.named_parameters() if "lora_" in name]
    before = storages()
    reference = ReferencePolicy(policy)
    new = {place: size for place, size in storages().items() if place not in before}
    assert sum(new.values()) == sum(p.nbytes for p in (*beside, *adapter))
    assert reference.policy is policy


@pytest.mark.parametrize(("saved", "asked"), [("float32", "bfloat16"), ("bfloat16", "float32")])
def test_the_same_weights_in_another_dtype_are_the_same(tmp_path, saved, asked):
    """Numbers that bfloat16 cannot hold, and the fingerprint still knows them."""
    folder = make_backbone(tmp_path / "backbone", "tiny", dtype="float32")
    policy = recommit.CommitPolicy.from_backbone(folder, CONFIG, dtype=getattr(torch, saved))
    policy.save_pretrained(tmp_path / "saved")
    assert {
        p.dtype for p in recommit.CommitPolicy.from_pretrained(tmp_path / "saved").backbone.vision_parameters()
    } == {getattr(torch, saved)}
    again = recommit.CommitPolicy.from_pretrained(tmp_path / "saved", dtype=getattr(torch, asked))
    assert {p.dtype for p in again.backbone.vision_parameters()} == {getattr(torch, asked)}


def test_a_policy_may_be_saved_where_it_was_read_from(tmp_path):
    """Its weights are pages of the very file that is written."""
    folder = make_backbone(tmp_path / "backbone", "tiny")
    whole = PolicyConfig(lora=None, decoder=CONFIG.decoder)
    recommit.CommitPolicy.from_backbone(folder, whole).save_pretrained(tmp_path / "saved")
    policy = recommit.CommitPolicy.from_pretrained(tmp_path / "saved")
    policy.save_pretrained(tmp_path / "saved")
    again = recommit.CommitPolicy.from_pretrained(tmp_path / "saved").state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in policy.state_dict().items())


@pytest.mark.gpu
def test_on_a_gpu_no_copy_stays_in_the_hosts_memory(tmp_path):
    shape = Shape(1024, 8, 8, 8, 4096, 64, 1, 2, 128, 28, ())
    folder = make_backbone(tmp_path / "backbone", shape, dtype="bfloat16")
    load_backbone(make_backbone(tmp_path / "tiny", "tiny"), device="cuda")  # whatever is set up once
    before = anonymous()
    backbone = load_backbone(folder, dtype=torch.bfloat16, device="cuda")
    assert {p.device.type for p in backbone.model.parameters()} == {"cuda"}
    assert anonymous() - before < sum(p.nbytes for p in backbone.model.parameters()) / 4


def anonymous():
    """Bytes that this process has for itself, those of no file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


LISTED = "Qwen/Qwen2.5-VL-7B-Instruct"
COMMIT, TAGGED = "0" * 39 + "1", "0" * 39 + "2"


@pytest.fixture
def hub(tiny, tmp_path, monkeypatch):
    """A hub with one backbone: a folder of links by commit, as its cache has them; what it was asked, and with bars."""
    import huggingface_hub
    from huggingface_hub.errors import DryRunError, LocalEntryNotFoundError
    from huggingface_hub.utils import are_progress_bars_disabled

    asked, here = [], set()

    def download(name, *, revision, dry_run=False, local_files_only=False, allow_patterns=None, ignore_patterns=None):
        commit = {None: COMMIT, "v2": TAGGED}.get(revision, revision)
        if local_files_only:
            if commit in here:
                return str(tmp_path / "snapshots" / commit)
            raise LocalEntryNotFoundError("no such snapshot")
        asked.append((name, revision, dry_run, not are_progress_bars_disabled()))
        files = huggingface_hub.utils.filter_repo_objects(
            ["original/model.safetensors", "model.bin", *(path.name for path in tiny.iterdir())],
            allow_patterns=allow_patterns,
            ignore_patterns=ignore_patterns,
        )
        folder = tmp_path / "snapshots" / commit
        if dry_run:
            if os.environ.get("HF_HUB_OFFLINE"):
                raise DryRunError("offline")
            return [SimpleNamespace(file_size=1.5e9, will_download=commit not in here) for _ in files]
        folder.mkdir(parents=True, exist_ok=True)
        for file in () if commit in here else files:
            (folder / file).symlink_to(tiny / file)
        here.add(commit)
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    return asked


def test_a_download_is_seen_and_its_commit_is_kept(hub, tiny, tmp_path, capsys, monkeypatch):
    policy = recommit.CommitPolicy.from_backbone(LISTED, CONFIG)
    size = 1.5 * len(list(tiny.iterdir()))
    assert f"backbone: {size:.2f} GB of {LISTED} go to " in capsys.readouterr().err
    assert hub == [(LISTED, None, True, False), (LISTED, None, False, True)]
    assert policy.revision == COMMIT
    about = policy.save_pretrained(tmp_path / "saved")
    for name in ("config.json", "adapter/adapter_config.json"):
        assert f'"revision": "{COMMIT}"' in (about / name).read_text()
    hub.clear()
    again = recommit.CommitPolicy.from_pretrained(tmp_path / "saved")
    assert (again.source, again.revision) == (LISTED, COMMIT)
    assert {revision for _, revision, *_ in hub} == {COMMIT}
    assert "GB of" not in capsys.readouterr().err
    moved = recommit.CommitPolicy.from_pretrained(tmp_path / "saved", backbone=tiny)
    assert (moved.source, moved.revision) == (str(tiny), "")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert recommit.CommitPolicy.from_pretrained(tmp_path / "saved").revision == COMMIT


def test_no_file_names_a_repository_that_is_not_listed(hub, tiny, tmp_path):
    name = "Qwen/Qwen2.5-VL-7B-Instructs"
    policy = recommit.CommitPolicy.from_backbone(tiny, CONFIG)
    policy.source, policy.revision = name, TAGGED
    saved = policy.save_pretrained(tmp_path / "saved")
    assert name not in "".join(path.read_text() for path in saved.rglob("*.json") if path.name != "DIGESTS")
    (saved / "DIGESTS").unlink()
    about = json.loads((saved / "config.json").read_text())
    about["backbone"]["source"] = name
    (saved / "config.json").write_text(json.dumps(about))
    with pytest.raises(ValueError, match=f"expected a backbone of .*, got '{name}"):
        recommit.CommitPolicy.from_pretrained(saved, backbone=tiny)
    assert not hub
    assert find_backbone(f"{name}@{TAGGED}")[1] == TAGGED, "what a call names is asked for, whatever it is"
    assert hub[0][:2] == (name, TAGGED)


def test_other_ranks_of_a_machine_leave_the_bars_to_the_first(hub, capsys, monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert find_backbone("me/backbone", "v2")[1] == TAGGED
    assert hub == 2 * [("me/backbone", "v2", True, False), ("me/backbone", "v2", False, False)]
    assert capsys.readouterr().err == ""


def test_a_path_asks_no_hub_and_a_hub_without_an_answer_is_a_sentence(hub, tiny, tmp_path, monkeypatch):
    import huggingface_hub

    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    read, wrong = recommit.CommitPolicy.from_pretrained, ["../../refs/main", "/etc", "a//b", "x" + chr(0), 7]
    nowhere = ["nosuch", "./no/such", "a/b/c", "runs/nosuch"]
    rows = [(lambda name=name: read(name), f"none by the name {name}") for name in nowhere]
    words = "revision: expected a commit, tag or branch, got"
    rows += [(lambda revision=revision: find_backbone("Qwen/backbone", revision), words) for revision in wrong]
    assert find_backbone(tiny) == (tiny, "")
    refused([*rows, (lambda: find_backbone(tiny, "v2"), "revision: expected none of the folder ")])
    assert not hub
    asked = []

    def offline(name, *, revision, dry_run=False):
        asked.append((name, revision, dry_run))
        raise ConnectionError("no route to host")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    words = "policy: expected a folder, or a repository that the hub has, got me/it"
    refused([(lambda: read("me/it"), f"{words}: no"), (lambda: read("me/it", revision="v2"), f"{words} at v2: no")])
    assert asked == [("me/it", None, True), ("me/it", "v2", True)]


def test_shapes_are_imagined_without_drawing_weights(monkeypatch):
    """To draw one on the meta device torch imports its compiler, which takes as long as torch itself."""
    from recommit.policy.checkpoint import imagined_heads
    from recommit.policy.config import HeadConfig

    def drawn(*_args, **_kwargs):
        raise AssertionError("a weight was drawn")

    monkeypatch.setattr(torch.Tensor, "normal_", drawn)
    decoder = DecoderConfig(width=32, layers=1, heads=4, ffn=64, depth_conditioning="embedding")
    for head in (HeadConfig(), HeadConfig(init="normal:0.01")):
        shapes = imagined_heads(PolicyConfig(decoder=decoder, head=head), 16)
        assert {tensor.device.type for tensor in shapes.values()} == {"meta"}
        assert shapes["depth_head.weight"].shape == (4, 16)


def test_a_path_is_no_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["me/policy", "nosuch", "./me/policy", "/me/policy", "a/b/c"]
    assert [is_repository(name) for name in names] == [True, False, False, False, False]
    (tmp_path / "me").mkdir()
    assert not any(map(is_repository, names))
