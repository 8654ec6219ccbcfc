"""A level solved and a policy swept where nothing but numpy can be imported beside this package.

    python alone.py FOLDER

``scripts/wheel`` runs it with a wheel, where there is no compiler either.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

MAY = {"numpy", "recommit", *sys.stdlib_module_names}


class Missing:
    """Every other package is missing."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] not in MAY:
            raise ModuleNotFoundError(f"{name}: neither numpy nor this package", name=name)


class Discrete:
    """Gymnasium's space of two actions, without Gymnasium."""

    def __init__(self) -> None:
        import numpy as np

        self.n, self.start, self.shape, self.dtype = 2, 0, (), np.dtype(np.int64)


class Signal:
    """The right action is 1 at every third tick and 0 at the others; an episode has twelve."""

    def __init__(self) -> None:
        self.action_space = Discrete()

    def reset(self, *, seed: int) -> tuple[list[int], dict[str, Any]]:
        self.seed, self.tick = seed, 0
        return [seed % 3], {}

    def step(self, action: Any) -> tuple[list[int], float, bool, bool, dict[str, Any]]:
        right = action == ((self.seed + self.tick) % 3 == 0)
        self.tick += 1
        return [(self.seed + self.tick) % 3], float(right), self.tick == 12, False, {}


class Policy:
    """Right for four of its six actions."""

    def predict(self, observations: Any) -> Any:
        import numpy as np

        ticks = np.arange(6)
        return ((observations + ticks) % 3 == 0).astype(np.int64) ^ (ticks >= 4)


def main(out: Path) -> None:
    sys.meta_path.insert(0, Missing())
    import recommit
    from recommit.horizon.sweep import SweepOptions, run

    (level,) = recommit.solve(recommit.parse_levels("#######\n#@ $ .#\n#######\n"))
    card = run(SweepOptions(out=out, episodes=4, validation=4), env=Signal, policy=Policy())
    returns = {row["name"]: row["score"][0] for row in card["summary"]}
    print(level.letters, returns["fixed-4"], returns["fixed-6"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
