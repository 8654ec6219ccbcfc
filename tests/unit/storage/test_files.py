"""Names in a manifest stay inside the folder; nothing in the package unpickles."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import pytest
from tests.refusals import refused

import recommit
from recommit.data import manifest, shards
from recommit.data.builder import build
from recommit.data.spec import DataSpec, Difficulty
from recommit.storage import errors, verified
from recommit.storage.files import Files, sweep_files, temporary_name

PACKAGE = Path(recommit.__file__).parent
PLAN = DataSpec("sokoban", (6, 6), (Difficulty((2, 9), 1),), count=4)

HOSTILE = [
    "../train-00000-of-00001.parquet",
    "data/../../x.parquet",
    "data/train-00000-of-00001.parquet\n",
    "data/train-0-of-1.parquet",
    "data/train-00000-of-00002.parquet",
    "data/test-00000-of-00001.parquet",
    "data/train-\u0660\u0660\u0660\u0660\u0660-of-00001.parquet",
    "recipe.json",
    "",
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("set") / "set"
    build(PLAN, folder)
    return folder, json.loads((folder / manifest.NAME).read_text())


def reseal(folder, values):
    """Write a manifest whose own checksum fits, as an attacker would."""
    (folder / manifest.NAME).write_text(json.dumps({**values, "sha256": verified.digest(values)}))


ABSURD = [{"count": 10**12}, {"count": 10**8}, {"validation": 2**24}, {"count": 2**19}]


def test_a_manifest_of_hostile_names_or_none_at_all_is_refused(plain, tmp_path, monkeypatch):
    """More files than there may be, or than are listed, are refused before their names are made up."""
    plain = plain[1]
    read = lambda values: (reseal(tmp_path, {**plain, **values}), manifest.read(tmp_path))
    wrong = [{"shards": [{**plain["shards"][0], "name": name}]} for name in HOSTILE]
    wrong += [{"shards": {}}, {"shards": [None]}]
    refused([(lambda values=values: read(values), "shards") for values in wrong], errors.Damaged)
    wrong = [{"recipe": None}, {"recipe": {"task": "chess"}}, {"content_sha256": None}]
    refused([(lambda values=values: read(values), "manifest.json: ") for values in wrong], errors.Damaged)
    for text in (b"", b"[]", b"\xff", b"null", b"[" * 100_000, b'{"a": NaN}'):
        (tmp_path / manifest.NAME).write_bytes(text)
        refused([(lambda: manifest.read(tmp_path), "manifest.json: ")], errors.Damaged)
    monkeypatch.setattr(manifest, "order", lambda _: pytest.fail("listed every name"))
    for change in ABSURD:
        recipe = {**plain["recipe"], "shard": 1, **change}
        refused([(lambda recipe=recipe: read({"recipe": recipe}), ": expected")], errors.Damaged)
    for change in ABSURD[:-1]:
        spec = {**PLAN.to_dict(), "shard": 1, **change}
        refused([(lambda spec=spec: build(DataSpec.from_dict(spec), tmp_path / "built"), ": expected")])
    assert not (tmp_path / "built").exists()


def test_a_shard_is_checked_when_it_is_read(plain, tmp_path):
    """Bits that flip leave many a shard readable, with other rows."""
    record = shards.Record(**plain[1]["shards"][0])
    (tmp_path / "data").mkdir()
    data = (plain[0] / record.name).read_bytes()
    for at in range(0, len(data), 97):
        (tmp_path / record.name).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(errors.Damaged, match=rf"{record.name}: not what the manifest says"):
            shards.read(tmp_path, PLAN, record)
    (tmp_path / record.name).write_bytes(data)
    assert shards.read(tmp_path, PLAN, record).sha256() == record.content


@pytest.mark.parametrize("name", [".lock", ".journal", "recipe.json", "manifest.json", "README.md"])
def test_nothing_is_built_through_a_link(tmp_path, name):
    """In a folder that came with a recipe and links in it."""
    (tmp_path / "mine").write_text("mine\n")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "recipe.json").write_text(PLAN.to_json())
    (tmp_path / "set" / name).unlink(missing_ok=True)
    (tmp_path / "set" / name).symlink_to(tmp_path / "mine")
    with contextlib.suppress(errors.DataError):
        build(PLAN, tmp_path / "set")
    assert (tmp_path / "mine").read_text() == "mine\n"


def test_links_out_of_the_folder(plain, tmp_path):
    """A shard that is a link to another file is that file, whatever it is: no Parquet, or not the hash."""
    record = shards.Record(**plain[1]["shards"][0])
    (tmp_path / "data").mkdir()
    for target in ("/etc/passwd", "/dev/null", str(tmp_path), str(tmp_path / "nowhere")):
        (tmp_path / record.name).symlink_to(target)
        with pytest.raises(errors.DataError):
            shards.read(tmp_path, PLAN, record)
        with contextlib.suppress(errors.DataError):
            assert not shards.intact(tmp_path, record)
        (tmp_path / record.name).unlink()


#: What can run foreign code, or take an archive apart, where a name could lead anywhere.
UNSAFE = re.compile(
    r"^ *(?:import|from) .*\b(?:c?[pP]ickle|marshal|shelve|dill|cloudpickle|joblib)\b|(?<![.\w])(?:eval|exec)\("
    r"|yaml\.(?:unsafe_|full_)?load\(|allow_pickle=True|weights_only=False|torch\.load\((?!.*weights_only=True)"
    r"|extractall|\.extract\(|unpack_archive|ZipFile",
    re.MULTILINE,
)


def test_the_package_unpickles_and_unpacks_nothing():
    for planted in ("from pickle import loads", "yaml.load(x)", "torch.load(x)", "np.load(x, allow_pickle=True)"):
        assert UNSAFE.search(planted)
    sites = {path: UNSAFE.findall(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    assert len(sites) > 20
    assert {path: found for path, found in sites.items() if found} == {}


def test_only_what_an_interrupted_writer_left_is_swept_from_a_folder_of_anything(tmp_path):
    own = [temporary_name(tmp_path / "config.json"), temporary_name(tmp_path / "backbone" / "config.json")]
    own.append(tmp_path / "backbone" / ".tmp7ELL8Y")  # of safetensors
    others = [tmp_path / ".mine.tmp", tmp_path / "config.json", tmp_path / ".x.12-0123456.tmp", tmp_path / "notes.tmp"]
    (tmp_path / "backbone").mkdir()
    (tmp_path / "elsewhere").symlink_to(tmp_path.parent, target_is_directory=True)
    outside = temporary_name(tmp_path.parent / "config.json")
    for path in (*own, *others, outside):
        path.write_text("")
    sweep_files(Files(), tmp_path)
    assert not any(path.exists() for path in own)
    assert all(path.exists() for path in (*others, outside))
    outside.unlink()
