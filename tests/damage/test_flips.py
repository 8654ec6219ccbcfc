"""F16: one bit of a finished file flips. Whoever reads the file notices, or learns exactly what it would have learned.

A file that no use opens cannot change what any of them learns; which files a use opens is heard while nothing is
damaged.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")
import torch
from tests.damage import finished
from tests.damage.finished import NOTICED, Ear

from recommit.data import shards
from recommit.evaluate.store import EvaluationStore
from recommit.runs import checkpoints
from recommit.storage import verified

SAME, SEEN = "the same result", "noticed"
NAMELESS, SILENT = "an error that does not name the file", "another result, unnoticed"
#: What is for people and for other programs, and what the machine took: no digest, and no command reads it again.
ELSEWHERE = re.compile(
    r"(.*/)?(README\.md|tables\.md|timing\.jsonl)|plan\.yaml"
    r"|(export|pictures|scores|joint/tensorboard)/.*"
)
KINDS = (SAME, SEEN, NAMELESS, SILENT)


class Flips:
    """Finished folders, what every use learns of them, and which files it opens."""

    def __init__(self, place, ear, **options):
        self.place = finished.make(place, **options)
        gathered = {use: ear.during(use, place) for use in finished.uses(place)}
        self.learned = {use: text for use, (text, _) in gathered.items()}
        self.readers = {
            name: [use for use, (_, names) in gathered.items() if name in names] for name in finished.every_file(place)
        }

    def unread(self):
        """Files that no use opens, though they are for commands."""
        return [name for name, uses in self.readers.items() if not uses and not ELSEWHERE.fullmatch(name)]

    def flip(self, name, bit):
        """What becomes of it, by the worst of its readers."""
        path = self.place / name
        whole = path.read_bytes()
        data = bytearray(whole)
        data[bit >> 3] ^= 1 << (bit & 7)
        path.write_bytes(data)
        try:
            outcomes = [self._judged(use, path) for use in self.readers[name]]
        finally:
            path.write_bytes(whole)
        return max(outcomes, key=KINDS.index)

    def _judged(self, use, path):
        try:
            return SAME if use(self.place) == self.learned[use] else SILENT
        except NOTICED as error:
            return SEEN if path.name in str(error) else NAMELESS

    def campaign(self, count, seed):
        """Random bits of random files that somebody reads, each file as likely as another."""
        rng, names = random.Random(seed), [name for name, uses in self.readers.items() if uses]
        outcomes, bad = Counter(), []
        for _ in range(count):
            name = rng.choice(names)
            bit = rng.randrange(8 * (self.place / name).stat().st_size)
            outcome = self.flip(name, bit)
            outcomes[outcome] += 1
            if outcome in (NAMELESS, SILENT):
                bad.append(f"{name}, bit {bit}: {outcome}")
        print(f"seed {seed}: {dict(outcomes)} of {count}")
        return bad


@pytest.fixture(scope="module")
def ear():
    torch.set_num_threads(1)
    return Ear()


@pytest.fixture(scope="module")
def flips(ear, tmp_path_factory):
    return Flips(tmp_path_factory.mktemp("finished"), ear)


def test_what_matters_is_read(flips):
    """The harness would prove nothing of files that its uses do not open."""
    read = {name for name, uses in flips.readers.items() if uses}
    for name in (
        "data/manifest.json",
        "data/data/train-00000-of-00001.parquet",
        "sft/config.json",
        "sft/best.json",
        "sft/metrics.jsonl",
        "sft/DIGESTS",
        "eval/plan.json",
        "eval/summary.json",
        "eval/DIGESTS",
        "eval/episodes.parquet",
        "eval/decisions/adaptive@3.parquet",
        "sft/backbone/model.safetensors",
        "sft/checkpoints/step-00000002/DIGESTS",
        "sft/checkpoints/step-00000002/policy/heads.safetensors",
        "graph/manifest.json",
        "graph/nodes.parquet",
        "graph/starts.parquet",
        "graph/DIGESTS",
    ):
        assert name in read
    assert flips.unread() == []


def test_random_bits(flips, record_property):
    count, seed = 200, int(os.environ.get("RECOMMIT_FLIPS_SEED", "0"))
    record_property("executed", count)
    bad = flips.campaign(count, seed)
    assert bad == [], "\n".join(bad)


#: A bit of each kind of file that changes what is learned and spoils no format.
PLANTED = {
    "sft/checkpoints/step-00000002/policy/heads.safetensors": -8,
    "sft/backbone/model.safetensors": -8,
    "sft/metrics.jsonl": '"loss": ',
    "eval/summary.json": '"solve_rate": ',
    "eval/plan.json": '"seed": ',
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_harness_sees_readers_that_do_not_check(flips, monkeypatch, name):
    whole = (flips.place / name).read_bytes()
    where = PLANTED[name]
    bit = 8 * len(whole) + where if isinstance(where, int) else 8 * (whole.index(where.encode()) + len(where))
    assert flips.flip(name, bit) == SEEN
    monkeypatch.setattr(verified, "digests", lambda _: {})
    monkeypatch.setattr(EvaluationStore, "_note", lambda *_: None)  # which would write down what it did not find
    monkeypatch.setattr(shards, "intact", lambda *_: True)
    monkeypatch.setattr(checkpoints, "verify", lambda folder: int(folder.name[5:]))
    assert flips.flip(name, bit) == SILENT


def test_the_harness_sees_shards_that_are_not_checked(flips, monkeypatch):
    """Of some bits of a shard nobody tells by its format that they have flipped."""
    monkeypatch.setattr(shards, "intact", lambda *_: True)
    name = "data/data/train-00000-of-00001.parquet"
    size = (flips.place / name).stat().st_size
    assert SILENT in {flips.flip(name, 8 * at + 1) for at in range(4, size - 8, max(1, size // 100))}


@pytest.mark.nightly
def test_ten_thousand_bits(ear, tmp_path, record_property):
    count = int(os.environ.get("RECOMMIT_FLIPS", "10000"))
    record_property("executed", count)
    seed = int(os.environ.get("RECOMMIT_FLIPS_SEED", "1"))
    flips = Flips(tmp_path, ear, every=True)
    assert flips.unread() == []
    bad = flips.campaign(count, seed)
    assert bad == [], "\n".join(bad)
