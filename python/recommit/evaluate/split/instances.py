"""Which instances an evaluation plays, and which its choices are made on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit.data import held_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.sampling import Starts
    from recommit.data.spec import DataSpec
    from recommit.evaluate.spec import EvaluationSpec


def played(spec: EvaluationSpec, data: DataSpec) -> Starts:
    """Those that figures are of."""
    if spec.fresh:
        return held_out.fresh(data, spec.fresh, spec.instances, spec.length)
    if spec.split == "validation":
        return _validation(spec, data).where(slice(None, spec.instances))
    return held_out.starts(data, spec.split, spec.instances, spec.length)


def chosen_on(spec: EvaluationSpec, data: DataSpec) -> NDArray[np.uint8]:
    """Validation instances for choices; none of them is played."""
    if spec.split != "validation":
        return np.ascontiguousarray(held_out.starts(data, "validation", spec.validation, spec.length).states)
    return np.ascontiguousarray(_validation(spec, data).states[spec.instances :])


def _validation(spec: EvaluationSpec, data: DataSpec) -> Starts:
    return held_out.starts(data, "validation", spec.instances + spec.validation, spec.length)
