"""What goes to a hub, to a folder in its place, and to nobody unless somebody says so."""

from __future__ import annotations

import os
import sys
import types

import pytest

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
    assert str(tmp_path / "hub" / "datasets" / "me" / "set") in hub.push(upload, tmp_path / "hub", False)
    place = tmp_path / "hub" / "datasets" / "me" / "set"
    assert {path.name for path in place.rglob("*") if path.is_file()} == {"a.parquet", "README.md"}
    assert (place / "README.md").read_text() == "new"
    assert (place / "data" / "a.parquet").read_bytes() == b"rows"


def test_nothing_is_sent_unless_asked(upload, monkeypatch):
    sent = []

    class Hub:
        def create_repo(self, repo, **options):
            sent.append((repo, options["private"]))

        def create_commit(self, repo, operations, **_):
            sent.append((repo, sorted(operation[0] for operation in operations)))
            return types.SimpleNamespace(commit_url="address")

    client = types.SimpleNamespace(HfApi=Hub, CommitOperationAdd=lambda *pair: pair)
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    assert hub.push(upload, None, False).startswith("nothing sent: me/set would get 2 files of 7 bytes")
    assert sent == []
    assert hub.push(upload, None, True) == "sent to address"
    assert sent == [("me/set", True), ("me/set", ["README.md", "data/a.parquet"])]


@pytest.mark.parametrize("repo", ["set", "me/", "../set", "me/a/b", "me/..", "me/a b"])
def test_names_that_are_none_are_refused(repo, tmp_path):
    with pytest.raises(errors.WrongFolder, match="repo: expected owner/name, got"):
        hub.Upload(repo, "model", tmp_path, {})


def test_a_folder_and_sending_exclude_each_other(upload, tmp_path):
    with pytest.raises(errors.WrongFolder, match="hub: expected a local folder or --send, got both"):
        hub.push(upload, tmp_path, True)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.parametrize("name", ["b.parquet", "data/b", ".hidden"])
def test_links_are_refused(upload, tmp_path, name):
    (tmp_path / "id_rsa").write_text("secret")
    (upload.folder / name).symlink_to(tmp_path / "id_rsa")
    with pytest.raises(errors.WrongFolder, match=f"folder: expected files, got a link: .*{name}"):
        hub.push(upload, tmp_path / "hub", False)
    assert not (tmp_path / "hub").exists()


@pytest.mark.parametrize(
    ("name", "repository"),
    [("me/policy", True), ("nosuch", False), ("./me/policy", False), ("/me/policy", False), ("a/b/c", False)],
)
def test_a_path_is_no_repository(name, repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert hub.is_repository(name) == repository
    (tmp_path / "me").mkdir()
    assert not hub.is_repository(name)


@pytest.mark.parametrize("name", ["datasets", "datasets/me", "datasets/me/set", "datasets/me/set/data"])
def test_a_link_in_the_place_of_a_hubs_folder_is_refused(upload, tmp_path, name):
    victim = tmp_path / "victim"
    victim.mkdir()
    link = tmp_path / "hub" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(victim)
    with pytest.raises(errors.WrongFolder, match=f"{name}: expected a folder, got a link"):
        upload.copy(tmp_path / "hub")
    assert not list(victim.iterdir())
