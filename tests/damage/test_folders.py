"""F16: finished folders in which a bit flips, a value is another one, or a text leads elsewhere.

Every reader notices the damage by the name of the file or learns what it would have learned, and reaches nothing beyond
the folders. (What lies in the place of a file: tests/unit/storage.)
"""

from __future__ import annotations

import os
import pickle
import random
import re
import socket
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib.font_manager")  # which makes its cache now, not beside the guard
import pyarrow.parquet as pq
from tests.damage import changes, finished, harness
from tests.damage.harness import SEEN, SILENT, Folders

from recommit.data import shards
from recommit.evaluate.store import EvaluationStore
from recommit.policy import checkpoint
from recommit.report import html
from recommit.runs import checkpoints
from recommit.storage import verified

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no links and pipes in folders there")
#: What people and other programs read, and what the machine took: no digest, and no command reads it again.
ELSEWHERE = re.compile(r"(.*/)?(README\.md|tables\.md|timing\.jsonl)|plan\.yaml|adapted/.*")
SEED = int(os.environ.get("RECOMMIT_FLIPS_SEED", "0"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return Folders(tmp_path_factory.mktemp("damage"))


def unread(folders):
    return [name for name, uses in folders.readers.items() if not uses and not ELSEWHERE.fullmatch(name)]


def chosen(cases, variable):
    """All of them in a random order, or as many as a variable says."""
    random.Random(0).shuffle(cases)
    return cases[: int(os.environ.get(variable, "0")) or None]


def wrong(found):
    """Each said at once: a campaign is long."""
    lines = []
    for line in filter(None, found):
        lines.append(line)
        print(line, flush=True)
    assert lines == []


def test_every_file_is_read_and_random_bits_are_noticed(folders, record_property):
    """The harness would prove nothing of files that its readers do not open."""
    assert unread(folders) == []
    assert {*BITS, SHARD, "sft/DIGESTS", "graph/nodes.parquet"} <= {
        name for name, uses in folders.readers.items() if uses
    }
    record_property("executed", 200)
    wrong(folders.flips(200, SEED))


SHARD = "data/data/train-00000-of-00001.parquet"
LAST = "its last byte"
#: Of each kind of file a byte, behind a text, of which another bit changes what is learned and spoils no format.
BITS = {
    "sft/checkpoints/step-00000002/policy/heads.safetensors": LAST,
    "sft/backbone/model.safetensors": LAST,
    "sft/metrics.jsonl": '"loss": ',
    "eval/summary.json": '"solve_rate": ',
    "eval/plan.json": '"seed": ',
}


def test_readers_that_do_not_check_are_seen(folders, monkeypatch):
    bits = {}
    for name, where in BITS.items():
        whole = (folders.place / name).read_bytes()
        bits[name] = 8 * (len(whole) - 1 if where == LAST else whole.index(where.encode()) + len(where))
    assert {name: folders.flip(name, bit) for name, bit in bits.items()} == dict.fromkeys(bits, SEEN)
    monkeypatch.setattr(verified, "digests", lambda _: {})
    monkeypatch.setattr(EvaluationStore, "_note", lambda *_: None)  # which would write down what it did not find
    monkeypatch.setattr(shards, "intact", lambda *_: True)
    monkeypatch.setattr(checkpoints, "verify", lambda folder: int(folder.name[5:]))
    assert {name: folders.flip(name, bit) for name, bit in bits.items()} == dict.fromkeys(bits, SILENT)
    size = (folders.place / SHARD).stat().st_size  # a format gives some bits of a shard away
    assert SILENT in {folders.flip(SHARD, 8 * at + 1) for at in range(4, size - 8, max(1, size // 100))}


@pytest.fixture(scope="module")
def acting(folders):
    """All readers of the registry, which ask a hub where a file names one."""
    uses = [*folders.uses, *finished.acting()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        for use in [*finished.acting(), *uses]:  # the first time imports libraries
            folders.usual[use] = folders.reached(use)
            assert folders.usual[use].reached == [], use.name
        assert [use.name for use in uses if folders.usual[use].error] == []
        yield uses


#: Where a text once led elsewhere, and a text of every other kind of file.
NAMES = (
    ("sft/best.json", ("policy",), "folder"),
    ("sft/best.json", ("policy",), "near"),
    ("adapted/config.json", ("backbone", "source"), "repository"),
    ("adapted/config.json", ("policy", "prompts", 0), "file"),
    ("plan.yaml", ("sft", "model", "backbone"), "repository"),
    ("eval/summary.json", (0, "task"), "file"),
    ("eval/plan.json", ("agents", 0), "folder"),
    ("eval/plan.json", ("run",), "folder"),
    ("data/manifest.json", ("shards", 0, "name"), "file"),
    ("graph/manifest.json", ("task",), "near file"),
    ("sft/config.json", ("data", "recipe", "task"), "near"),
    ("sft/backbone/config.json", ("model_type",), "repository"),
    ("sft/backbone/tokenizer_config.json", ("tokenizer_class",), "file"),
)


def test_texts_lead_nowhere(folders, acting, record_property):
    record_property("executed", len(NAMES))
    wrong(line for case in NAMES for line in folders.named(acting, *case))


#: Readers that believe a name, and a text by which that is noticed.
TRUSTING = {
    "a run": ((verified, "inside", lambda folder, name: folder / name), NAMES[0], "read"),
    "a policy": ((checkpoint, "LISTED", {"evil/repository": ""}), NAMES[2], "network"),
    "a page": ((html, "rules", lambda task: Path(f"{task}.js").read_text()), NAMES[5], "read"),
}


@pytest.mark.parametrize("reader", TRUSTING)
def test_a_reader_that_trusts_is_seen(folders, acting, monkeypatch, reader):
    patch, case, what = TRUSTING[reader]
    monkeypatch.setattr(*patch)
    assert f"{case[2]}: {what}: " in "\n".join(folders.named(acting, *case))


@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("write", lambda here: (here.parent / "elsewhere").write_text("x")),
        ("read", lambda here: (here.parent / "mine" / "x").read_text()),
        ("network", lambda _: socket.create_connection(("127.0.0.1", 9))),
        ("program", lambda _: os.system("true")),
        ("unpickled", lambda _: pickle.loads(pickle.dumps(Path))),
    ],
)
def test_the_guard_hears(tmp_path, what, call):
    with pytest.raises(harness.Reached), harness.guard().listening(tmp_path / "here", tmp_path / "mine") as guard:
        call(tmp_path / "here")
    assert [each for each, _ in guard.reached] == [what]
    assert not list(tmp_path.iterdir())


def odd(folders, count, seed):
    """What is wrong with a page of an evaluation in which values of JSON and of tables are others, digests and all."""
    rng, names = random.Random(seed), [name for name in folders.files("eval") if name.endswith((".json", ".parquet"))]
    for _ in range(count):
        name = rng.choice(names)
        if name.endswith(".json"):
            tree = folders.tree(name)
            value = changes.mutated(rng, tree, changes.words_of([tree]))
            if harness.unwritable(value):
                continue
        else:
            value = changes.table(rng, pq.read_table(folders.place / name))
        with folders.resealed(name, value):
            error = folders.ended(finished.PAGE).error
        if error and not (isinstance(error, ValueError) and any(Path(each).name in str(error) for each in names)):
            yield f"{name}: {error}"


def test_odd_values_end_in_a_page_or_a_sentence(folders, monkeypatch, record_property):
    monkeypatch.setattr("recommit.report.plotting.content", lambda *_: b"")  # to paint takes most of a page's time
    record_property("executed", 16)
    wrong(odd(folders, 16, 0))


@pytest.mark.nightly
def test_ten_thousand_bits(tmp_path, record_property):
    count = int(os.environ.get("RECOMMIT_FLIPS", "10000"))
    record_property("executed", count)
    folders = Folders(tmp_path, every=True)
    assert unread(folders) == []
    wrong(folders.flips(count, SEED + 1))


@pytest.mark.nightly
def test_every_text_of_every_file(folders, acting, record_property):
    names = [name for name in folders.readers if name.endswith((".json", ".yaml"))]
    places = changes.elsewhere("/", "/")
    cases = [(name, path, each) for name in names for path in changes.texts(folders.tree(name)) for each in places]
    cases = chosen(cases, "RECOMMIT_NAMES")
    record_property("executed", len(cases))
    wrong(line for case in cases for line in folders.named(acting, *case))


@pytest.mark.nightly
def test_many_odd_values(folders, record_property):
    record_property("executed", 2000)
    wrong(odd(folders, 2000, 1))
