"""What an agent does, in words: ``fixed-8@fixed-8-s0`` is "plans trained for depth 8, always 8"."""

from __future__ import annotations

import re
from pathlib import PurePath

_WORDS = {
    "adaptive": "adaptive depth",
    "wary": "adaptive depth with a memory",
    "sampled": "adaptive depth, drawn",
    "random": "depths drawn evenly",
    "shuffled": "adaptive's depths, shuffled",
    "mixture": "best mixture that ignores the state",
    "oracle-dp": "exact ceiling",
    "oracle-delta": "depth of most progress",
    "oracle-rate": "depth of most progress per action",
    "solver": "optimal plans",
    "walker": "random actions",
}
_TRAINED = {
    "adaptive": "another seed's plans",
    "random": "plans trained under random depths",
    "depth-only": "plans of the warm start, the depth head trained alone",
    "paper": "the paper's recipe",
}


def readable(base: str, run: str) -> str:
    """Whose plans, and how deep; ``run`` is empty for the evaluation's own policy. Unknown names stay as they are."""
    fixed = re.fullmatch(r"fixed-([1-8])(-sampled)?", base)
    depth = f"always {fixed[1]}" + (", actions drawn" if fixed[2] else "") if fixed else _WORDS.get(base, base)
    return f"{_whose_plans(run)}, {depth}" if run else f"the same plans, {depth}" if fixed else depth


def _whose_plans(run: str) -> str:
    """By the name of the run's folder, as ``recommit train family`` gives it, with its seed or without."""
    trained = re.fullmatch(r"(?:.*/)?(fixed-([1-8])|adaptive|random|depth-only|paper)(?:-s\d+)?", run)
    if not trained:
        return f"plans of {'the warm start' if PurePath(run).name == 'init' else run}"
    return f"plans trained for depth {trained[2]}" if trained[2] else _TRAINED[trained[1]]
