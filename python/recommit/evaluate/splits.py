"""Which instances an evaluation plays, and which its choices are made on.

A fresh split is read once: evaluations side by side in a folder of results have the same one, and each judges another
policy by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit.data import held_out
from recommit.storage import verified

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.data.sampling import Starts
    from recommit.data.spec import DataSpec
    from recommit.evaluate.options import EvaluateOptions

_REMEDY = "; another folder of results has a fresh split of its own"


def played(options: EvaluateOptions, data: DataSpec) -> Starts:
    """Those that figures are of."""
    if options.fresh:
        return held_out.fresh(data, options.fresh, options.instances, options.length)
    if options.split == "validation":
        return _validation(options, data).where(slice(None, options.instances))
    return held_out.starts(data, options.split, options.instances, options.length)


def chosen_on(options: EvaluateOptions, data: DataSpec) -> NDArray[np.uint8]:
    """Validation instances for choices; none of them is played."""
    if options.split != "validation":
        return np.ascontiguousarray(held_out.starts(data, "validation", options.validation, options.length).states)
    return np.ascontiguousarray(_validation(options, data).states[options.instances :])


def _validation(options: EvaluateOptions, data: DataSpec) -> Starts:
    return held_out.starts(data, "validation", options.instances + options.validation, options.length)


def judge(options: EvaluateOptions, evaluation: Path, test_set: str, policies: dict[str, str]) -> None:
    """Refuse to judge by another fresh split than the evaluations beside this one, or a policy that
    one of them has judged."""
    if not options.fresh:
        return
    split = {"fresh": options.fresh, "instances": options.instances, "length": list(options.length)}
    split["test_set"] = test_set
    for other in sorted(path.parent for path in evaluation.parent.glob("*/policies.json")):
        plan = verified.values(other, "plan.json", {"run": str})
        if other == evaluation or not plan.get("fresh"):
            continue
        if differing := [name for name in split if plan.get(name) != split[name]]:
            expected = ", ".join(f"{name} {plan.get(name)}" for name in differing)
            got = ", ".join(str(split[name]) for name in differing)
            raise ValueError(f"fresh: expected the split of {other}, {expected}, got {got}{_REMEDY}")
        if verified.values(other, "policies.json").get(plan["run"]) == policies.get(str(options.run)):
            raise ValueError(
                f"fresh: expected a policy that was not judged yet, got {options.run.name}, which {other} has "
                f"judged{_REMEDY}"
            )
