"""What ``openenv validate`` reads of a package: its manifest, and an oracle, which is a board that was solved.

The oracle is a proof: the end of an optimal plan, of whose length a solver is certain. OpenEnv is not imported.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.data.spec import SPLITS
from recommit.storage.files import Files, make_folders, replace
from recommit.version import VERSION

if TYPE_CHECKING:
    from recommit.zero_shot.game_spec import GameSpec

MANIFEST, ORACLE = "openenv.yaml", "oracle.json"
#: What a server of small boards takes.
RESOURCES = {"cpu": 1.0, "memory_mb": 1024, "disk_mb": 512, "episode_timeout_s": 60.0}


def manifest(spec: GameSpec) -> dict[str, Any]:
    """The manifest of these games: a reward of 0 or 1, tasks by split, and where the oracle is."""
    capabilities = {
        "oracle": {"form": "injected_state", "location": ORACLE},
        "verifier": {"kind": "reward_channel"},
        "set_state": True,
        "task_api": True,
        "declared_task_count": dict.fromkeys(SPLITS, spec.count),
    }
    reward = {"range": [0.0, 1.0], "oracle_tolerance": 0.0, "floor_margin": 1.0}
    types = {"tags": ["puzzle", spec.task]}
    validation = {"reward": reward, "resources": RESOURCES, "capabilities": capabilities, "types": types}
    return {"spec_version": 1, "name": "recommit", "version": VERSION, "validation": validation}


def oracle(spec: GameSpec) -> dict[str, Any]:
    """Keywords of a ``reset`` that earns the greatest reward."""
    game = spec.game("test", 0)
    while not game.over and (best := game.optimal()):
        game.commit(best)
    if not game.solved:
        raise ValueError(f"budget: expected looks enough for an optimal plan, got {spec.budget}")
    return {"injected_state": game.state.tolist()}


def write(spec: GameSpec, folder: str) -> Path:
    """Both files into ``folder``, which is made; the manifest is JSON, which is YAML too. None is written over."""
    place, files = Path(folder).absolute(), Files()
    for name in (ORACLE, MANIFEST):
        if (place / name).exists():
            raise ValueError(f"package: expected a folder without {name}, got {folder}")
    make_folders(files, place)
    for name, content in ((ORACLE, oracle(spec)), (MANIFEST, manifest(spec))):
        replace(files, place / name, f"{json.dumps(content, indent=2)}\n".encode())
    return place
