"""The registry of readers: a tiny finished folder of every kind, and functions and commands that read or write one."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from tests.structure.commands import call
from tests.unit.train.runs import FINISHED, TINY, plan_of
from tests.unit.zero_shot.called import zero_shot
from tests.unit.zero_shot.servers import Server, expert

import recommit
from recommit.cli import main
from recommit.data import DataSpec, Difficulty, build, held_out
from recommit.data.dataset import open_folder
from recommit.evaluate import EvaluateOptions, EvaluationStore, evaluate, evaluation, seeds, transcripts
from recommit.graph import files as graph_files
from recommit.policy.backbones.backbone import given_backbone, load_backbone
from recommit.policy.checkpoint import local_folder, weights_of
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.policy import CommitPolicy
from recommit.report.reading import Folder
from recommit.runs import checkpoints
from recommit.runs.checkpoints import Checkpoints
from recommit.runs.directory import LOGS, best_policy, recipes_of
from recommit.storage import verified
from recommit.storage.errors import Damaged
from recommit.train import initial_policy
from recommit.train.config import SftConfig, parse, plain
from recommit.train.grpo import trainer as grpo
from recommit.train.sft import trainer as sft
from recommit.zero_shot.options import ZeroShotOptions
from recommit.zero_shot.spec import ZeroShotSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

AGENTS = ("adaptive", "fixed-4", "solver")
FAST = ("--device", "cpu", "--quiet")
#: What makes a folder of what ``make`` leaves: "./" is where that lies, ./new what is made.
COMMANDS = {
    "train sft": ("train", "sft", "--recipe", "./plan.yaml", "--data", "./data", "--out", "./new", "--quiet"),
    "train grpo": ("train", "grpo", "--recipe", "./plan.yaml", "--init", "./sft", "--out", "./new", "--quiet"),
    "train world-model": (
        *("train", "world-model", "./sft", "--out", "./new", "--steps", "1", "--starts", "5", "--quiet"),
    ),
    "evaluate": (
        *("evaluate", "./sft", "--out", "./new", "--agents", "fixed-4", "--budgets", "2", "--instances", "4"),
        *("--validation", "2", *FAST),
    ),
    "graph build": ("graph", "build", "./sft", "--out", "./new", "--every-state", "--features", *FAST),
    "train head": (
        *("train", "head", "./graph", "--policy", "./world-model", "--updates", "2", "--budget", "2"),
        *("--out", "./new", "--quiet"),
    ),
}
BOARDS = DataSpec("sliding", (2, 3), (Difficulty((4, 14)),), count=40, validation=6, test=6, ties="random")
#: Levels that a model behind an endpoint plays.
ROOMS = DataSpec(
    "sokoban",
    (6, 6),
    (Difficulty((2, 9), 1), Difficulty((4, 12), 2)),
    count=24,
    validation=12,
    test=12,
    perturbed=2,
    disjoint="layouts",
)
#: What else there is, in this order: "./" is where it lies.
MORE = """
train head ./graph --policy ./world-model --updates 2 --budget 2 --out ./conditioned --quiet
evaluate ./grpo --agents adaptive fixed-2 --fresh 7 --budgets 2 --instances 4 --validation 2 --device cpu \
  --out ./results/eval --quiet
evaluate ./grpo --agents adaptive fixed-2 confidence-least oracle-dp --budgets 3 2 --instances 6 --validation 4 \
  --price-action 0.01 --device cpu --out ./beside --quiet
"""


def make(place: Path, *, every: bool = False) -> Path:
    """A data set, a run, and of that an evaluation, a graph and a world model, in folders of ``place``;
    with ``every`` a reinforced run in its place, and something of whatever else commands write."""
    build(BOARDS, place / "data")
    plans = {"sft": plain(warm()), "grpo": plain(plan_of(**FINISHED))}
    (place / "plan.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(plans))))
    assert sft.train(warm(), place / "data", place / "sft", quiet=True) == 0
    run = place / "sft"
    if every:
        run = place / "grpo"
        assert grpo.train(plan_of(), place / "sft", run, quiet=True) == 0
    evaluate(EvaluateOptions(run, place / "eval", AGENTS, (3, 2), instances=6, validation=4))
    _plans(place, run)
    if every:
        _more(place)
    return place


def _more(place: Path) -> None:
    """Of other agents, and of a model behind an endpoint."""
    build(ROOMS, place / "rooms")
    server = Server(script=expert(ROOMS.puzzle()))
    flags = {"endpoint": "custom", "base_url": server.url, "data": place / "rooms", "instances": 6, "budget": 3}
    assert zero_shot("tiny", place / "zero-shot", workers=1, quiet=True, **flags) == 0
    server.close()
    (place / "results").mkdir()
    for command in MORE.strip().splitlines():
        assert main(command.replace("./", f"{place}/").split()) == 0, command


def _plans(place: Path, run: Path) -> None:
    """The commitment graph of a run, and a world model of its policy."""
    words = ["--every-state", "--features", "--device", "cpu", "--quiet"]
    assert main(["graph", "build", str(run), "--out", f"{place}/graph", *words]) == 0
    words = ["--steps", "1", "--starts", "5", "--quiet"]
    assert main(["train", "world-model", str(run), "--out", f"{place}/world-model", *words]) == 0


def warm() -> SftConfig:
    """A warm start of two steps."""
    plan = parse(SftConfig, TINY)
    validation = replace(plan.validation, every=1, instances=2)
    return replace(plan, optim=replace(plan.optim, steps=2), validation=validation)


def words_of(words: Iterable[str], place: Path) -> list[str]:
    """Of a command, with the folder that its paths are in."""
    return [f"{place}/{word[2:]}" if word.startswith("./") else word for word in words]


@dataclass(frozen=True)
class Use:
    """Something that the package does with a finished folder, and all that it learns from it, as text."""

    name: str
    call: Callable[[Path], Any]

    def __call__(self, place: Path) -> str:
        return told(self.call(place))


def told(value: Any) -> str:
    """The same text for the same content, to the bit."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{told(value[key])}" for key in sorted(value, key=repr)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(told, value)) + "]"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    return repr(value)


def _data(folder: Path) -> list[Any]:
    data, asked = (
        open_folder(folder, None),
        ZeroShotOptions("tiny", folder, data=folder, endpoint="custom", instances=1),
    )
    played = ZeroShotSpec.of(asked).recipe
    return [data.spec.to_json(), played, data.manifest.to_json(), [rows.sha256() for rows in data.shards()]]


def weights(module: Any) -> list[Any]:
    return [(name, tensor.float().numpy()) for name, tensor in module.state_dict().items()]


def _policy(folder: Path) -> list[Any]:
    policy = CommitPolicy.from_pretrained(folder)
    return [policy.config, weights(policy)]


def _run(folder: Path) -> list[Any]:
    """What a start of the same command, an evaluation and a page read."""

    def torn(text: str) -> None:
        raise ValueError(text)

    verified.verify(folder, LOGS)
    newest = Checkpoints(folder / "checkpoints").newest(torn)
    assert newest is not None
    stages = [checkpoints.verify(older) for older in sorted((folder / "checkpoints").iterdir())]
    begun = [verified.values(folder, name) for name in ("config.json", "versions.json", "best.json")]
    kept = [verified.values(newest.folder, "state.json"), verified.lines(folder, "metrics.jsonl")]
    best = best_policy(folder).relative_to(folder).as_posix()
    return [[recipe.to_json() for recipe in recipes_of(folder)], best, newest.step, stages, begun, kept]


def _evaluation(place: Path) -> list[Any]:
    """What a page, a table of several seeds and the same command read."""
    folder = Folder(place)
    figures = [folder.spec, folder.summary, folder.against, folder.instances]
    decided = [(agent, folder.decisions(agent)) for agent in folder.agents]
    figures += [verified.content(place, name) for name in ("compute.json", "thresholds.json") if folder.has(name)]
    seen = vars(seeds.read(place))
    drawn = [folder.values(agent, budget, "lost") for agent in folder.agents for budget in folder.budgets]
    names = sorted(path.stem for path in (place / "decisions").iterdir())
    with EvaluationStore(place) as store:
        kept = [(name, _columns(store.rows(name))) for name in names]
    played = verified.values(place, "policies.json")
    return [figures, [[vars(each) for each in rows] for _, rows in decided], played, drawn, seen, kept]


def _graph(folder: Path) -> list[Any]:
    graph = graph_files.read(folder)
    return [graph_files.describe(graph), vars(graph)]


def _zero_shot(folder: Path) -> list[Any]:
    """What the same command checks, and an evaluation reads."""
    verified.verify(folder)
    starts = held_out.starts(ROOMS, "test", 6, ())
    ids = ROOMS.ids(starts.difficulty.tolist(), starts.number.tolist())
    rows = transcripts.rows(folder, ROOMS.puzzle(), ids, starts.states, 3)
    return [transcripts.about(folder), transcripts.data(folder), _columns(rows)]


def _judged(results: Path, policy: str) -> str:
    """Why a second evaluation may not judge a policy by the same fresh split."""
    test_set = held_out.name(held_out.fresh(BOARDS, 7, 4, ()).states)
    options = EvaluateOptions("grpo", results / "second", ("adaptive",), instances=4, fresh=7)
    try:
        evaluation.judge(options, results / "second", test_set, {"grpo": policy})
    except Damaged:
        raise
    except ValueError as refused:
        return str(refused)
    return "it may"


def _columns(rows: Any) -> list[Any]:
    return [getattr(rows, field.name) for field in fields(rows)]


#: What reads a folder by its name, those of runs and of their parts aside.
READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys(("data", "rooms"), _data),
    **dict.fromkeys(("eval", "beside", "results/eval"), _evaluation),
    "graph": _graph,
    **dict.fromkeys(("world-model", "conditioned"), _policy),
    "zero-shot": _zero_shot,
}


def uses(place: Path) -> list[Use]:
    """Of every folder that is there."""
    readers = {name: read for name, read in READERS.items() if (place / name).is_dir()}
    for run in (folder for folder in sorted(place.iterdir()) if (folder / "checkpoints").is_dir()):
        readers |= {run.name: _run, best_policy(run).relative_to(place).as_posix(): _policy}
        parts = {"init": _policy, "backbone": lambda folder: weights(load_backbone(folder).model)}
        readers |= {f"{run.name}/{part}": read for part, read in parts.items() if (run / part).is_dir()}
    if (place / "results").is_dir():
        policy = weights_of(local_folder(place / "grpo"))
        readers["results"] = lambda folder: _judged(folder, policy)
    return [
        Use(name, lambda here, name=name, read=read: read(here / name))  # type: ignore[misc]
        for name, read in readers.items()
    ]


def acting() -> list[Use]:
    """Commands and functions that take a folder from a stranger and make something of it."""

    def begin(here: Path) -> None:
        run = SimpleNamespace(folder=here / "new", checkpoints=Checkpoints(here / "new"))
        run.folder.mkdir()
        initial_policy.warm_start(here / "sft", run, SimpleNamespace(is_main_process=True, barrier=lambda: None))

    def play(here: Path) -> None:
        task = recommit.Sliding(2, 3)
        with given_backbone(here / "sft" / "backbone"):
            CommitPolicy.from_pretrained(here / "adapted").act(task, task.generate(1, seed=0).states)

    def train(here: Path) -> None:
        assert main(words_of(COMMANDS["train sft"], here)) == 0

    return [PAGE, Use("beginning", begin), Use("training", train), Use("playing", play)]


def _page(here: Path) -> None:
    status, said = call(["report", f"{here}/eval", "--out", f"{here}/page.html", "--quiet"])
    if status in (1, 2) and "Traceback" not in said and not re.search(r"^recommit: \w+Error: ", said, re.MULTILINE):
        raise ValueError(said)
    assert status == 0, said[-600:]


PAGE = Use("page", _page)


def adapt(place: Path) -> None:
    """A policy with LoRA, whose backbone lies elsewhere."""
    small = PolicyConfig(lora=LoraConfig(rank=2), decoder=DecoderConfig(width=32, layers=1, heads=2, ffn=64))
    CommitPolicy.from_backbone(place / "sft" / "backbone", small).save_pretrained(place / "adapted")


def every_file(place: Path) -> list[str]:
    """All of them, but locks and links."""
    files = (path for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path.relative_to(place).as_posix() for path in files if path.name != ".lock"]
