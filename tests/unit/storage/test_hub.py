"""What goes to a hub, or to a folder in its place."""

from __future__ import annotations

import sys
import types

import pytest
from tests.refusals import refused

from recommit.storage import errors, hub


@pytest.fixture
def upload(tmp_path):
    folder = tmp_path / "folder"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "a.parquet").write_bytes(b"rows")
    (folder / "README.md").write_text("old")
    (folder / ".lock").write_text("")
    return hub.Upload("me/set", "dataset", folder, {"README.md": "new"})


def test_a_folder_stands_in_for_a_hub(upload, tmp_path):
    place = tmp_path / "hub" / "datasets" / "me" / "set"
    assert upload.copy(tmp_path / "hub") == place
    assert {path.name for path in place.rglob("*") if path.is_file()} == {"a.parquet", "README.md"}
    assert (place / "README.md").read_text() == "new"
    assert (place / "data" / "a.parquet").read_bytes() == b"rows"


def test_what_is_sent(upload, monkeypatch):
    sent = []

    class Hub:
        def create_repo(self, repo, **options):
            sent.append((repo, options["private"]))

        def create_commit(self, repo, operations, **_):
            sent.append((repo, sorted(operation[0] for operation in operations)))
            return types.SimpleNamespace(commit_url="address")

    client = types.SimpleNamespace(HfApi=Hub, CommitOperationAdd=lambda *pair: pair)
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    assert upload.send() == "address"
    assert sent == [("me/set", True), ("me/set", ["README.md", "data/a.parquet"])]


def test_other_names_and_links_are_refused_and_nothing_is_written_through_one(upload, tmp_path):
    (tmp_path / "id_rsa").write_text("secret")
    (victim := tmp_path / "victim").mkdir()
    names = ["set", "me/", "../set", "me/a/b", "me/..", "me/a b"]
    rows = [(lambda n=n: hub.Upload(n, "model", tmp_path, {}), "repo: expected owner/name, got") for n in names]
    for number, name in enumerate(["datasets", "datasets/me", "datasets/me/set", "datasets/me/set/data"]):
        place = tmp_path / str(number)
        (place / name).parent.mkdir(parents=True)
        (place / name).symlink_to(victim)
        rows.append((lambda place=place: upload.copy(place), f"{name}: expected a folder, got a link"))
    refused(rows, errors.WrongFolder)
    assert not list(victim.iterdir())
    for name in ("b.parquet", "data/b", ".hidden"):
        (upload.folder / name).symlink_to(tmp_path / "id_rsa")
        refused([(lambda: upload.copy(tmp_path / "hub"), f"got a link: {upload.folder / name}")])
        (upload.folder / name).unlink()
    assert not (tmp_path / "hub").exists()


def test_a_path_is_no_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["me/policy", "nosuch", "./me/policy", "/me/policy", "a/b/c"]
    assert [hub.is_repository(name) for name in names] == [True, False, False, False, False]
    (tmp_path / "me").mkdir()
    assert not any(map(hub.is_repository, names))
