"""The configuration of each run of a family, from a recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.rollout.variants import variant
from recommit.train.config import changed, section
from recommit.train.grpo.config import GrpoConfig
from recommit.train.parsing import mapping

if TYPE_CHECKING:
    from collections.abc import Sequence


def family(recipe: str, names: Sequence[str], changes: Sequence[str], flags: dict[str, Any]) -> dict[str, GrpoConfig]:
    """Read each run's: the stage grpo of a recipe, what its stage family says of fixed depths or of a run of this name,
    ``flags`` that are not None, and ``changes``. A run that is not called like its variant has it among its values."""
    special = {name: mapping(values, f"family.{name}") for name, values in section(recipe, "family").items()}
    own = {name: {"variant": name, **special.get(name, {})} for name in names}
    fixed = {name: special.get("fixed", {}) if variant(values["variant"]).depth else {} for name, values in own.items()}
    flags = {name: value for name, value in flags.items() if value is not None}
    return {name: changed(recipe, {**fixed[name], **own[name], **flags}, changes, GrpoConfig, "grpo") for name in names}
