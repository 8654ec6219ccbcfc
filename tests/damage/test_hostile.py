"""F17: something else in the place of a file of a finished folder. Every verb that reads the folder ends soon, with a
status and a sentence, or as if nothing had happened; and nothing is written through a link."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")
import torch
from tests.damage import finished

from recommit.cli import main
from recommit.storage import verified

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no links and pipes in folders there")
#: Of waiting for a verb that should not wait; in seconds, and far more than any of them takes on the slowest machine.
PATIENCE = 300


def nothing(_path, _whole):
    """No file at all."""


def folder(path, _whole):
    path.mkdir()


def pipe(path, _whole):
    os.mkfifo(path)


def dangling(path, _whole):
    path.symlink_to("nowhere")


def loop(path, _whole):
    path.symlink_to(path.name)


def link(path, _whole):
    """To a file of the user's."""
    path.symlink_to(victim(path))


def moved(path, whole):
    """To the same bytes, somewhere else."""
    elsewhere(path).write_bytes(whole)
    path.symlink_to(elsewhere(path))


def empty(path, _whole):
    path.write_bytes(b"")


def another_version(path, whole):
    """As a program with other ideas of the same file would write it."""
    path.write_bytes(b"{}\n" if path.suffix == ".json" else whole[: len(whole) // 2])


def flipped(path, whole):
    data = bytearray(whole)
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


KINDS = (nothing, folder, pipe, dangling, loop, link, moved, empty, another_version, flipped)


def victim(path):
    return next(p for p in path.parents if p.name.startswith("case-")) / "bashrc"


def elsewhere(path):
    return victim(path).with_name("elsewhere")


def build(place):
    return ["data", "build", *finished.SMALL, "--out", f"{place}/data"]


#: By the folder that a file lies in: what reads it, and where what it makes of it lies (nowhere: it prints it).
VERBS = {
    "data": [
        (lambda here: ["data", "show", f"{here}/data"], ()),
        (lambda here: ["data", "show", f"{here}/data", "--verify"], ()),
        (build, ("data",)),
    ],
    "eval": [
        (lambda here: ["report", f"{here}/eval", "--out", f"{here}/page.html"], ("page.html",)),
        (lambda here: evaluation(here, "eval", finished.AGENTS), ("eval",)),
    ],
    "sft": [
        (lambda here: ["report", f"{here}/eval", "--out", f"{here}/page.html"], ("page.html",)),
        (lambda here: evaluation(here, "new", ("fixed-4",)), ("new",)),
        (
            lambda here: [
                *("train", "sft", "--recipe", f"{here}/plan.yaml", "--data", f"{here}/data"),
                *("--out", f"{here}/sft", "--quiet"),
            ],
            ("sft",),
        ),
    ],
    "graph": [
        (lambda here: ["graph", "show", f"{here}/graph"], ()),
        (lambda here: ["graph", "score", f"{here}/graph", *RULES, "--out", f"{here}/scores"], ("scores",)),
        (lambda here: ["graph", "show", f"{here}/graph", "--push", "a/b", "--hub", f"{here}/hub"], ("hub",)),
        (
            lambda here: [
                *("graph", "build", f"{here}/sft", "--out", f"{here}/graph", "--every-state", "--features"),
                *("--device", "cpu", "--quiet"),
            ],
            ("graph",),
        ),
    ],
}
RULES = ("--rules", "fixed-2", "--budget", "2", "--price-action", "0", "--quiet")


def evaluation(here, out, agents):
    some = ("--agents", *agents, "--budgets", "3", "2", "--instances", "6", "--validation", "4", "--device", "cpu")
    return ["evaluate", f"{here}/sft", "--out", f"{here}/{out}", *some, "--quiet"]


@dataclass(frozen=True)
class Ended:
    """What became of a call: its status (None: it did not end), its words, and the files that it was to make."""

    status: int | None
    words: str
    made: dict[str, bytes]
    #: Names of the files that it opened.
    opened: frozenset[str] = frozenset()


def called(place, words, made):
    """A verb in a process of its own, which may hang."""
    out = place / "words"
    (place / "opened").write_text("")
    process = multiprocessing.get_context("fork").Process(target=_child, args=(words, out))
    process.start()
    process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()
        return Ended(None, "", {})
    opened = frozenset((place / "opened").read_text().split("\n"))
    return Ended(process.exitcode, out.read_text("utf-8", "replace"), contents(place, made), opened)


def _child(words, out):
    with out.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    ear = finished.Ear()
    ear.folder = str(out.parent)
    with open(1, "w", closefd=False) as text, contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        status = main(words)
    out.with_name("opened").write_text("\n".join(ear.names))
    os._exit(status)


#: Of the machine and of the moment.
PASSING = {"timing.jsonl", ".lock", "DIGESTS"}


def contents(place, made):
    """Of the files below, links followed; what is none is left out."""
    paths = [p for name in made for p in [place / name, *sorted((place / name).rglob("*"))]]
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in paths
        if path.name not in PASSING and path.is_file()
    }


class Cases:
    """Finished folders, put back for every case, in which one file is replaced."""

    def __init__(self, root):
        torch.set_num_threads(1)
        self.place, self.kept = root / "case-0", root / "kept"
        finished.make(self.place)
        (self.place / "bashrc").write_text("mine\n")
        shutil.copytree(self.place, self.kept)
        #: By folder and number of a verb: what it does where nothing is wrong.
        self.usual = {}

    def all(self):
        """Every file, everything in its place, and every verb that opens it; the first verb for what none opens."""
        files = [name for name in finished.every_file(self.kept) if name.partition("/")[0] in VERBS]
        return [(name, kind, number) for name in files for kind in KINDS for number in self.readers(name)]

    def readers(self, name):
        area = name.partition("/")[0]
        return [n for n in range(len(VERBS[area])) if name in self.undisturbed(area, n).opened] or [0]

    def undisturbed(self, area, number):
        key = area, number
        if key not in self.usual:
            self.put_back()
            self.usual[key] = self.call(area, number)
            assert self.usual[key].status == 0, self.usual[key].words
        return self.usual[key]

    def put_back(self):
        shutil.rmtree(self.place)
        shutil.copytree(self.kept, self.place)

    def call(self, area, number):
        words, made = VERBS[area][number]
        ended = called(self.place, words(self.place), made)
        assert (self.place / "bashrc").read_text() == "mine\n"
        return ended

    def run(self, name, kind, number):
        """What is wrong with the end of a case; empty if nothing is."""
        area = name.partition("/")[0]
        usual = self.undisturbed(area, number)
        self.put_back()
        whole = (self.place / name).read_bytes()
        (self.place / name).unlink()
        kind(self.place / name, whole)
        return wrong(name, kind, self.call(area, number), usual)


def wrong(name, kind, ended, usual):
    if ended.status is None:
        return f"did not end in {PATIENCE} s"
    if ended.status not in (0, 1, 2) or "Traceback" in ended.words:
        return f"status {ended.status}: {ended.words[-600:]}"
    if ended.status:
        said = ended.words.strip().splitlines()[-1:] or [""]
        raw = re.match(r"recommit: (KeyError|TypeError|IndexError|AttributeError|OSError|\w+Error): ", said[0])
        return f"status {ended.status} without a sentence: {said[0]}" if raw or not said[0] else ""
    if (Path(name).name, kind) in GONE:
        return ""
    same = ended.made == usual.made and (usual.made or ended.words == usual.words)
    differ = sorted(n for n in {*ended.made, *usual.made} if ended.made.get(n) != usual.made.get(n))
    return "" if same else f"ended well with another result: {differ}, {ended.words[-300:]}"


#: A table says less where the run, which may lie on another machine, has lost its curves.
GONE = {(name, kind) for name in ("metrics.jsonl", "versions.json") for kind in (nothing,)}


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    return Cases(tmp_path_factory.mktemp("hostile"))


def report(cases, chosen):
    """What is wrong, also said at once: a campaign is long."""
    found = []
    for name, kind, number in chosen:
        if text := cases.run(name, kind, number):
            found.append(f"{name}: {kind.__name__}, verb {number}: {text}")
            print(found[-1], flush=True)
    return "\n".join(found)


#: Of each kind one, in files that matter, read by verbs that are quick.
SAMPLE = (
    ("data/manifest.json", pipe, 0),
    ("data/manifest.json", empty, 0),
    ("data/manifest.json", nothing, 0),
    ("data/manifest.json", another_version, 0),
    ("data/manifest.json", link, 2),
    ("data/data/train-00000-of-00001.parquet", dangling, 1),
    ("eval/episodes.parquet", folder, 0),
    ("eval/plan.json", loop, 0),
    ("eval/instances.parquet", moved, 0),
    ("eval/compute.json", nothing, 1),
    ("graph/nodes.parquet", flipped, 0),
    ("graph/manifest.json", link, 3),
)


def test_a_sample(cases, record_property):
    record_property("executed", len(SAMPLE))
    assert not (text := report(cases, SAMPLE)), text


def test_the_harness_sees_a_reader_that_does_not_check(cases, monkeypatch):
    monkeypatch.setattr(verified, "digests", lambda _: {})
    assert "another result" in report(cases, [("eval/decisions/solver@3.parquet", nothing, 0)])


def test_the_harness_sees_a_reader_that_waits(cases, monkeypatch):
    cases.undisturbed("eval", 0)
    monkeypatch.setattr("recommit.storage.safe_open._regular", lambda path, _flags: os.open(path, os.O_RDONLY))
    monkeypatch.setattr("tests.damage.test_hostile.PATIENCE", 2)
    assert "did not end" in report(cases, [("eval/summary.json", pipe, 0)])


@pytest.mark.nightly
def test_everything_in_the_place_of_every_file(cases, record_property):
    chosen = cases.all()
    random.Random(0).shuffle(chosen)
    if most := int(os.environ.get("RECOMMIT_HOSTILE", "0")):
        chosen = chosen[:most]
    record_property("executed", len(chosen))
    assert not (text := report(cases, chosen)), text
