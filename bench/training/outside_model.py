"""How much of a training step lies outside the model, at the shapes of Qwen2.5-VL-7B on eight ranks.

    python bench/training/outside_model.py [--puzzle sliding] [--prompt v2] [--ranks 8] [--steps 6] [--json found.json]

The model is a stand-in that gives right shapes and takes as long as ``recommit estimate`` says. Everything else is
real: start states, targets, pictures, kept features, rollouts, simulation, distances, credit, the graph of looks and
its program, batches, messages between ranks (gloo), logs, checkpoints of the true size. Ranks share cores here, so that
their wall time says nothing: what counts is each rank's own CPU time, as if it waited for nobody, against the model's
seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from stand_in import MODEL, Stages, StandInEngine, policy

import recommit.data
from recommit.data import DataSpec, Difficulty, sampling
from recommit.data.loading import Mixture
from recommit.estimate import CARDS, Machine, estimate
from recommit.graph.build import PolicyGraph
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.policy.action_decoder import ActionDecoder
from recommit.policy.depth_head import DepthHead
from recommit.policy.policy import CommitPolicy
from recommit.policy.reference import ReferencePolicy
from recommit.policy.vision import Vision
from recommit.rollout import rollout
from recommit.runs import distributed
from recommit.runs.directory import RunDirectory
from recommit.runs.progress import Interrupt
from recommit.train import initial_policy, targets, trainer
from recommit.train.config import SftConfig, load
from recommit.train.grpo import collect
from recommit.train.grpo import loss as objective
from recommit.train.grpo import trainer as grpo
from recommit.train.grpo.batch import GrpoBatch
from recommit.train.grpo.config import GrpoConfig
from recommit.train.grpo.depth_head_optimizer import DepthHeadOptimizer
from recommit.train.sft import trainer as sft

#: The paper's puzzles, in shards of a few instances.
DATA = {
    "sokoban": DataSpec("sokoban", (7, 7), tuple(Difficulty((8, 32), boxes) for boxes in (1, 2, 3)), 600, seed=42),
    "sliding": DataSpec("sliding", (3, 3), (Difficulty((8, 24)),), 600, seed=42),
}
QUIET = ["validation.instances=0", "run.threads=1", "run.save_every=100000"]
#: Kind of recipe, stage, and what is changed.
RUNS: dict[str, tuple[str, str, list[str]]] = {
    "sft": ("paper", "sft", []),
    "state credit": ("paper", "grpo", []),
    "exact credit": ("qwen7b", "grpo", ["phases=[{steps: 1, head_updates: 40}]"]),
}


def prompts(version: str) -> tuple[str, str]:
    """With the picture first (v1), or the text that all states share (v2)."""
    return f"sliding-{version}", f"sokoban-{version}"


def configuration(name: str, puzzle: str, steps: int) -> Any:
    """The configuration of a run of a few steps, and after how many steps the whole run would save."""
    recipe, stage, changes = RUNS[name]
    kind = SftConfig if stage == "sft" else GrpoConfig
    usual = load(f"{recipe}-{puzzle}", changes, kind, stage)
    short = load(f"{recipe}-{puzzle}", [*changes, *QUIET, f"optim.steps={steps}"], kind, stage)
    return short, _between_saves(usual)


def _between_saves(config: Any) -> int:
    """A validation saves, too."""
    return int(min(config.run.save_every, config.validation.every))


def planned(name: str, options: argparse.Namespace) -> tuple[float, float]:
    """Seconds of one rank per state that is observed, and that is learned from."""
    asked = f"model.policy.prompts=[{', '.join(prompts(options.prompt))}]"
    recipe = f"{RUNS[name][0]}-{options.puzzle}"
    model = load(recipe, [f"model.backbone=random:{options.preset}", asked], SftConfig, "sft").model
    config, _ = configuration(name, options.puzzle, 1)
    puzzle = DATA[options.puzzle].puzzle()
    estimated = estimate(config, model, puzzle, Machine(options.card, options.ranks))
    each = {count.kind: count for phase in estimated.phases for count in phase.counts}
    learn = each["learn"]
    observation = each.get("plan", each.get("sample", learn))
    playing, learning = (estimated.rate.seconds(count.flops / count.states) for count in (observation, learn))
    assert playing is not None
    assert learning is not None
    return playing, learning


def watch(stages: Stages, task: type) -> None:
    """Who is counted to which stage."""
    places = [
        (ActionDecoder, "forward", MODEL),
        (DepthHead, "forward", MODEL),
        (sampling, "starts", "start states"),
        (targets, "make", "targets"),
        (task, "patches", "pictures"),
        (Vision, "features", "kept features"),
        (task, "execute", "simulation"),
        (task, "step", "simulation"),
        (task, "distance", "distances"),
        (task, "optimal_actions", "distances"),
        (rollout.Actor, "propose", "rollout"),
        (PolicyGraph, "expand", "graph"),
        (collect, "explore", "graph"),
        (PolicyEvaluation, "values", "policy evaluation"),
        (DepthHeadOptimizer, "__call__", "head moves"),
        (collect, "plan_advantages", "credit"),
        (collect.ExactCollector, "__call__", "credit"),
        (collect.SampledCollector, "__call__", "credit"),
        (distributed.Team, "_reduce", "messages"),
        (distributed.Team, "gather", "messages"),
        (GrpoBatch, "where", "batches"),
        (GrpoBatch, "padded", "batches"),
        (Mixture, "__next__", "batches"),
        (targets, "sft_loss", "loss"),
        (objective, "grpo_loss", "loss"),
        (ReferencePolicy, "__call__", "reference"),
        (trainer.Trainer, "_log_step", "logs"),
        (trainer.Trainer, "_save_checkpoint", "checkpoint"),
    ]
    for owner, name, stage in places:
        stages.watch(owner, name, stage)


def rank(name: str, options: argparse.Namespace, place: Path) -> dict[str, Any]:
    """Run some steps as one of the ranks; CPU seconds per step by stage, and the model's."""
    torch.set_num_threads(1)
    stages, team = Stages(), distributed.meet("cpu")
    config, between = configuration(name, options.puzzle, options.steps + 1)
    own = policy(stages, options.preset, prompts(options.prompt), *options.seconds)
    data = DATA[options.puzzle]

    def make_engine(of: CommitPolicy, *_: object) -> StandInEngine:
        return StandInEngine(stages, [p for p in of.parameters() if p.requires_grad], team)

    for module, function, stand_in in (
        (initial_policy, "new_policy", lambda *_: own),
        (sft, "make_engine", make_engine),
        (grpo, "make_engine", make_engine),
    ):
        setattr(module, function, stand_in)
    if getattr(config, "head", None) is not None:
        own.replace_head(config.head)
    watch(stages, type(data.puzzle()))
    with RunDirectory(place / "run", is_main_process=team.is_main_process) as folder, Interrupt() as interrupt:
        run = _trainer(config, own, data, folder, team, place)
        _from_the_second_step(run, stages)
        assert run.run(interrupt) == 0
    outside = stages.outside()
    saved = outside.pop("checkpoint", 0.0) / between
    per_step = {stage: seconds / options.steps for stage, seconds in outside.items()}
    trained = sum(p.numel() for p in own.parameters() if p.requires_grad)
    return {"stages": per_step | {"checkpoint": saved}, "model": stages.model / options.steps, "trained": trained}


def _trainer(config: Any, own: CommitPolicy, data: DataSpec, folder: Any, team: Any, place: Path) -> Any:
    if isinstance(config, SftConfig):
        return sft.SftTrainer(config, recommit.data.open(place / "data", "train"), folder, team, quiet=True)
    return grpo.GrpoTrainer(config, grpo.puzzles_of(config, [data]), own, folder, team, quiet=True)


def _from_the_second_step(run: Any, stages: Stages) -> None:
    """The first one computes positions and starts what is started once."""
    step = run._step

    def stepping() -> Any:
        result = step()
        if run.state.step == 1:
            stages.clear()
        return result

    run._step = stepping


def launch(name: str, options: argparse.Namespace, place: Path) -> list[dict[str, Any]]:
    """All ranks of a run; what each of them found."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    recommit.data.build(DATA[options.puzzle], place / "data", workers=1)
    seconds = options.seconds or planned(name, options)
    common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(options.ranks), "OMP_NUM_THREADS": "1"}
    call = [
        sys.executable,
        __file__,
        "--run",
        name,
        "--place",
        str(place),
        *(f"--{each}={getattr(options, each)}" for each in ("puzzle", "prompt", "steps", "preset")),
        "--seconds",
        *map(str, seconds),
    ]
    processes = [
        subprocess.Popen(
            call, env=os.environ | common | {"RANK": str(i), "LOCAL_RANK": str(i)}, stdout=subprocess.PIPE, text=True
        )
        for i in range(options.ranks)
    ]
    try:
        outputs = [process.communicate()[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    if any(process.returncode for process in processes):
        raise SystemExit(f"{name}: a rank failed")
    return [json.loads(text.splitlines()[-1]) | {"seconds": seconds} for text in outputs]


def share(figures: dict[str, Any]) -> float:
    """The share of a rank's step that is not the model's."""
    outside = sum(figures["stages"].values())
    return outside / (outside + figures["model"])


def summary(name: str, every: list[dict[str, Any]]) -> dict[str, Any]:
    """The rank with the largest share, in words and numbers."""
    worst = max(every, key=share)
    whole = sum(worst["stages"].values()) + worst["model"]
    stages = sorted(worst["stages"].items(), key=lambda item: -item[1])
    look, learn = worst["seconds"]
    print(
        f"{name}: {100 * share(worst):.2f} % outside the model on the worst of {len(every)} ranks (mean "
        f"{100 * sum(map(share, every)) / len(every):.2f} %); {worst['model']:.2f} s of the model per step, "
        f"{1000 * look:.1f} ms a look, {1000 * learn:.1f} ms a state learned; {worst['trained']:,} parameters trained"
    )
    for stage, seconds in stages:
        if seconds / whole >= 5e-5:
            print(f"  {stage:<14}{1000 * seconds:9.2f} ms  {100 * seconds / whole:6.2f} %")
    return {
        "share": share(worst),
        "model_s": worst["model"],
        "look_s": look,
        "learn_s": learn,
        "stages_s": dict(stages),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--puzzle", choices=sorted(DATA), default="sokoban")
    parser.add_argument("--prompt", choices=("v1", "v2"), default="v1")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--preset", default="7b")
    parser.add_argument("--card", default="a100", choices=sorted(CARDS))
    parser.add_argument("--only", nargs="+", choices=sorted(RUNS), default=list(RUNS))
    parser.add_argument(
        "--seconds", type=float, nargs=2, help="of the model per look and per state learned; else by plan"
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(rank(options.run, options, options.place)))
        distributed.end(0)
    figures = {}
    for name in options.only:
        with tempfile.TemporaryDirectory() as place:
            figures[name] = summary(name, launch(name, options, Path(place)))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
