"""``recommit graph build``: the commitment graph of a run's best policy, from instances of its data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import held_out
from recommit.graph import build, files
from recommit.graph.optimal_plans import ways
from recommit.policy.checkpoint import local_folder, weights_of
from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import recipe_of
from recommit.runs.process import configure_inference
from recommit.runs.ranks import find_device
from recommit.storage.ownership import refuse_foreign

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.graph.options import GraphBuildOptions


def build_graph(options: GraphBuildOptions, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Build a graph and write it; its manifest. ``progress``: see ``build.build``."""
    configure_inference(options.threads)
    refuse_foreign(options.out, (files.MANIFEST, files.NODES, files.STARTS), "a commitment graph")
    spec = recipe_of(str(options.run), options.task)
    if options.size:
        spec = replace(spec, size=(options.size[0], options.size[1]))
    puzzle, folder = spec.puzzle(), local_folder(options.run)
    if options.every_state:
        first, groups = build.every_state(puzzle), None
    else:
        first = np.ascontiguousarray(held_out.starts(spec, options.split, options.starts, options.length).states)
        groups = held_out.rooms(spec, first)
    policy = CommitPolicy.from_pretrained(folder, device=find_device(options.device), anyway=bool(options.size)).eval()
    if options.views:
        policy.replace_augmentations(options.views)
    drawn = {"samples": options.samples, "seed": options.seed}
    source = {
        "policy": weights_of(folder),
        "starts": "every state" if options.every_state else f"{len(first)} of {options.split}",
        "set": held_out.name(first),
        "views": policy.vision.augmentations(puzzle, puzzle.shape),
        **(drawn if options.samples else {}),
    }
    graph = build.build(
        policy,
        puzzle,
        first,
        groups,
        also=ways(puzzle, first) if options.ways and not options.every_state else None,
        limit=options.limit,
        features=options.features,
        source=source,
        progress=progress,
        **drawn,
    )
    return files.write(graph, options.out)
