"""One run in a process of its own, to be killed: python play_once.py MODE FOLDER URL INSTANCES WORKERS."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from recommit.zero_shot import client
from recommit.zero_shot.runner import Episode, ModelPlayer


class Kept(list[dict[str, Any]]):
    """Records that nobody has written down yet."""

    add = list.append


class LateJournal(ModelPlayer):
    """The planted defect: decisions are written down when their episode is over."""

    def play(self, episode: Episode) -> None:
        journal, self.journal = self.journal, Kept()
        try:
            super().play(episode)
        finally:
            late, self.journal = self.journal, journal
            for record in late:
                journal.add(record)


def main(mode: str, folder: str, url: str, instances: int, workers: int) -> int:
    from called import zero_shot  # beside this script

    from recommit.zero_shot import runner

    if mode == "late":
        runner.ModelPlayer = LateJournal  # type: ignore[misc]
    client.FIRST_PAUSE = 0.01
    if mode == "cli":
        return through_the_command_line(folder, url, instances, workers)
    return zero_shot(
        "tiny",
        Path(folder),
        endpoint="custom",
        base_url=url,
        task="sliding",
        size=(2, 3),
        length=(4, 12),
        budget=4,
        instances=instances,
        workers=workers,
        quiet=True,
    )


def through_the_command_line(folder: str, url: str, instances: int, workers: int) -> int:
    from recommit.cli import command_line

    words = (
        f"zero-shot --model tiny --out {folder} --endpoint custom --base-url {url} --size 2 3 --length 4 12 --budget 4"
    )
    return command_line.main([*words.split(), "--instances", str(instances), "--workers", str(workers)])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], *map(int, sys.argv[4:6])))
