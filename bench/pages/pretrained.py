"""The policies that come with the package, from a finished preset: python/recommit/pretrained/NAME.

recommit reproduce --preset laptop --out laptop
python -m bench.pages.pretrained laptop --scratch scratch --names sokoban-7x7

Each is the policy of a run (``SOURCES``) with its weights in half precision, then evaluated as it was written: its
card says the figures on the test instances of its preset, and on the first few of them, which a test plays. It may
come from runs that were made one by one, in folders that are called as those of the preset: its card has the commands.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save

from recommit.evaluate.evaluation import evaluate
from recommit.evaluate.options import EvaluateOptions
from recommit.policy import checkpoint, pretrained
from recommit.policy.checkpoint import local_folder, weights_of
from recommit.policy.policy import CommitPolicy
from recommit.reproduce import preset as presets
from recommit.runs.directory import recipe_of
from recommit.storage import files, verified

if TYPE_CHECKING:
    from recommit.data.spec import DataSpec

ROOT = Path(__file__).resolve().parents[2]
#: Test instances that the suite plays.
CHECKED = 24
AGENTS = ("adaptive", *(f"fixed-{depth}" for depth in range(1, 9)), "oracle-dp")
FIGURES = ("solved", "solve_rate", "solve_low", "solve_high", "actions_per_episode", "decisions_per_episode")


@dataclass(frozen=True)
class Source:
    """Where a policy of the package comes from: a task of a preset, one of its runs, and the run its data are in."""

    task: str
    run: str
    warm_start: str
    seed: int
    about: str
    #: CPU-seconds of heads, which keep no times of their own: as they were printed.
    heads: float = 0.0
    #: How the runs were made, where no preset made them, and the preset whose instances they are for.
    commands: str = ""
    preset: str = ""
    agents: tuple[str, ...] = AGENTS


#: The best of three seeds on validation instances, and of the heads that a preset trains.
SOURCES = {
    "sliding-3x3": Source(
        "sliding",
        "family/adaptive-s2",
        "sft-s2",
        2,
        "3x3 sliding puzzles, adaptive depth by RL",
        commands="recommit data build --task sliding --size 3 --length 8 24 --count 10000 --validation 512 --test 1024 "
        "--ties random --disjoint regions --out data; "
        "recommit train sft --recipe laptop-sliding --data data --seed 2 --out laptop/sliding/sft-s2; "
        "recommit train grpo --recipe laptop-sliding --variant adaptive --init laptop/sliding/sft-s2 --seed 2 "
        "--out laptop/sliding/family/adaptive-s2",
    ),
    "sokoban-7x7": Source(
        "sokoban",
        "family/world-model-s1",
        "sft-s1",
        1,
        "7x7 Sokoban with one to three boxes, a world model's head on imitated plans, eight symmetry augmentations",
        heads=350.0,
    ),
    "sokoban-10x10": Source(
        "sokoban",
        "family/world-model-s0",
        "sft-s0",
        0,
        "10x10 Sokoban with four boxes, a world model's head on imitated plans, eight symmetry augmentations",
        commands="recommit data import boxoban boxoban-levels; "
        "recommit data build --task sokoban --size 10 --boxes 4 --length 1 254 --generator unfiltered --count 150000 "
        "--validation 1024 --test 1000 --ties random --seed 0 --out data; "
        "recommit train sft --recipe boxoban --data data --out boxoban/sokoban/sft-s0 --threads 1 "
        "--set optim.steps=24000; "
        "recommit train world-model boxoban/sokoban/sft-s0 --augmentations 8 --depths 2 4 6 8 --unsure 0.1 0.7 "
        "--steps 6000 --out boxoban/sokoban/family/world-model-s0",
        heads=2000.0,  # some, beside other work
        preset="boxoban",
        agents=AGENTS[:-1],  # an oracle of eight augmentations takes as long as the world model
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset", type=Path, help="the folder of a finished preset")
    parser.add_argument("--scratch", type=Path, required=True, help="where evaluations go, which go on from there")
    parser.add_argument("--names", nargs="+", choices=SOURCES, default=list(SOURCES))
    arguments = parser.parse_args()
    for name in arguments.names:
        write(name, SOURCES[name], arguments.preset, arguments.scratch)


def write(name: str, source: Source, preset: Path, scratch: Path) -> None:
    """Replace one policy of the package, and its card."""
    folder, run = pretrained.FOLDER / name, preset / source.task / source.run
    parts = [source.warm_start] if source.heads else [source.warm_start, source.run]
    (folder / pretrained.CARD).unlink(missing_ok=True)  # without it there is no policy by this name
    recipe = recipe_of(preset / source.task / source.warm_start)
    if source.preset:
        built = (line.options for line in presets.load(source.preset, Path()) if line.verb == "data build")
        recipe = next(options.spec() for options in built if options.task == source.task)
    keep(run, folder, recipe)
    every = figures(folder, scratch / f"{name}-all", 1024, source.agents)
    card = {
        "task": source.task,
        "about": source.about,
        "command": source.commands or f"recommit reproduce --preset {preset.name} --out {preset.name}",
        "commit": _commit(),
        "seed": source.seed,
        "hours": round(sum(hours(preset / source.task / part) for part in parts) + source.heads / 3600, 3),
        "weights": weights_of(folder / "policy"),
        "figures": [{**{k: row[k] for k in ("agent", "budget", "decisions")}, **_figures(row)} for row in every],
        "check": {"instances": CHECKED, "rows": _checked(folder, scratch / f"{name}-few")},
    }
    _json(folder / pretrained.CARD, card)
    seal(folder)
    print(name, f"{sum(p.stat().st_size for p in folder.rglob('*')) / 1e6:.2f} MB", card["hours"], "hours")


def keep(run: Path, folder: Path, recipe: DataSpec) -> None:
    """The policy of a run in half precision, with the recipe of the data whose instances it plays."""
    save_compact(CommitPolicy.from_pretrained(local_folder(run)), folder / "policy")
    _json(folder / "config.json", {"data": {"recipe": recipe.to_dict()}})
    _json(folder / "best.json", {"policy": "policy"})
    seal(folder)


def seal(folder: Path) -> None:
    """Note the digests of its own files."""
    verified.seal(files.Files(), folder, [path.name for path in sorted(folder.glob("*.json"))])


def save_compact(policy: CommitPolicy, folder: Path) -> Path:
    """Save a policy with its weights in half precision. It is rounded itself before, so that what is read again is it
    to the bit; it computes in the precision that it had."""
    parts = (policy.backbone.model, policy.depth_head, policy.decoder, policy.world_model)
    with torch.no_grad():
        for part in parts:
            for parameter in () if part is None else part.parameters():
                parameter.copy_(parameter.half())
    policy.known_fingerprint = ""
    policy.save_pretrained(folder)
    listed = verified.digests(folder)
    for name in listed:
        if name.endswith(".safetensors"):
            halves = {key: tensor.half() for key, tensor in checkpoint.read_weights(folder / name).items()}
            files.replace(files.Files(), folder / name, save(halves, metadata={"format": "pt"}))
    verified.seal(files.Files(), folder, listed)
    return folder


def figures(folder: Path, out: Path, instances: int, agents: tuple[str, ...]) -> list[dict[str, Any]]:
    """Rows of an evaluation on the test instances of the policy's data."""
    options = EvaluateOptions(folder, out, agents, instances=instances, length=())
    return evaluate(options, quiet=False)


def _checked(folder: Path, out: Path) -> list[dict[str, Any]]:
    rows = figures(folder, out, CHECKED, ("adaptive",))
    return [{key: row[key] for key in ("agent", "budget", "solved", "actions_per_episode")} for row in rows]


def _figures(row: dict[str, Any]) -> dict[str, Any]:
    return {key: round(row[key], 4) for key in FIGURES}


def hours(run: Path) -> float:
    """Processor hours of a run, by its own record."""
    lines = (run / "timing.jsonl").read_text(encoding="utf-8").splitlines()
    return sum(json.loads(line)["cpu_s"] for line in lines) / 3600


def _commit() -> str:
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout[
        :12
    ]


def _json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    files.replace(files.Files(), path, (json.dumps(value, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
