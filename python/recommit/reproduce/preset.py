"""Presets: lists of commands of recommit, as YAML, with every path inside one folder.

    - data build --task sliding --count 10000 --out sliding/data
    - for: {seed: [0, 1]}
      do:
        - train sft --recipe laptop-sliding --data sliding/data --seed {seed} --out sliding/sft-s{seed}

Presets are untrusted. So only the verbs of ``VERBS`` are allowed, with flags that are numbers, choices, paths inside
the folder, or on a short list: none can name a program, a host, a key, a tracker or an unlisted hub repository.
"""

from __future__ import annotations

import shlex
import types
import typing
from dataclasses import MISSING, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.data.options import BuildOptions
from recommit.evaluate.options import EvaluateOptions
from recommit.graph.options import GraphBuildOptions, GraphScoreOptions
from recommit.report.options import ReportOptions
from recommit.storage import recipe_text, schema, verified
from recommit.storage.recipe_text import brief
from recommit.train import config
from recommit.train.options import GrpoOptions, HeadOptions, SftOptions, WorldModelOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Allowed verbs: the options of each, and the name of its positional argument.
VERBS: dict[str, tuple[type[Any], str]] = {
    "data build": (BuildOptions, ""),
    "train sft": (SftOptions, ""),
    "train grpo": (GrpoOptions, ""),
    "train world-model": (WorldModelOptions, "run"),
    "train head": (HeadOptions, "graph"),
    "graph build": (GraphBuildOptions, "run"),
    "graph score": (GraphScoreOptions, "graph"),
    "evaluate": (EvaluateOptions, "run"),
    "report": (ReportOptions, "eval"),
}
#: Allowed text flags, and why each is harmless; other text flags are refused.
TEXT = {
    "agents": "names of agents; what stands behind an @ is a path inside the folder",
    "backbone": "one that a recipe may name",
    "budgets": "loose, tight or numbers",
    "device": "cpu, cuda or auto",
    "generator": "one of the puzzle's",
    "recipe": "one of the package's, or a file inside the folder",
    "rules": "names of rules",
    "set": "values of a recipe, by its schema",
    "tables": "names of tables",
    "task": "a puzzle",
    "variant": "a variant, or a name in the recipe",
}
#: Flags that execute a file or send data, refused even with a path inside the folder.
REFUSED = ("reward", "rule", "run_code", "push", "hub", "send", "wandb", "trackio", "engine")
#: Flags of output paths.
OUTPUTS = ("out", "figures")
_FOLDER = "recipes/reproduce"


def names() -> list[str]:
    """Names of the package's presets."""
    every = (path.name for path in (resources.files("recommit") / _FOLDER).iterdir())
    return sorted(name.removesuffix(".yaml") for name in every if name.endswith(".yaml"))


@dataclass(frozen=True)
class Line:
    """One validated command of a preset, with its paths placed in a folder."""

    verb: str
    words: tuple[str, ...]
    options: Any
    out: Path
    inputs: tuple[Path, ...]

    @property
    def config(self) -> Any:
        """The configuration of a training run; None for other commands."""
        return self.options.config() if isinstance(self.options, SftOptions | GrpoOptions) else None


def load(preset: str, out: Path, changes: Sequence[str] = ()) -> list[Line]:
    """The commands of a preset (name or file) in a folder, with ``changes`` to the recipes of its training runs."""
    named = resources.files("recommit") / _FOLDER / f"{preset}.yaml"
    if not named.is_file() and not Path(preset).is_file():
        raise ValueError(f"preset: expected a file or one of {', '.join(names())}, got {preset}")
    try:
        whole = recipe_text.read(named.read_text("utf-8") if named.is_file() else recipe_text.of_file(preset))
        lines = [line(text, out, changes) for text in recipe_text.expanded(whole)]
    except ValueError as error:
        raise ValueError(f"preset: {error} in {preset}") from None
    written = [each.out for each in lines]
    if twice := [place for place in written if written.count(place) > 1]:
        raise ValueError(f"preset: expected commands that write each to a place of its own, got two to {twice[0]}")
    for number, each in enumerate(lines):
        read = {path for earlier in lines[:number] for path in earlier.inputs}
        if late := read & {each.out, *each.out.parents}:  # what reads it would be made again, of more, by a second call
            raise ValueError(f"preset: expected what writes {each.out} before what reads {late.pop()}, got it behind")
    return lines


def line(text: str, out: Path, changes: Sequence[str] = ()) -> Line:
    """Parse and validate one command."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"expected a command, got {brief(text)}: {error}") from None
    verb = next((verb for verb in VERBS if words[: len(verb.split())] == verb.split()), None)
    if verb is None:
        raise ValueError(f"expected a command of {', '.join(VERBS)}, got {brief(text)}")
    kind, positional = VERBS[verb]
    hints, values, inputs, made = typing.get_type_hints(kind), dict[str, Any](), list[Path](), list[str]()
    told = dict(_flags(words[len(verb.split()) :], positional))
    if changes and "set" in hints:
        told["set"] = [*told.get("set", []), *changes]
    for name, own in told.items():
        if name not in hints or name in REFUSED:
            raise ValueError(f"{name}: expected no such flag in a preset, got it in {brief(text)}")
        own, paths = _placed(name, hints[name], own, out)
        inputs += [] if name in OUTPUTS else paths
        values[name] = _value(name, hints[name], own)
        made += [*([] if name == positional else [f"--{name.replace('_', '-')}"]), *own]
    if missing := [f.name for f in fields(kind) if f.default is MISSING and f.name not in values]:
        raise ValueError(f"{missing[0]}: expected it in {brief(text)}, got none")
    if not values.get("out"):
        raise ValueError(f"out: expected it in {brief(text)}, got none")
    found = Line(verb, tuple(made), schema.parse(kind, values), values["out"], tuple(inputs))
    _ = found.config
    return found


def _flags(words: list[str], positional: str) -> Iterator[tuple[str, list[str]]]:
    """Split words into flags and their values, the positional argument first."""
    groups = [[positional]] if words and not words[0].startswith("--") else list[list[str]]()
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            groups.append([name.replace("-", "_"), *([value] if equals else [])])
        else:
            groups[-1].append(word)
    seen = [name for name, *_ in groups]
    if twice := [name for name in seen if seen.count(name) > 1 or not name]:
        raise ValueError(f"{twice[0] or brief(words[0])}: expected a flag, each once, got it again")
    for name, *own in groups:
        yield name, own


def _placed(name: str, hint: Any, words: list[str], out: Path) -> tuple[list[str], list[Path]]:
    """A flag's values with paths placed in the folder, and these paths; refuses unsafe text."""
    kinds = _kinds(hint)
    if Path in kinds:
        paths = [_inside(name, word, out) for word in words]
        return list(map(str, paths)), paths
    if str not in kinds:
        return words, []
    if name not in TEXT:
        raise ValueError(f"{name}: expected no such flag in a preset, got {brief(' '.join(words))}")
    if name == "agents":
        parts = [word.partition("@") for word in words]
        paths = [_inside(name, place, out) for _, _, place in parts if place]
        return [f"{agent}@{out / place}" if place else agent for agent, _, place in parts], paths
    if name == "recipe" and words[0] not in config.recipes():
        path = _inside(name, words[0], out)
        return [str(path)], [path]
    if name == "backbone" and not config.is_named(words[0]):
        raise ValueError(f"backbone: expected one that a recipe may name, got {brief(words[0])}")
    return words, []


def _inside(name: str, word: str, out: Path) -> Path:
    if verified.leads_out(word) or not word:
        raise ValueError(f"{name}: expected a path inside the folder of the preset, got {brief(word)}")
    return out / word


def _kinds(hint: Any) -> set[Any]:
    """The possible types of one value of a flag."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) in (tuple, typing.Union):
        return set().union(*map(_kinds, typing.get_args(hint)))
    return {hint}


def _value(name: str, hint: Any, words: list[str]) -> Any:
    """Convert the words of a flag to a value of its type."""
    kinds = _kinds(hint) - {types.NoneType, ...}
    if kinds == {bool}:
        return True
    choices = {str(choice): choice for kind in kinds for choice in typing.get_args(kind)}
    values = [_one(kinds, choices.get(word, word)) for word in words]
    if typing.get_origin(hint) is tuple:
        return tuple(values)
    if len(values) != 1:
        raise ValueError(f"{name}: expected one value, got {brief(' '.join(words))}")
    return values[0]


def _one(kinds: set[Any], word: Any) -> Any:
    """Convert a word to a number or path, if the flag takes one; the schema checks the result."""
    if Path in kinds:
        return Path(word)
    return recipe_text.read(word) if kinds & {int, float} and isinstance(word, str) else word
