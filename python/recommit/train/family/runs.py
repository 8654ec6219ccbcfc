"""Training runs as values: what each is made of, where it lies, how far it is, and how it is started."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.runs import side_by_side
from recommit.runs.checkpoints import COMMIT, Checkpoints
from recommit.runs.progress import named
from recommit.storage import files, ownership, verified
from recommit.train.config import plain
from recommit.train.grpo.old_config import updated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.train.config import SftConfig
    from recommit.train.grpo.config import GrpoConfig

#: Names the best policy; see ``recommit.runs.directory``.
BEST = "best.json"


@dataclass(frozen=True)
class Run:
    """One warm start from data sets, or one reinforcement from a warm start."""

    verb: Literal["sft", "grpo"]
    config: SftConfig | GrpoConfig
    #: A data set or several, or the run (or saved policy) to start from.
    source: str | Path | tuple[str | Path, ...]
    folder: Path
    #: Whose recipe makes the instances, where the warm start has learned several puzzles.
    data: Path | None = None

    @property
    def name(self) -> str:
        """That of its folder."""
        return self.folder.name

    @property
    def flags(self) -> list[str]:
        """Flags of ``recommit train``, but for the recipe."""
        words = ["--data" if self.verb == "sft" else "--init", *map(str, self.sources), "--out", str(self.folder)]
        return words if self.data is None else [*words, "--data", str(self.data)]

    @property
    def sources(self) -> tuple[Path, ...]:
        """``source``, one or several."""
        return tuple(map(Path, self.source if isinstance(self.source, tuple) else (self.source,)))

    @property
    def step(self) -> int:
        """Step of its newest whole checkpoint; 0 if there is none."""
        newest = Checkpoints(self.folder / "checkpoints").newest(lambda _text: None) if self.folder.is_dir() else None
        return 0 if newest is None else newest.step

    @property
    def finished(self) -> bool:
        """Has it taken all its steps, kept the last one whole, and written what follows from that?"""
        return self.step >= self.config.optim.steps and self._settled

    @property
    def _settled(self) -> bool:
        """Is the best policy named, and everything sealed? A run that died after its last checkpoint, or while it was
        begun again, may lack both, and goes on to them. Runs from before there were digests have none."""
        if os.path.lexists(self.folder / verified.DIGESTS):
            return BEST in verified.digests(self.folder)
        return (self.folder / BEST).is_file()

    @property
    def state(self) -> str:
        """In words; unlike ``finished`` it does not read checkpoints to see that they are whole."""
        sealed = sorted(self.folder.glob(f"checkpoints/step-*/{COMMIT}"))
        step = int(sealed[-1].parent.name.removeprefix("step-")) if sealed else 0
        if step >= self.config.optim.steps and (self.folder / BEST).is_file():
            return "finished"
        return f"can go on after step {step}" if step else "missing"

    def recipe(self) -> bytes:
        """The whole configuration as a recipe file."""
        import yaml

        return str(yaml.safe_dump({self.verb: json.loads(json.dumps(plain(self.config)))}, sort_keys=False)).encode()

    def skipped(self) -> bool:
        """Is it finished? With another configuration or from another start it is refused, not mixed in."""
        if not self.finished:
            return False
        begun = json.loads(json.dumps(updated(verified.values(self.folder, "config.json"))))
        now = json.loads(json.dumps(plain(self.config)))
        ownership.check(self.folder, _common(begun, now), _common(now, begun))
        if all(source.is_dir() for source in self.sources):
            ownership.check(self.folder, *self._starts(begun))
        return True

    def _starts(self, begun: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the finished run started from, and what its sources hold now, by content."""
        if self.verb == "grpo":
            return {"init": begun["init"]}, {"init": _weights(self.sources[0])}
        from recommit.train.sft.run import described, opened

        return {"data": _contents(begun["data"])}, {"data": _contents(described(opened(self.sources)))}

    def train(self, quiet: bool) -> int:
        """Run, or go on with it, in this process."""
        from recommit.train.grpo import run as grpo
        from recommit.train.sft import run as sft

        with named(self.name):
            if self.verb == "sft":
                return sft.train(self.config, self.source, self.folder, quiet=quiet)  # type: ignore[arg-type]
            start = self.sources[0]
            return grpo.train(self.config, start, self.folder, data=self.data, quiet=quiet)  # type: ignore[arg-type]


def train(runs: Sequence[Run], *, jobs: int = 1, quiet: bool = False) -> int:
    """Train what is missing in processes of this machine, ``jobs`` at a time; 0 when all are finished."""
    for run in runs:
        files.own_folder(run.folder)
    missing = [run for run in runs if not run.skipped()]
    if jobs == 1 or len(missing) < 2:
        return next((status for run in missing if (status := run.train(quiet))), 0)
    return side_by_side.run(Run.train, [(run, quiet) for run in missing], jobs)


def _contents(data: Any) -> list[str]:
    """Content hashes in what a configuration says of its data."""
    return [each["content_sha256"] for each in (data if isinstance(data, list) else [data])]


def _weights(init: str | Path) -> str:
    from recommit.policy.checkpoint import local_folder, weights_of

    return weights_of(local_folder(init))


def _common(one: Any, other: Any) -> Any:
    """What both have: a version may know values that another does not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _common(value, other[key]) for key, value in one.items() if key in other}
    return one
