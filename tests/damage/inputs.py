"""The registry of readers of single files: the texts, trees or tables that each reads well, how they are damaged, and
which errors it may raise."""

from __future__ import annotations

import dataclasses
import functools
import json
import random
import resource
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from tests.damage import changes
from tests.effort import Meter

from recommit.cli.flags import WrongCall
from recommit.data import manifest, shards
from recommit.data.builder import build
from recommit.data.dataset import open_folder
from recommit.data.options import BuildOptions
from recommit.data.spec import DataSpec, Difficulty
from recommit.estimate.options import EstimateOptions
from recommit.graph import files as graphs
from recommit.graph import tables
from recommit.policy import checkpoint
from recommit.policy.config import PolicyConfig, WorldModelConfig
from recommit.reproduce import preset
from recommit.storage import lock, verified
from recommit.storage.errors import DataError
from recommit.storage.files import Files, sha256
from recommit.train import config
from recommit.train.grpo.config import GrpoConfig, of_variant
from recommit.zero_shot import client, parser, transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Effort per input (tests/effort.py), and memory above what the process had.
UNITS, BYTES = 4000, 256 << 20
REFUSED = (ValueError, WrongCall, DataError)
PLAN = DataSpec("sokoban", (6, 6), (Difficulty((2, 9), 1),), count=4)


class Kind(NamedTuple):
    """A kind of file: what is read well, how input ``n`` is made of that, its reader, and which errors it may raise."""

    sources: list[Any]
    change: Callable[[random.Random, Any], bytes | None]
    read: Callable[[bytes], object]
    errors: tuple[type[Exception], ...] = (DataError,)


class Kinds:
    """All of them, read in one folder whose other files are good."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        build(PLAN, folder / "good")
        (folder / "set" / "data").mkdir(parents=True)
        self.manifest = json.loads((folder / "good" / manifest.NAME).read_text())
        self.record = shards.Record(**self.manifest["shards"][0])
        self.all = {**self.settings(), **self.records(), **self.data()}

    def settings(self) -> dict[str, Kind]:
        """Text that people write."""
        recipes, presets = shipped("*.yaml"), shipped("reproduce/*.yaml")
        lines = (line.options for name in preset.names() for line in preset.load(name, Path()))
        data = [json.loads(options.spec().to_json()) for options in lines if isinstance(options, BuildOptions)]
        return {
            "recipes": tree_kind(recipes, self.recipe),
            "presets": tree_kind(presets, self.preset),
            "data recipes": tree_kind(data, lambda text: DataSpec.from_text(text.decode("utf-8", "replace"))),
            "answers": tree_kind(list(replies()), answer),
        }

    def records(self) -> dict[str, Kind]:
        """JSON of policies and graphs."""
        whole = PolicyConfig(lora=None, world_model=WorldModelConfig("sliding", 3, 3, 9), trained=("sliding-3x3",))
        plain = dataclasses.asdict(whole) | {"prices": [0.0, 0.5]}
        checkpoint.imagined_heads(whole, 32)  # the first call imports much of torch, which is no effort of a reader
        about = {"source": "given", "revision": "0" * 40, "dtype": "float32", "fingerprint": "0" * 64}
        shutil.copytree(graphs.EXAMPLES / "sliding-2x3", self.folder / "graph")
        (self.folder / "graph" / verified.DIGESTS).unlink()
        graph = json.loads((self.folder / "graph" / "manifest.json").read_text())
        policy = {"format": 1, "policy": plain, "backbone": about}
        return {
            "policies": tree_kind([policy], self.policy, as_yaml=False),
            "graphs": tree_kind([graph], self.graph, as_yaml=False),
        }

    def data(self) -> dict[str, Kind]:
        """Files of a data set; a manifest's own checksum fits, as an attacker would have it."""
        journal = shards.ShardJournal(Files(), self.folder / "set").line(self.record)
        whole = self.folder / "good" / self.record.name
        own = (self.folder / "good" / manifest.NAME).read_bytes()
        pa.array([0])  # imports pandas where there is one
        return {
            "manifests": Kind([own], changes.damaged, self.open),
            "resealed manifests": Kind([self.manifest], resealed, self.open),
            "journals": Kind([journal, journal * 20], changes.damaged, self.journal),
            "locks": Kind([b"123 boot host\n"], changes.damaged, self.lock),
            "shards": Kind([whole.read_bytes()], changes.damaged, lambda data: self.shard(data, self.record)),
            "resealed shards": Kind([pq.read_table(whole)], self.table, self.resealed_shard),
        }

    def put(self, name: str, data: bytes) -> Path:
        """A file with these bytes."""
        (self.folder / name).write_bytes(data)
        return self.folder / name

    def recipe(self, data: bytes) -> None:
        """Both stages of a recipe, and a value of ``--set``."""
        path = self.put("r.yaml", data)
        for call in (
            lambda: planned(path, config.SftConfig, "sft"),
            lambda: EstimateOptions(str(path)).boards,
            lambda: config.load(path, [], GrpoConfig, "grpo", values=of_variant(path, "adaptive")),
            lambda: config.load(path, [], GrpoConfig, "grpo", values=of_variant(path, "fixed-4")),
            lambda: config.load(path, [], GrpoConfig, "grpo", values=of_variant(path, "paper")),
            lambda: len(data) < 400 and config.load("laptop-sliding", [data.decode("utf-8", "replace")]),
        ):
            refused(call, REFUSED)
        planned(path, GrpoConfig, "grpo")

    def preset(self, data: bytes) -> None:
        """A preset, and all the runs that it means."""
        preset.load(str(self.put("p.yaml", data)), self.folder / "out")

    def policy(self, data: bytes) -> None:
        """A config.json, and the shapes that it asks for."""
        path = self.put("config.json", data)
        about = checkpoint.read_config(path)
        checkpoint.saved_dtype(about["backbone"], path)
        checkpoint.imagined_heads(checkpoint.parse_config(about["policy"], path), 32)

    def graph(self, data: bytes) -> None:
        """The manifest of a graph, and what is said of it."""
        folder = self.put("graph/manifest.json", data).parent
        graph = graphs.read(folder)
        tables.about(graph, graphs.describe(graph))

    def open(self, data: bytes) -> None:
        """A data set with this manifest."""
        open_folder(self.put(f"set/{manifest.NAME}", data).parent, None)

    def journal(self, data: bytes) -> None:
        """The shards that a journal names."""
        shards.read_journal(self.put(f"set/{shards.JOURNAL}", data).parent)

    def lock(self, data: bytes) -> None:
        """A lock that is taken over or respected."""
        with lock.Lock(self.put(f"set/{lock.NAME}", data).parent, patience=0.01):
            pass

    def shard(self, data: bytes, record: shards.Record) -> Any:
        """The content of a shard."""
        return shards.read(self.put(f"set/{record.name}", data).parents[1], PLAN, record)

    def table(self, rng: random.Random, whole: pa.Table) -> bytes:
        """A shard with one or two other values, columns or types."""
        for _ in range(rng.choice([1, 1, 2])):
            whole = changes.table(rng, whole)
        pq.write_table(whole, self.folder / "table.parquet")
        return (self.folder / "table.parquet").read_bytes()

    def resealed_shard(self, data: bytes) -> None:
        """A shard whose record fits; its plans can be read as actions."""
        rows = pq.read_metadata(self.put("table.parquet", data)).num_rows
        content = self.shard(data, dataclasses.replace(self.record, sha256=sha256(data), bytes=len(data), rows=rows))
        assert len(content.actions) == len(content.count) == len(content.optimal)
        assert all((actions[:count] < 4).all() for actions, count in zip(content.actions, content.count, strict=True))
        assert (content.optimal < 16).all()


def tree_kind(trees: list[Any], read: Callable[[bytes], object], *, as_yaml: bool = True) -> Kind:
    """Text of trees, mutated where it means something: success, or a sentence."""
    words = changes.words_of(trees)

    def change(rng: random.Random, tree: Any) -> bytes:
        return changes.written(rng, changes.mutated(rng, tree, words), as_yaml=as_yaml)

    return Kind(trees, change, read, REFUSED)


def resealed(rng: random.Random, tree: Any) -> bytes | None:
    """Well-formed JSON with its digest; None where it is none."""
    values = changes.mutated(rng, tree, changes.words_of([tree]))
    try:
        return json.dumps({**values, "sha256": verified.digest(values)}).encode() if isinstance(values, dict) else None
    except (TypeError, ValueError):
        return None


def shipped(pattern: str) -> list[Any]:
    """The recipes of the package."""
    folder = Path(config.__file__).parents[1] / "recipes"
    return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(folder.glob(pattern))]


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


def answer(body: bytes) -> None:
    """A reply as an answer, as a complaint, and without a key that it repeats."""
    client.of_reply(transport.Reply(400, {"retry-after": body[:40].decode("utf-8", "replace")}, body))
    transport.Key("sk-canary-9f8e7d6c5b4a3210", "KEY").redact(client.complaint(body)[0])
    try:
        said = client.read(body)
    except ValueError:
        return
    json.dumps([said.text, said.finish, said.id, said.tokens_in]).encode("ascii")
    parser.parse(said.text, refused=said.refused, cut_off=said.cut_off)


def planned(path: Path, cls: type[Any], stage: str) -> None:
    """A stage of a recipe, as it is written down with a run."""
    json.dumps(config.plain(config.load(path, [], cls, stage)), allow_nan=False)


def refused(call: Callable[[], object], errors: tuple[type[Exception], ...]) -> bool:
    """Whether a call ends in one of these errors; with words for a person, of bounded length."""
    try:
        call()
    except errors as error:
        said = str(error)
        assert "expected" in said or errors is not REFUSED, f"no sentence: {said[:300]!r}"
        assert len(said) < 4000, f"no sentence of bounded length: {said[:300]!r}"
        return True
    return False


def peak() -> int:
    """The most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def made(name: str, kind: Kind, number: int) -> bytes | None:
    """Input ``number`` of a kind, which depends on its name and number alone."""
    rng = random.Random(f"{name} {number}")
    return kind.change(rng, rng.choice(kind.sources))


def attack(name: str, kind: Kind, numbers: range, units: int = UNITS) -> int:
    """How many inputs were refused; another error, slowness and greed are findings."""
    count, before = 0, peak()
    for number in numbers:
        data = made(name, kind, number)
        if data is None:
            continue
        try:
            with Meter() as meter:
                count += refused(functools.partial(kind.read, data), kind.errors)
        except Exception as error:
            raise AssertionError(f"{name} {number}: {type(error).__name__}: {error}\n{data[:2000]!r}") from error
        assert meter.cheaper(units), f"{name} {number}: more than {units} units of effort\n{data[:2000]!r}"
    assert peak() - before < BYTES, f"{name}: {peak() - before:,} bytes more than before"
    return count
