"""``recommit reproduce``: the commands of a preset, those side by side that read nothing of each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recommit.reproduce import preset
from recommit.runs import jobs
from recommit.storage import files, ownership
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from recommit.reproduce.options import ReproduceOptions

LOGS = "launch"


def shown(options: ReproduceOptions) -> str:
    """The commands, as a shell would run them."""
    out = options.out.absolute() if options.out else Path("OUT")
    lines = preset.load(options.preset, out)
    return jobs.shown(options.fleet(elsewhere=True), [line.job(out, options) for line in lines])


def reproduce(options: ReproduceOptions, *, quiet: bool = False) -> int:
    """Run what is missing of a preset; 0, or the status of what failed."""
    if options.out is None:
        raise ValueError("out: expected a folder, got none")
    folder = options.out.absolute()
    lines, fleet = preset.load(options.preset, folder), options.fleet()
    for line in lines:
        if (config := line.config) is not None:
            fleet.check(line.out.name, config.engine.kind)
    places = [place for line in lines for place in (line.out, *line.inputs)]
    marks = {place.relative_to(folder).parts[0] for place in places}
    ownership.refuse_foreign(folder, (*marks, LOGS), "a reproduction of this preset")
    files.make_folders(files.Files(), folder)
    with Lock(folder, work="reproduction"):  # two would sweep each other's files away
        for place in {parent for line in lines for parent in line.out.parents if folder in parent.parents}:
            files.own_folder(place)
            files.make_folders(files.Files(), place)
        return jobs.run(fleet, [line.job(folder, options) for line in lines], folder / LOGS, quiet=quiet)
