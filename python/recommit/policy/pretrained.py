"""Policies that come with the package: ``CommitPolicy.from_pretrained("sliding-3x3")`` loads one by name; so does every
command that takes the folder of a run or policy.

    pretrained/NAME/config.json    what its training data were made from, as a run has it
    pretrained/NAME/best.json      names the policy beside it, as a run has it
    pretrained/NAME/policy/        the policy, weights in half precision
    pretrained/NAME/card.json      how it was made, what it reaches, and the sha256 of its files

``python -m bench.pages.pretrained`` writes these folders.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from recommit.storage import verified

FOLDER = Path(__file__).resolve().parents[1] / "pretrained"
CARD = "card.json"
#: Fields of a card: see ``bench.pages.pretrained``.
CARD_FIELDS: verified.Fields = {
    "task": str,
    "about": str,
    "command": str,
    "commit": str,
    "seed": int,
    "hours": verified.NUMBER,
    "weights": str,
    "figures": list,
    "check": dict,
}


def names() -> list[str]:
    """The names of all policies of the package."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{CARD}"))


def find(name: str | Path) -> Path:
    """The folder of a packaged policy, if ``name`` is one and no local path has that name; else ``name`` as a path."""
    if os.path.lexists(name) or str(name) not in names():
        return Path(name)
    return FOLDER / str(name)


def unknown(name: str | Path, kind: str = "a run or of a saved policy") -> ValueError:
    """The error for a name that is neither a folder (of ``kind``) nor a packaged policy."""
    known = ", ".join(names())
    return ValueError(
        f"run: expected the folder of {kind}, or one of {known} (recommit policies), got none by the name {name}"
    )


def card(name: str) -> dict[str, Any]:
    """The card of a packaged policy: how it was trained, and its results."""
    if name not in (known := names()):
        raise ValueError(f"policy: expected one of {', '.join(known)}, got {name}")
    return verified.values(FOLDER / name, CARD, CARD_FIELDS)
