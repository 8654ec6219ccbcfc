"""F17: links of a stranger in the folder that a verb is to write into: nothing is written through any of them."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")
from tests.damage import finished
from tests.damage.test_hostile import called

from recommit.cli import main
from recommit.storage import files

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no links in folders there")
#: What each link leads to: a file of the user's, a folder of the user's, and a file that is not there yet.
TARGETS = ("bashrc", "photographs", "authorized_keys")
#: Of which a part is drawn anew each time.
TEMPORARY = re.compile(r"\.[^/]*\.\d+-[0-9a-f]{8}\.tmp|\.tmp\w{6}")
LEVELS = ("--task", "sokoban", "--size", "6", "--boxes", "1", "--length", "4", "20", "--count", "2")
#: Verbs of the quick tier: they need levels and a data set alone. Paths begin with a dot.
QUICK = {
    "levels generate": ("levels", "generate", *LEVELS, "--out", "./new/levels.txt"),
    "data build": finished.COMMANDS["data build"],
    "data export": ("data", "export", "./data", "--out", "./new"),
    "data export to a hub": ("data", "export", "./data", "--push", "a/b", "--hub", "./new"),
}
NIGHTLY = {
    **QUICK,
    **finished.COMMANDS,
    "render": ("render", "./levels.txt", "--plan", "solve", "--out", "./new/plan.gif"),
    "data show": ("data", "show", "./data", "--picture", "./new/data.png"),
    "graph score": ("graph", "score", "./graph", "--rules", "fixed-2", "--budget", "2", "--quiet", "--out", "./new"),
    "graph show to a hub": ("graph", "show", "./graph", "--push", "a/b", "--hub", "./new"),
    "report": ("report", "./eval", "--out", "./new/page.html"),
}


class Place:
    """A folder that verbs work in, a stranger's folder ``new`` in it, and the user's own things beside it."""

    def __init__(self, kept: Path, here: Path) -> None:
        self.kept, self.here = kept, here
        self.home = here / "home"

    def begin(self, words: tuple[str, ...]) -> None:
        """What a verb needs, and an empty folder to write into."""
        shutil.rmtree(self.here, ignore_errors=True)
        self.here.mkdir()
        needed = {word for word in words if word.startswith("./") and (self.kept / word).exists()}
        for name in needed | ({"./data"} if "./sft" in words else set()):
            whole = self.kept / name
            shutil.copytree(whole, self.here / name) if whole.is_dir() else shutil.copy(whole, self.here / name)
        (self.here / "new").mkdir()
        (self.home / "photographs").mkdir(parents=True)
        (self.home / "photographs" / "sea.png").write_text("mine")
        (self.home / "bashrc").write_text("mine")

    def call(self, words: tuple[str, ...]):
        return called(self.here, finished.words_of(words, self.here), ("new",))

    def names(self, words: tuple[str, ...]) -> list[str]:
        """What a verb opens and leaves where nobody disturbs it; other names of temporary files nobody can guess."""
        self.begin(words)
        ended = self.call(words)
        assert ended.status == 0, ended.words
        remaining = {path.relative_to(self.here).as_posix() for path in (self.here / "new").rglob("*")}
        opened = {name for name in ended.opened if name.startswith("new/")}
        return sorted(name for name in remaining | opened if not TEMPORARY.search(name))

    def wrong(self, words: tuple[str, ...], name: str, target: str) -> str:
        """What is wrong with a verb that finds a link in the place of something that it writes."""
        self.begin(words)
        link = self.here / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(self.home / target)
        before = _things(self.home)
        ended = self.call(words)
        if _things(self.home) != before:
            return f"{name} -> {target}: written through"
        if ended.status not in (0, 1, 2) or "Traceback" in ended.words:
            return f"{name} -> {target}: status {ended.status}: {ended.words[-400:]}"
        return ""


def _things(folder: Path) -> dict[str, bytes | None]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


@pytest.fixture(scope="module")
def place(tmp_path_factory, request):
    kept = tmp_path_factory.mktemp("kept")
    assert main(["levels", "generate", *LEVELS, "--out", f"{kept}/levels.txt"]) == 0
    nightly = any(item.get_closest_marker("nightly") for item in request.session.items if item.fspath == request.fspath)
    if nightly:
        finished.make(kept)
    else:
        assert main(["data", "build", *finished.SMALL, "--out", f"{kept}/data"]) == 0
    return Place(kept, tmp_path_factory.mktemp("planted") / "here")


@pytest.mark.parametrize("verb", QUICK)
def test_nothing_is_written_through_a_link(place, verb, record_property):
    words = QUICK[verb]
    names = place.names(words)
    cases = [(name, TARGETS[i % len(TARGETS)]) for i, name in enumerate(names)]
    record_property("executed", len(cases))
    assert not [text for name, target in cases if (text := place.wrong(words, name, target))]


def test_a_writer_that_follows_links_is_seen(place, monkeypatch):
    """The planted defect: what was written is copied to its place, and not renamed."""
    monkeypatch.setattr(files.Files, "rename", lambda _, source, target: shutil.copyfile(source, target))
    words = QUICK["levels generate"]
    assert "written through" in place.wrong(words, "new/levels.txt", "bashrc")
    assert "written through" in place.wrong(words, "new/levels.txt", "authorized_keys")


@pytest.mark.nightly
@pytest.mark.parametrize("verb", NIGHTLY)
def test_nothing_is_written_through_any_link(place, verb, record_property):
    words = NIGHTLY[verb]
    cases = [(name, target) for name in place.names(words) for target in TARGETS]
    record_property("executed", len(cases))
    assert not [text for name, target in cases if (text := place.wrong(words, name, target))]
