"""``recommit graph build``: the signature is the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from recommit.cli.graph_progress import LookedLine
from recommit.cli.requests import WrongCall
from recommit.storage.terminal_text import say, tell


def build(
    run: Path,
    /,
    out: Path,
    every_state: bool = False,
    starts: int = 1024,
    length: tuple[int, ...] = (),
    size: tuple[int, ...] = (),
    ways: bool = False,
    split: Literal["test", "validation", "train"] = "test",
    task: str = "",
    limit: int = 4_000_000,
    features: bool = False,
    views: Literal[0, 1, 2, 4, 8] = 0,
    samples: int = 0,
    seed: int = 0,
    device: str = "auto",
    threads: int = 1,
    quiet: bool = False,
) -> int:
    """Look at every state that a policy's plans can lead to, and write down the graph of commitments.

    Args:
        run: A training run, or the folder of a policy inside one.
        out: The folder of the graph: new, or one that holds a graph, which is replaced.
        every_state: Start from all states there are; for sliding boards of up to ten cells.
        starts: Instances to start from.
        length: Shortest and longest length of the instances; as in the data if not said.
        size: Rows and columns of the instances; as in the data if not said.
        ways: Also look at the states on the solver's ways from the starts: what recommit graph score --split needs.
        split: Which split of the run's data the instances are from. Choose thresholds on validation, measure on test.
        task: Which puzzle of a run that has several: sliding, or sliding-3x3 with its size.
        limit: Nodes at most; a graph that needs more is cut and cannot be scored.
        features: Keep what the depth head reads of a look, so that other heads can be trained: recommit train head.
        views: Look at so many views of every picture; 0 for as many as the policy has. Not for sliding.
        samples: Other plans drawn from the policy at every look: what the rule agreement reads.
        seed: Of these samples.
        device: cpu, cuda, or auto.
        threads: Threads of torch; 0 for as many as it likes.
        quiet: Print nothing while looking.
    """
    import numpy as np

    from recommit.data import held_out
    from recommit.graph import build as building
    from recommit.graph import files
    from recommit.graph.optimal_plans import ways as on_ways
    from recommit.policy.checkpoint import local_folder, weights_of
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.directory import recipe_of
    from recommit.runs.process import settle_to_look
    from recommit.runs.ranks import find_device
    from recommit.storage.ownership import refuse_foreign

    settle_to_look(threads)
    refuse_foreign(out, (files.MANIFEST, files.NODES, files.STARTS), "a commitment graph")
    try:
        spec = recipe_of(str(run), task)
        spec = replace(spec, size=_two("size", size)) if size else spec
        puzzle, folder = spec.puzzle(), local_folder(run)
        if every_state:
            first, groups = building.every_state(puzzle), None
        else:
            first = np.ascontiguousarray(held_out.starts(spec, split, starts, length).states)
            groups = held_out.rooms(spec, first)
        also = on_ways(puzzle, first) if ways and not every_state else None
        policy = CommitPolicy.from_pretrained(folder, device=find_device(device), anyway=bool(size)).eval()
        if views:
            policy.replace_augmentations(views)
        source = {
            "policy": weights_of(folder),
            "starts": "every state" if every_state else f"{len(first)} of {split}",
            "set": held_out.name(first),
            "views": policy.vision.augmentations(puzzle, puzzle.shape),
            **({"samples": samples, "seed": seed} if samples else {}),
        }
        options: dict[str, Any] = {"limit": limit, "features": features, "samples": samples, "seed": seed}
        line = None if quiet else LookedLine()
        graph = building.build(policy, puzzle, first, groups, also=also, **options, source=source, progress=line)
        manifest = files.write(graph, out)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    tell(f"{manifest['nodes']:,} nodes in {out}, content {manifest['content'][:16]}")
    if not manifest["closed"]:
        say(f"recommit graph: cut at {limit:,} nodes: a higher --limit is needed before rules can be scored")
    return 0


def _two(name: str, numbers: tuple[int, ...]) -> tuple[int, int]:
    if len(numbers) != 2:
        raise ValueError(f"{name}: expected two numbers, got {numbers}")
    return numbers[0], numbers[1]
