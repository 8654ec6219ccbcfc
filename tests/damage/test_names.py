"""F16: names that a stranger put into the files of a finished folder. Whatever text of them leads to somebody's own
folder, to a file there or to a repository: no use of the folder opens what is there, writes anywhere else, asks a
network, runs a program or unpickles anything. The interpreter tells of all of these before they happen.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import shutil
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib.font_manager")  # which makes its cache now, not beside the guard
import torch
import yaml
from tests.damage import finished
from tests.damage.finished import Use

import recommit
from recommit.cli import main
from recommit.policy import checkpoint
from recommit.policy.backbones import backbone
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.report import document
from recommit.runs.checkpoints import Checkpoints
from recommit.storage import verified
from recommit.storage.files import Files
from recommit.train import initial_policy

NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "webbrowser.open")
CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.truncate", "os.chmod")
#: Every ending that something of ours may put behind a name, and every file that it may look for in a folder.
ENDINGS = ("", ".txt", ".js", ".yaml", ".json", ".jsonl", ".parquet", ".safetensors", ".npy")
LOOKED_FOR = ("config.json", "best.json", "metrics.jsonl", "versions.json", "manifest.json", "heads.safetensors")
#: What may name any folder of this machine: an evaluation its run, of which a page shows the training. It is read, and
#: nothing else.
READ_ANYWHERE = {("eval/plan.json", ("run",))}


class Reached(RuntimeError):
    """What a use was about to do."""


class Guard:
    """Stops whatever reaches beyond a place, and keeps in mind what that was."""

    def __init__(self):
        self.place = self.victim = None
        self.reached, self.opened = [], set()
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        if self.place is None:
            return
        if event in NETWORK and arguments[0] is not None:
            self.stop("network", arguments)
        elif event in PROGRAMS:
            self.stop("program", arguments)
        elif event == "pickle.find_class":
            self.stop("unpickled", arguments)
        elif event in ("open", "os.listdir", "os.scandir", *CHANGES) and isinstance(arguments[0], str | os.PathLike):
            self.touched(event, str(Path(arguments[0]).resolve()), arguments)

    def touched(self, event, path, arguments):
        writes = event in CHANGES or (event == "open" and bool((arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR)))
        if path.startswith(f"{self.place}{os.sep}"):
            self.opened.add(os.path.relpath(path, self.place))
        elif writes and path != os.devnull:
            self.stop("write", path)
        elif path == self.victim or path.startswith(f"{self.victim}{os.sep}"):
            self.stop("read", path)

    def stop(self, what, about):
        self.reached.append((what, about))
        raise Reached(f"{what}: {about}")

    def during(self, place, victim, call):
        """What a call reached, and which files of the place it opened; its error, if it has one, in ``failed``."""
        self.reached, self.opened, self.failed = [], set(), None
        self.place, self.victim = str(place), str(victim)
        try:
            call()
        except Exception as error:  # noqa: BLE001  (whether it is a sentence, others look at)
            self.failed = error
        finally:
            self.place = None
        return self.reached, self.opened


@pytest.fixture(scope="module")
def guard():
    torch.set_num_threads(1)
    return Guard()


def texts(value, path=()):
    """Where texts are in plain values."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts(each, (*path, key))
    elif isinstance(value, str):
        yield path


class Names:
    """Finished folders, somebody's own folder beside them, and what uses the former."""

    def __init__(self, root, guard):
        self.root, self.guard = root, guard
        self.place, self.victim = root / "finished", root / "mine"
        finished.make(self.place)
        small = PolicyConfig(lora=LoraConfig(rank=2), decoder=DecoderConfig(width=32, layers=1, heads=2, ffn=64))
        recommit.CommitPolicy.from_backbone(self.place / "sft" / "backbone", small).save_pretrained(
            self.place / "adapted"
        )
        self.victim.mkdir()
        for name in (*(f"x{ending}" for ending in ENDINGS), *LOOKED_FOR):
            (self.victim / name).write_text("{}")
        self.uses = [*finished.uses(self.place), *more_uses()]
        self.readers = {}
        for _ in range(2):  # the first time imports libraries
            for use in self.uses:
                reached, self.readers[use] = self.during(use)
                assert not reached
                assert self.guard.failed is None, (use.name, self.guard.failed)

    def during(self, use):
        shutil.rmtree(self.place / "new", ignore_errors=True)
        (self.place / "page.html").unlink(missing_ok=True)
        return self.guard.during(self.place, self.victim, lambda: use.call(self.place))

    def read(self, name):
        text = (self.place / name).read_text()
        return yaml.safe_load(text) if name.endswith(".yaml") else json.loads(text)

    def everywhere(self):
        """Every text of every file, by file and path."""
        files = [name for name in finished.every_file(self.place) if name.endswith((".json", ".yaml"))]
        return [(name, path) for name in files for path in texts(self.read(name))]

    def values(self, name):
        """What a text becomes: places, in both ways to write them, and a repository."""
        near = os.path.relpath(self.victim, (self.place / name).parent)
        return {
            "folder": str(self.victim),
            "file": str(self.victim / "x"),
            "near": near,
            "near file": f"{near}/x",
            "repository": "evil/repository",
        }

    def reached(self, name, path, value):
        """What the uses of a file reach when one of its texts is another, which its maker vouches for."""
        kept = {file: file.read_bytes() for file in self.seals(name)}
        whole = copy.deepcopy(self.read(name))
        inner = whole
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = self.values(name)[value]
        try:
            self.write(name, whole)
            found = [each for use in self.uses if name in self.readers[use] for each in self.during(use)[0]]
        finally:
            for file, data in kept.items():
                file.write_bytes(data)
        return [(what, about) for what, about in found if what != "read" or (name, path) not in READ_ANYWHERE]

    def seals(self, name):
        """The file, and what has its digest."""
        above = [folder for folder in (self.place / name).parents if self.place in folder.parents]
        every = [folder / verified.DIGESTS for folder in above]
        return [self.place / name, *(file for file in every if file.is_file())]

    def write(self, name, whole):
        if name == "data/manifest.json":
            whole["sha256"] = verified.digest(whole)
        (self.place / name).write_text(yaml.safe_dump(whole) if name.endswith(".yaml") else json.dumps(whole))
        for seal in self.seals(name)[1:]:
            verified.seal(Files(), seal.parent, verified.digests(seal.parent))

    def report(self, chosen):
        """What is wrong, in lines."""
        lines = []
        for name, path, value in chosen:
            for what, about in self.reached(name, path, value):
                lines.append(f"{name}: {'.'.join(map(str, path))}: {value}: {what}: {about}")
                print(lines[-1], flush=True)
        return "\n".join(lines)


def more_uses():
    """Verbs that take a folder from somebody and make something of it."""

    def begin(here):
        folder = SimpleNamespace(folder=here / "new", checkpoints=Checkpoints(here / "new"))
        folder.folder.mkdir()
        initial_policy.warm_start(here / "sft", folder, SimpleNamespace(is_main_process=True, barrier=lambda: None))

    def play(here):
        task = recommit.Sliding(2, 3)
        with backbone.given_backbone(here / "sft" / "backbone"):
            recommit.CommitPolicy.from_pretrained(here / "adapted").act(task, task.generate(1, seed=0).states)

    def train(here):
        words = ["--recipe", f"{here}/plan.yaml", "--data", f"{here}/data", "--out", f"{here}/new", "--quiet"]
        assert main(["train", "sft", *words]) == 0

    return [
        Use("report", lambda here: main(["report", f"{here}/eval", "--out", f"{here}/page.html", "--quiet"])),
        Use("beginning", begin),
        Use("training", train),
        Use("playing", play),
    ]


@pytest.fixture(scope="module")
def names(tmp_path_factory, guard):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        yield Names(tmp_path_factory.mktemp("names"), guard)


#: What each of the mended holes went through, and a text of every other file.
SAMPLE = (
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


def test_a_sample(names, record_property):
    record_property("executed", len(SAMPLE))
    assert not (text := names.report(SAMPLE)), text


def trusting(folder, name):
    return folder / name


#: Readers that believe a name, and a text by which that is noticed.
TRUSTING = {
    "a run": ((verified, "inside", trusting), ("sft/best.json", ("policy",), "folder"), "read"),
    "a policy": (
        (checkpoint, "LISTED", {"evil/repository": ""}),
        ("adapted/config.json", ("backbone", "source"), "repository"),
        "network",
    ),
    "a page": (
        (document, "rules", lambda task: Path(f"{task}.js").read_text()),
        ("eval/summary.json", (0, "task"), "file"),
        "read",
    ),
}


@pytest.mark.parametrize("reader", TRUSTING)
def test_the_harness_sees_a_reader_that_trusts(names, monkeypatch, reader):
    patch, case, what = TRUSTING[reader]
    monkeypatch.setattr(*patch)
    assert f"{case[2]}: {what}: " in names.report([case])


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
def test_the_guard_hears(tmp_path, guard, what, call):
    reached, _ = guard.during(tmp_path / "here", tmp_path / "mine", lambda: call(tmp_path / "here"))
    assert [each for each, _ in reached] == [what]
    assert not list(tmp_path.iterdir())


@pytest.mark.nightly
def test_every_text_of_every_file(names, record_property):
    every = [(name, path, value) for name, path in names.everywhere() for value in names.values(name)]
    random.Random(0).shuffle(every)
    if most := int(os.environ.get("RECOMMIT_NAMES", "0")):
        every = every[:most]
    record_property("executed", len(every))
    assert not (text := names.report(every)), text
