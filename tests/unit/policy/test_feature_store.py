"""Kept features are the encoder's to the bit, or they are computed again."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings
from contextlib import nullcontext
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones.make import make_backbone
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.feature_store import SUFFIX, FeatureStore, key_of, weights_of
from recommit.storage.files import Files

ADAPTED = PolicyConfig(lora=LoraConfig(), decoder=DecoderConfig(width=32, layers=1, heads=4, ffn=64))
TASK = recommit.Sliding(3)
STATES = TASK.generate(12, seed=0).states
ABOUT = {"encoder": "a", "shape": [3, 3]}
LIMIT = 1 << 20


def some(numbers, size=64):
    """Features by key, different for every number."""
    return {key_of(bytes([n])): torch.full((2, size), float(n)) for n in numbers}


def segments(folder):
    return sorted(folder.rglob(f"*{SUFFIX}"))


def test_what_is_added_is_found_here_and_by_the_next(tmp_path):
    wanted = some(range(5))
    store = FeatureStore(tmp_path, ABOUT, LIMIT)
    assert store.get(wanted) == {}
    store.add(wanted)
    for reader in (store, FeatureStore(tmp_path, ABOUT, LIMIT)):
        found = reader.get([*wanted, key_of(b"another")])
        assert found.keys() == wanted.keys()
        assert all(torch.equal(found[key], wanted[key]) for key in wanted)
        assert reader.damaged == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_type_comes_back(tmp_path, dtype):
    given = torch.randn(3, 5).to(dtype)
    FeatureStore(tmp_path, ABOUT, LIMIT).add({key_of(b"x"): given})
    found = FeatureStore(tmp_path, ABOUT, LIMIT).get([key_of(b"x")])[key_of(b"x")]
    assert found.dtype == dtype
    assert torch.equal(found, given)


def test_other_features_are_not_mixed_up(tmp_path):
    FeatureStore(tmp_path, ABOUT, LIMIT).add(some([1]))
    other = FeatureStore(tmp_path, {**ABOUT, "encoder": "b"}, LIMIT)
    assert other.get(some([1])) == {}
    name = segments(tmp_path)[0].name
    (other.folder / name).write_bytes(segments(tmp_path)[0].read_bytes())  # a segment in the wrong folder
    with pytest.warns(RuntimeWarning, match="a header of other features"):
        assert FeatureStore(tmp_path, {**ABOUT, "encoder": "b"}, LIMIT).get(some([1])) == {}


def test_every_flipped_byte_is_noticed(tmp_path):
    """In the header the segment is given up, in a record that record; what is found is always right."""
    wanted = some(range(3), size=4)
    FeatureStore(tmp_path / "whole", ABOUT, LIMIT).add(wanted)
    (path,) = segments(tmp_path / "whole")
    whole = path.read_bytes()
    folder = FeatureStore(tmp_path / "spoilt", ABOUT, LIMIT).folder
    for place in range(len(whole)):
        spoilt = bytearray(whole)
        spoilt[place] ^= 1 << place % 8
        (folder / path.name).write_bytes(spoilt)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            store = FeatureStore(tmp_path / "spoilt", ABOUT, LIMIT)
            found = store.get(wanted)
        assert len(found) in ((0,) if len(store) == 0 else (2,)), place
        assert all(torch.equal(found[key], wanted[key]) for key in found)


def test_every_truncation_keeps_the_whole_records(tmp_path):
    wanted = some(range(3), size=4)
    FeatureStore(tmp_path / "whole", ABOUT, LIMIT).add(wanted)
    (path,) = segments(tmp_path / "whole")
    whole, record = path.read_bytes(), 16 + 32 + 4
    folder = FeatureStore(tmp_path / "cut", ABOUT, LIMIT).folder
    for remaining in range(len(whole) - 3 * record, len(whole)):
        (folder / path.name).write_bytes(whole[:remaining])
        store = FeatureStore(tmp_path / "cut", ABOUT, LIMIT)
        assert len(store.get(wanted)) == (remaining - len(whole) + 3 * record) // record
        assert store.damaged == 0


def test_the_folder_stays_below_its_limit_and_forgets_the_oldest(tmp_path):
    limit = 40_000
    for turn in range(6):
        FeatureStore(tmp_path, {"encoder": str(turn % 2)}, limit).add(some(range(turn * 30, turn * 30 + 30)))
        assert sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file()) <= limit
    assert len(FeatureStore(tmp_path, {"encoder": "1"}, limit).get(some(range(150, 180)))) == 30
    assert len(FeatureStore(tmp_path, {"encoder": "0"}, limit).get(some(range(30)))) == 0


def test_a_segment_that_made_room_for_others_is_not_missed(tmp_path):
    store = FeatureStore(tmp_path, ABOUT, LIMIT)
    store.add(some([1]))
    segments(tmp_path)[0].unlink()
    assert store.get(some([1])) == {}
    store.add(some([2]))
    assert len(segments(tmp_path)) == 1
    for reader in (store, FeatureStore(tmp_path, ABOUT, LIMIT)):
        assert reader.get(some([1, 2])).keys() == some([2]).keys()
        assert reader.damaged == 0


def test_a_limit_below_one_state_says_so(tmp_path):
    store = FeatureStore(tmp_path, ABOUT, 100)
    with pytest.warns(RuntimeWarning, match="a state takes .* bytes, and the limit is 100"):
        store.add(some([1]))
    store.add(some([2]))
    assert segments(tmp_path) == []


class Full(Files):
    """A disk with room for so many bytes."""

    def __init__(self, room):
        self.room = room

    def write(self, descriptor, data):
        part = data[: self.room]
        if not part:
            raise OSError(28, "No space left on device")
        self.room -= len(part)
        return super().write(descriptor, part)


@pytest.mark.parametrize("room", [0, 100, 500, 900, 1300, 5000])
def test_a_full_disk_ends_the_writing_and_nothing_else(tmp_path, room):
    wanted = some(range(8))
    store = FeatureStore(tmp_path, ABOUT, LIMIT, Full(room))
    with pytest.warns(RuntimeWarning, match="no more features are kept") if room < 4500 else nullcontext():
        store.add(wanted)
    store.add(wanted)
    for reader in (store, FeatureStore(tmp_path, ABOUT, LIMIT)):
        found = reader.get(wanted)
        assert all(torch.equal(found[key], wanted[key]) for key in found)


WRITER = """
import sys, torch
from recommit.policy.feature_store import FeatureStore, key_of
store = FeatureStore(sys.argv[1], {"encoder": "a", "shape": [3, 3]}, 1 << 20)
for n in range(int(sys.argv[2]), int(sys.argv[3])):
    store.add({key_of(bytes([n])): torch.full((2, 64), float(n))})
"""


def test_two_processes_write_at_once(tmp_path):
    ranges = [("0", "150"), ("100", "250")]
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), *each]) for each in ranges]
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(len(FeatureStore(tmp_path, ABOUT, LIMIT)) for _ in range(50)))
    reader.start()
    assert [process.wait() for process in running] == [0, 0]
    reader.join()
    store = FeatureStore(tmp_path, ABOUT, LIMIT)
    wanted = some(range(250))
    found = store.get(wanted)
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[key], wanted[key]) for key in wanted)
    assert store.damaged == 0


def test_one_bit_of_the_encoder_is_another_encoder(tiny):
    policy = recommit.CommitPolicy.from_backbone(tiny, ADAPTED)
    before = weights_of(policy.backbone.vision_parameters())
    with torch.no_grad():
        last = list(policy.backbone.vision_parameters())[-1]
        last.view(-1)[-1] = torch.nextafter(last.view(-1)[-1], torch.tensor(9.0))
    assert weights_of(policy.backbone.vision_parameters()) != before


@pytest.mark.parametrize("preset", ["tiny", "tiny-qwen3-vl", "tiny-internvl"])
def test_the_next_policy_encodes_nothing(preset, tmp_path, monkeypatch):
    folder = make_backbone(tmp_path / "backbone", preset)
    first = recommit.CommitPolicy.from_backbone(folder, ADAPTED).eval()
    first.vision.keep(tmp_path / "kept", LIMIT << 6)
    with torch.no_grad():
        z = first.look(TASK, STATES)
    second = recommit.CommitPolicy.from_backbone(folder, ADAPTED).eval()
    second.vision.keep(tmp_path / "kept", LIMIT << 6)
    monkeypatch.setattr(second.backbone, "features", lambda *_: pytest.fail("encoded again"))
    with torch.no_grad():
        assert torch.equal(second.look(TASK, STATES), z)
    (store,) = second.vision._stores.values()
    assert store.hits == len(STATES)


def test_another_look_is_another_store(tiny, tmp_path):
    for theme in ("light", "dark"):
        policy = recommit.CommitPolicy.from_backbone(tiny, replace(ADAPTED, theme=theme)).eval()
        policy.vision.keep(tmp_path, LIMIT)
        policy.act(TASK, STATES)
        assert [store.hits for store in policy.vision._stores.values()] == [0]
    assert len(list(tmp_path.iterdir())) == 2


def test_an_encoder_that_is_trained_is_refused(tiny, tmp_path):
    policy = recommit.CommitPolicy.from_backbone(tiny, PolicyConfig(lora=None, decoder=ADAPTED.decoder))
    with pytest.raises(ValueError, match="vision_cache: expected a picture encoder that is frozen"):
        policy.vision.keep(tmp_path, LIMIT)
