"""Training, evaluations, graphs and heads, killed at random moments again and again: in the end the bytes of an
undisturbed command."""

from __future__ import annotations

import shutil

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")
import torch
from tests.crash import killer
from tests.damage import finished
from tests.unit.horizon.sweep import toy

from recommit.cli import main
from recommit.runs import checkpoints

pytestmark = pytest.mark.nightly
#: A checkpoint per step, of which the last and the best stay: those of an interruption go like the others.
TRAINING = ("--set", "run.save_every=1", "run.keep=1", "validation.every=4")
#: Command -> what it is asked for besides, so that there is something to kill.
MORE = {
    "train sft": ("--steps", "8", *TRAINING),
    "train grpo": TRAINING,
    "evaluate": ("--agents", "adaptive", "fixed-4", "random", "oracle-dp", "confidence-entropy", "--budgets", "2", "3"),
    "graph build": ("--samples", "2"),
    "train world-model": ("--steps", "16"),
}
#: Data, a warm start and a run of GRPO, and what is made of that run.
PRESET = """
- data build --task sliding --size 2 3 --length 4 14 --count 40 --validation 8 --test 12 --ties random --out data
- train sft --recipe plan.yaml --data data --set run.keep=1 --out sft
- train grpo --recipe plan.yaml --init sft --seed 0 --set run.keep=1 --out family/adaptive-s0
- graph build family/adaptive-s0 --starts 4 --features --out plans
- train world-model family/adaptive-s0 --steps 8 --starts 4 --out model
- train head plans --policy model --updates 2 --out head
- evaluate family/adaptive-s0 --instances 4 --validation 2 --budgets 2 --agents adaptive random --out eval
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    torch.set_num_threads(1)
    return finished.make(tmp_path_factory.mktemp("moments"))


def kill(place, command, kills):
    words = finished.words_of((*finished.COMMANDS[command], *MORE.get(command, ())), place)
    return killer.Campaign(lambda _: main(words), place / "new").kill(kills)


def save_in_place(patch):
    """Another planted defect: a checkpoint that counts before it is whole."""

    def save(self, step, write, **_):
        folder = self.folder / f"step-{step:08d}"
        folder.mkdir(parents=True, exist_ok=True)
        killer.slowly()
        write(folder)
        return checkpoints.Checkpoint(folder, step)

    patch.setattr(checkpoints.Checkpoints, "save", save)
    patch.setattr(checkpoints, "verify", lambda folder: int(folder.name[5:]))


@pytest.mark.parametrize(("command", "plant"), [("train sft", save_in_place), ("evaluate", killer.write_in_place)])
def test_what_is_not_whole_is_seen(place, command, plant, monkeypatch):
    plant(monkeypatch)
    with pytest.raises(AssertionError, match=r"after \d+ kills SIG"):
        kill(place, command, 50)


@pytest.mark.parametrize("stage", ["sft", "grpo"])
def test_training(place, stage, record_property):
    record_property("executed", kill(place, f"train {stage}", killer.wanted(100)))


def test_evaluations(place, record_property):
    record_property("executed", kill(place, "evaluate", killer.wanted(100)))


@pytest.mark.parametrize("command", ["graph build", "train head", "train world-model"])
def test_graphs_and_heads(place, command, record_property):
    record_property("executed", kill(place, command, killer.wanted(50)))


def test_sweeps(place, record_property):
    words = ["sweep", "--env", f"{toy.__file__}:make", "--policy", f"{toy.__file__}:Policy", "--quiet"]
    words += ["--episodes", "6", "--validation", "4", "--thresholds", "2"]

    def call(out):
        ended = main([*words, "--out", str(out)])
        for name in (
            ("episodes.jsonl", "table.md") if ended == 0 else ()
        ):  # which say how many milliseconds a query took
            (out / name).unlink()
        return ended

    record_property("executed", killer.Campaign(call, place / "sweep").kill(killer.wanted(50)))


def test_a_reproduction(place, record_property):
    """Data, training of everything, evaluation and page in one command. Ctrl-C leaves a checkpoint: one is kept."""
    (place / "small.yaml").write_text(PRESET)
    words = ["reproduce", "--preset", f"{place}/small.yaml", "--jobs", "1", "--quiet"]

    def call(out):
        out.mkdir(exist_ok=True)
        shutil.copy(place / "plan.yaml", out)  # paths of a preset lie in its folder
        return main([*words, "--out", str(out)])

    campaign = killer.Campaign(call, place / "new")
    record_property("executed", campaign.kill(killer.wanted(50)))
