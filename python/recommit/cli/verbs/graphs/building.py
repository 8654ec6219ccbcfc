"""``recommit graph build``: the signature is the command line."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, Literal

from recommit.cli.requests import WrongCall
from recommit.storage.foreign_text import say, tell


def build(
    run: Path,
    /,
    out: Path,
    every_state: bool = False,
    starts: int = 1024,
    length: tuple[int, ...] = (),
    split: Literal["test", "validation", "train"] = "test",
    task: str = "",
    limit: int = 4_000_000,
    features: bool = False,
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
        split: Which split of the run's data the instances are from. Choose thresholds on validation, measure on test.
        task: Which puzzle of a run that has several: sliding, or sliding-3x3 with its size.
        limit: Nodes at most; a graph that needs more is cut and cannot be scored.
        features: Keep what the depth head reads of a look, so that other heads can be trained: recommit graph fit.
        samples: Other plans drawn from the policy at every look: what the rule agreement reads.
        seed: Of these samples.
        device: cpu, cuda, or auto.
        threads: Threads of torch; 0 for as many as it likes.
        quiet: Print nothing while looking.
    """
    import numpy as np
    import torch

    from recommit.data.starts import held_out
    from recommit.graphs import build as building
    from recommit.graphs import files
    from recommit.policy.checkpoint import local_folder, weights_of
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.directory import recipe_of
    from recommit.runs.ranks import find_device

    if threads:
        torch.set_num_threads(threads)
    try:
        spec = recipe_of(str(run), task)
        puzzle = spec.puzzle()
        folder = local_folder(run)
        if every_state:
            first, groups = building.every_state(puzzle), None
        else:
            first = np.ascontiguousarray(held_out.starts(spec, split, starts, length).states)
            groups = held_out.rooms(spec, first)
        policy = CommitPolicy.from_pretrained(folder, device=find_device(device)).eval()
        source = {
            "policy": weights_of(folder),
            "starts": "every state" if every_state else f"{len(first)} of {split}",
            "set": held_out.name(first),
            **({"samples": samples, "seed": seed} if samples else {}),
        }
        options: dict[str, Any] = {"features": features, "samples": samples, "seed": seed}
        line = None if quiet else _Line()
        graph = building.build(policy, puzzle, first, groups, limit=limit, **options, source=source, progress=line)
        manifest = files.write(graph, out)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    tell(f"{manifest['nodes']:,} nodes in {out}, content {manifest['content'][:16]}")
    if not manifest["closed"]:
        say(f"recommit graph: cut at {limit:,} nodes: a higher --limit is needed before rules can be scored")
    return 0


class _Line:
    """How many states were looked at, on one line of a terminal, or now and then elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._begin = self._last = time.monotonic()

    def __call__(self, looked: int, nodes: int) -> None:
        now = time.monotonic()
        if now - self._last < (0.2 if self._live else 20.0) and looked < nodes:
            return
        self._last = now
        rate = looked / max(now - self._begin, 1e-9)
        say(f"looked at {looked:,} of {nodes:,} states so far, {rate:,.0f} per second", over=self._live, end="\n")
