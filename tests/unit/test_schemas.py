"""No file can name a program, a host, a key, a tracker or an unlisted repository: every field of every schema that is
read from a file, and every flag of every verb that a preset may use, is a number, a choice, or text on a short list."""

from __future__ import annotations

import copy
import dataclasses
import shlex
import types
import typing
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow")

from recommit.cli.command_line import VERBS
from recommit.data.spec import DataSpec
from recommit.evaluate import score, transcripts
from recommit.graph import files as graph_files
from recommit.horizon.sweep import card
from recommit.policy import checkpoint, pretrained
from recommit.policy.backbones.conv import ConvShape
from recommit.policy.backbones.random_init import Shape
from recommit.policy.config import HeadConfig, LoraConfig, PolicyConfig, WorldModelConfig
from recommit.report import reading
from recommit.reproduce import preset
from recommit.storage import schema
from recommit.train.config import SftConfig, plain
from recommit.train.grpo.config import GrpoConfig, GrpoPhase
from recommit.train.heads import world_model

WORLD = WorldModelConfig("sliding", 3, 3, 9)
DATA = {"task": "sliding", "size": [3, 3], "difficulties": [{"length": [8, 24], "boxes": 0}], "count": 10}
#: What files are read into, each with an example that has a value everywhere.
SCHEMAS = {
    "sft": (SftConfig, plain(SftConfig(model=dataclasses.replace(SftConfig().model, shape={"width": 8})))),
    "grpo": (
        GrpoConfig,
        plain(GrpoConfig(head=HeadConfig(), phases=(GrpoPhase(100),), tasks=("sliding",), depths=(1, 2))),
    ),
    "data": (DataSpec, DataSpec.from_dict(DATA).to_dict()),
    "policy": (PolicyConfig, dataclasses.asdict(PolicyConfig(lora=LoraConfig(), world_model=WORLD, trained=("x",)))),
    "shape": (Shape, dataclasses.asdict(Shape(8, 1, 1, 1, 8, 8, 1, 1, 8, 28))),
    "convolution": (ConvShape, dataclasses.asdict(ConvShape())),
}
HOSTILE = (
    *("/etc/passwd", "../x", "mine.py", "file:///etc/passwd", "http://evil.example/v1", "evil.example:443"),
    *("evil/repository", "Qwen/another", "mine:function", "OPENAI_API_KEY", "ssh evil", "--out=/etc", "$(id)"),
)
#: Fields that take any text, and why it cannot do anything.
NAMES = {
    "policy.tasks": "compared with the name of a puzzle",
    "policy.trained": "compared with the name of a puzzle",
    "policy.world_model.task": "compared with the name of a puzzle",
    "policy.prompts": "looked up among the files of policy/prompts, by a listing of that folder",
    "policy.theme": "a key of the themes of pictures",
}


def leaves(hint, path):
    """The types of all values below a field, by path."""
    if dataclasses.is_dataclass(hint):
        for name, inner in schema.hints_of(hint).items():
            yield from leaves(inner, f"{path}.{name}")
    elif typing.get_origin(hint) in (types.UnionType, typing.Union, tuple):
        for inner in typing.get_args(hint):
            yield from leaves(inner, path)
    elif typing.get_origin(hint) is dict:
        yield from leaves(typing.get_args(hint)[1], path)
    elif typing.get_origin(hint) is not typing.Literal and hint not in (int, float, bool, types.NoneType, ...):
        yield path, hint


def changed(values, path, value):
    """The same values with another text at a path."""
    values = copy.deepcopy(values)
    *outer, last = path.split(".")[1:]
    inner = values
    for key in outer:
        inner = inner[key]
    inner[last] = [value] * len(inner[last]) if isinstance(inner.get(last), list | tuple) else value
    return values


OPEN = dict.fromkeys((path, hint) for name, (cls, _) in SCHEMAS.items() for path, hint in leaves(cls, name))


@pytest.mark.parametrize(("path", "hint"), OPEN, ids=lambda value: value if isinstance(value, str) else "")
def test_text_of_a_file_is_one_of_few(path, hint):
    """Or it is only ever compared."""
    name = path.partition(".")[0]
    cls, whole = SCHEMAS[name]
    if path in ("sft.model.policy", *(f"sft.model.{each}" for each in NAMES)) or path in NAMES:
        return
    if path == "grpo.by_task":  # values of sections, read by the same schema
        for value in HOSTILE:
            with pytest.raises(ValueError, match="expected"):
                schema.parse(cls, {**whole, "by_task": {"sliding": {value: value}}})
            with pytest.raises(ValueError, match="expected"):
                schema.parse(cls, {**whole, "by_task": {"sliding": {"advantage.estimator": value}}})
        return
    assert hint is str, f"{path} takes {hint}"
    for value in HOSTILE:
        with pytest.raises(ValueError, match="expected"):
            schema.parse(cls, changed(whole, path, value))


def test_the_walk_sees_open_fields():
    """Planted: a schema with a file, a host, and anything."""
    planted = dataclasses.make_dataclass("Planted", [("a", int), ("file", Path), ("host", str), ("more", typing.Any)])
    assert [path for path, _ in leaves(planted, "p")] == ["p.file", "p.host", "p.more"]
    assert {"sft.model.backbone", "grpo.variant", "data.task", "policy.head.init"} <= {path for path, _ in OPEN}
    assert set(NAMES) <= {path for path, _ in OPEN}, "no reason without a field"


#: Text in JSON that the package reads: descriptions that are shown, escaped, and names that are compared; every digest
#: is of a file with a fixed name.
JSON = {
    "records of zero-shot runs": (transcripts.RUN, transcripts.EPISODE, transcripts.DECISION),
    "records of scores": (score.RECORD,),
    "graphs": (graph_files.FIELDS,),
    "cards": (pretrained.CARD_FIELDS, card._FIELDS),
    "policies": (checkpoint.FIELDS,),
    "evaluations": (reading.SUMMARY, reading.COMPARISON, reading.PLAN, reading.OPTIONS),
    "world models": (world_model.FIELDS,),
}
SUSPECT = ("url", "host", "endpoint", "key", "path", "place", "file", "repo", "launcher", "env_var", "script")


def words(fields):
    """All names of fields that take text."""
    for name, kind in fields.items() if isinstance(fields, dict) else [("", fields[0])]:
        if isinstance(kind, dict | list):
            yield from words(kind)
        elif kind is str or (isinstance(kind, tuple) and str in kind):
            yield name


@pytest.mark.parametrize("kind", JSON)
def test_no_json_has_a_field_for_a_place(kind):
    found = [name for fields in JSON[kind] for name in words(fields)]
    assert not [name for name in found if any(part in name.split("_") for part in SUSPECT)]


#: A good command of every verb of a preset.
GOOD = {
    "data build": "data build --task sliding --count 4",
    "train sft": "train sft --recipe laptop-sliding --data data",
    "train grpo": "train grpo --recipe laptop-sliding --init sft",
    "train world-model": "train world-model rl",
    "train head": "train head graph --policy world-model",
    "graph build": "graph build rl",
    "graph score": "graph score graph",
    "evaluate": "evaluate family",
    "report": "report eval",
}
#: Flags of text that are only ever compared; all others refuse what is not one of few.
COMPARED = {("evaluate", "task"), ("graph build", "task"), ("train world-model", "task"), ("data build", "generator")}
COMPARED |= {(verb, name) for verb in GOOD for name in ("rules", "tables", "device", "budgets")}


@pytest.mark.parametrize("verb", GOOD)
def test_every_flag_of_a_preset(verb):
    """What is no number and no choice is a path inside the folder, or text of ``preset.TEXT``."""
    kind, positional = preset.VERBS[verb]
    out = " --out out"
    preset.line(GOOD[verb] + out, Path("OUT"))
    for field, hint in schema.hints_of(kind).items():
        kinds, flag = preset._kinds(hint), field.replace("_", "-")
        dangerous = HOSTILE if str in kinds else ("/etc/passwd", "../x", "a/../../x") if Path in kinds else ()
        if field in (*preset.REFUSED, *(() if field in preset.TEXT or str not in kinds else (field,))):
            dangerous = ("x", "")
        words = shlex.split(GOOD[verb] + out)
        if f"--{flag}" in words:
            at = words.index(f"--{flag}")
            words = words[:at] + words[at + 2 :]
        for value in dangerous if (verb, field) not in COMPARED else ():
            first = len(verb.split())
            told = [*words, f"--{flag}", value] if field != positional else [*words[:first], value, *words[first + 1 :]]
            with pytest.raises(ValueError, match="expected"):
                preset.line(shlex.join(told), Path("OUT"))


def test_verbs_of_presets_are_those_of_the_command_line():
    for verb, (kind, positional) in preset.VERBS.items():
        assert VERBS[verb].options is kind
        assert VERBS[verb].positional == ((positional,) if positional else ())
    hints = [schema.hints_of(kind).items() for kind, _ in preset.VERBS.values()]
    text = {name for every in hints for name, hint in every if str in preset._kinds(hint)}
    assert text <= {*preset.TEXT, *preset.REFUSED}, "a reason for each, or none at all"
