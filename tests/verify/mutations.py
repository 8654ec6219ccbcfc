"""F1: recipes, presets, answers of endpoints, and the JSON of policies, graphs and recordings, mutated where it
means something: success or a sentence, soon, in little memory.

Input ``n`` of a target depends on its name and ``n`` alone. A night runs RECOMMIT_MUTATIONS (20,000) of each target,
from a number that belongs to the day.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import random
import resource
import shutil
import tempfile
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from tests.effort import Meter
from tests.verify.harness import Finding, expect, main

from recommit.cli.flags import WrongCall
from recommit.data.options import BuildOptions
from recommit.data.spec import DataSpec
from recommit.estimate.options import EstimateOptions
from recommit.graph import files as graphs
from recommit.graph import tables
from recommit.policy import checkpoint
from recommit.policy.config import PolicyConfig, WorldModelConfig
from recommit.reproduce import preset
from recommit.storage import verified
from recommit.storage.errors import DataError
from recommit.train import config
from recommit.train.grpo.config import GrpoConfig, of_variant
from recommit.watch import recorded
from recommit.zero_shot import client, messages, parser, transport
from recommit.zero_shot.secret import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = int(os.environ.get("RECOMMIT_MUTATIONS", "20_000"))
#: Targets whose files are JSON and nothing else.
JSON = ("policies", "graphs", "recordings")
#: Effort per input (tests/effort.py), and memory above what the process had.
UNITS, BYTES = 4000, 256 << 20
#: Bounds are passed where values are strange, not where they are long.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 8, 9, 15, 64, 2**31, 2**63, -(2**63), 10**30, 0.0, -0.0, 0.5, 1e-9, 1e308,
    -1e308, float("nan"), float("inf"), "", " ", "1e-3", "nan", "1e999", "x", "\x1b[2J", "\u202e", "../x", "/",
    "a.b=c", "=", "adaptive", "fixed-4", "fixed-x", "sft", "x" * 5000, "\ud800", [], [[]], {}, {"": 0}, [None],
    [1, "a"], {"x": {"y": 1}}, b"\xff", [0] * 500, "*a", "&a", "!!set", "0x10", "1:30",
)  # fmt: skip
#: Put into the text of a file.
TOKENS = (
    "&a ", "*a", "<<: *a\n", "!!set ", "!!timestamp x", "!!int x", "!!binary x", "!!python/name:os.system ",
    "---\n", "...\n", "? ", ": ", "- ", "[", "]", "{", "}", '"', "'", "|\n", ">\n", "\t", "\n", "%YAML 9.9\n",
    "# ", "\x00", "\ufeff", "\u2028", "2026-99-99", ".nan", "0o9", "1_0", "9" * 5000, f"%YAML 1.{'9' * 5000}\n---\n",
)  # fmt: skip


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every mapping or list in a tree with every key of it."""
    inner = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    return [(tree, key) for key, _ in inner] + [place for _, each in inner for place in places(each)]


def mutated(rng: random.Random, tree: Any, words: list[str]) -> Any:
    """A tree with a few changes that keep it a tree: values, names, places and depths."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        where = places(tree)
        if not where:
            return rng.choice(VALUES)
        holder, key = rng.choice(where)
        kind = rng.choice(["value", "value", "value", "neighbour", "lose", "name", "deeper", "twice", "up", "number"])
        if kind == "value":
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        elif kind == "neighbour":
            other, name = rng.choice(where)
            holder[key] = copy.deepcopy(other[name])
        elif kind == "lose":
            del holder[key]
        elif kind == "name" and isinstance(holder, dict):
            holder[rng.choice([*words, "", 1, None, True, f"{key}s", "x" * 300])] = holder.pop(key)
        elif kind == "deeper":
            for _ in range(rng.choice([1, 2, 40])):
                holder[key] = rng.choice([[holder[key]], {rng.choice(words): holder[key]}])
        elif kind == "twice" and isinstance(holder, list):
            holder += holder[: rng.randrange(1, 40)]
        elif kind == "up":
            tree = holder[key]
        elif kind == "number" and isinstance(holder[key], int | float):
            holder[key] = rng.choice(
                [-holder[key], holder[key] * 1000, holder[key] / 3, str(holder[key]), [holder[key]]]
            )
    return tree


def written(rng: random.Random, tree: Any, yaml_too: bool = True) -> str:
    """As YAML or JSON; sometimes with damage in the text, too."""
    try:
        text = yaml.safe_dump(tree, allow_unicode=True) if yaml_too and rng.random() < 0.7 else json.dumps(tree)
    except (yaml.YAMLError, TypeError, ValueError, RecursionError):
        text = repr(tree)
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(TOKENS) + text[at + rng.choice([0, 0, 1, 8]) :]
    return text if rng.random() < 0.97 else text[: rng.randrange(len(text) + 1)]


def words_of(trees: list[Any]) -> list[str]:
    """All names in some trees."""
    return sorted(
        {key for tree in trees for holder, key in places(tree) if isinstance(holder, dict) and isinstance(key, str)}
    )


def shipped(pattern: str) -> list[Any]:
    """The recipes of the package."""
    folder = Path(config.__file__).parents[1] / "recipes"
    return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(folder.glob(pattern))]


class Targets:
    """What reads foreign text, each with the trees that it reads well."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        recipes, presets = shipped("*.yaml"), shipped("reproduce/*.yaml")
        built = (line.options for name in preset.names() for line in preset.load(name, Path()))
        data = [json.loads(options.spec().to_json()) for options in built if isinstance(options, BuildOptions)]
        self.all: dict[str, tuple[list[Any], Callable[[str], object]]] = {
            "recipes": (recipes, self.recipe),
            "presets": (presets, self.preset),
            "data recipes": (data, DataSpec.from_text),
            "answers": (list(replies()), self.answer),
            "recordings": ([one_level(name) for name in recorded.names()], self.recording),
            **self.folders(),
        }

    def folders(self) -> dict[str, tuple[list[Any], Callable[[str], object]]]:
        """JSON of a policy and a graph, in folders whose other files are good."""
        whole = PolicyConfig(lora=None, world_model=WorldModelConfig("sliding", 3, 3, 9), trained=("sliding-3x3",))
        plain = dataclasses.asdict(whole) | {"prices": [0.0, 0.5]}
        checkpoint.imagined_heads(whole, 32)  # the first call imports much of torch, which is no effort of a reader
        about = {"source": "given", "revision": "0" * 40, "dtype": "float32", "fingerprint": "0" * 64}
        shutil.copytree(graphs.EXAMPLES / "sliding-2x3", self.folder / "graph")
        (self.folder / "graph" / verified.DIGESTS).unlink()
        graph = self.folder / "graph/manifest.json"
        return {
            "policies": ([{"format": 1, "policy": plain, "backbone": about}], self.policy),
            "graphs": ([json.loads(graph.read_text())], self.graph),
        }

    def policy(self, text: str) -> None:
        """A config.json, and the shapes that it asks for."""
        path = self.folder / "config.json"
        path.write_bytes(text.encode("utf-8", "replace"))
        about = checkpoint.read_config(path)
        checkpoint.saved_dtype(about["backbone"], path)
        checkpoint.imagined_heads(checkpoint.parse_config(about["policy"], path), 32)

    def graph(self, text: str) -> None:
        """The manifest of a graph, and what is said of it."""
        (self.folder / "graph" / "manifest.json").write_bytes(text.encode("utf-8", "replace"))
        read = graphs.read(self.folder / "graph")
        tables.card(graphs.describe(read), "a/b")

    def recording(self, text: str) -> None:
        """A match to be watched."""
        (self.folder / "r.json").write_bytes(text.encode("utf-8", "replace"))
        recorded.of_file(self.folder / "r.json")

    def recipe(self, text: str) -> None:
        """Both stages of a recipe, and a value of ``--set``."""
        path = self.folder / "r.yaml"
        path.write_bytes(text.encode("utf-8", "replace"))
        refused(planned, path, config.SftConfig, "sft")
        refused(lambda: EstimateOptions(str(path)).puzzles)
        for name in ("adaptive", "fixed-4", "paper"):
            refused(lambda name=name: config.load(path, [], GrpoConfig, "grpo", values=of_variant(path, name)))
        if len(text) < 400:
            refused(config.load, "laptop-sliding", [text])
        planned(path, GrpoConfig, "grpo")

    def preset(self, text: str) -> None:
        """A preset, and all the runs that it means."""
        path = self.folder / "p.yaml"
        path.write_bytes(text.encode("utf-8", "replace"))
        preset.load(str(path), self.folder / "out")

    def answer(self, text: str) -> None:
        """A reply as an answer, as a complaint, and without a key that it repeats."""
        body = text.encode("utf-8", "surrogatepass")
        client.of_reply(transport.Reply(400, {"retry-after": text[:40]}, body))
        Key("sk-canary-9f8e7d6c5b4a3210", "KEY").redact(messages.complaint(body)[0])
        try:
            said = messages.read(body)
        except messages.Malformed:
            return
        json.dumps([said.text, said.finish, said.id, said.tokens_in]).encode("ascii")
        parser.parse(said.text, refused=said.refused, cut_off=said.cut_off)


def one_level(name: str) -> dict[str, Any]:
    """A recording of the package, cut short."""
    values = recorded.read(name)
    return {**values, "levels": values["levels"][:1]}


def replies() -> Iterator[Any]:
    """Good and bad replies."""
    text = json.dumps({"h": 2, "actions": ["up", "left"]})
    usage = {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 330}
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    yield {"id": "chat-1", "model": "tiny-2026-01-01", "choices": [choice], "usage": usage}
    wrong = {"message": "max_tokens is not known, retry in 7.5s", "param": "max_tokens", "type": "invalid", "code": "x"}
    yield {"error": wrong}
    yield [{"error": {**wrong, "code": 400}}]
    yield {"detail": [{"loc": ["body", "top_p"], "msg": "no"}]}


def sentence(error: Exception) -> None:
    """Refused with words for a person, of bounded length."""
    said = str(error)
    expect("expected" in said and len(said) < 4000, f"no sentence of bounded length: {said[:300]!r}")


def planned(path: Path, cls: type[Any], stage: str) -> None:
    """A stage of a recipe, as it is written down with a run."""
    json.dumps(config.plain(config.load(path, [], cls, stage)), allow_nan=False)


def refused(call: Callable[..., object], *arguments: Any) -> bool:
    """Does a call refuse its arguments with a sentence?"""
    try:
        call(*arguments)
    except (ValueError, WrongCall, DataError) as error:
        sentence(error)
        return True
    return False


def one(read: Callable[[str], object], trees: list[Any], words: list[str], name: str, number: int) -> bool:
    """Was input ``number`` refused?"""
    rng = random.Random(f"{name} {number}")
    text = written(rng, mutated(rng, rng.choice(trees), words), yaml_too=name not in JSON)
    try:
        with Meter() as meter:
            answer = refused(read, text)
    except Finding:
        raise
    except Exception as error:
        raise Finding(f"{name} {number}: {type(error).__name__}: {error}\n{text[:2000]}") from error
    expect(meter.cheaper(UNITS), f"{name} {number}: more than {UNITS} units of effort\n{text[:2000]}")
    return answer


def peak() -> int:
    """The most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def campaign(name: str, first: int, count: int, read: Callable[[str], object] | None = None) -> int:
    """How many of so many inputs were refused."""
    with tempfile.TemporaryDirectory() as folder:
        trees, usual = Targets(Path(folder)).all[name]
        words, before = words_of(trees), peak()
        count_refused = sum(one(read or usual, trees, words, name, number) for number in range(first, first + count))
        grown = peak() - before
    expect(grown < BYTES, f"{name}: {grown:,} bytes more than before")
    return count_refused


def careless(text: str) -> None:
    """The planted defect: a reader that trusts what it reads."""
    yaml.safe_load(text)[0].split()[0] + ""
    yaml.safe_load(text)[-1]["for"]


def check(plant: bool) -> tuple[int, str]:
    """Run the inputs of today."""
    if plant:
        campaign("presets", 0, 500, careless)
    first = date.today().toordinal() * RUNS
    with tempfile.TemporaryDirectory() as folder:
        names = list(Targets(Path(folder)).all)
    for name in names:
        campaign(name, first, RUNS)
    return RUNS * len(names), f"mutated {', '.join(names)}, from number {first:,}"


if __name__ == "__main__":
    main(check)
