"""``recommit graph compare``: the signature is the command line. Light to import."""

from __future__ import annotations

from json import dumps
from pathlib import Path

from recommit.cli.graph_progress import LookedLine
from recommit.cli.requests import WrongCall
from recommit.storage.terminal_text import say, tell


def compare(
    runs: Path,
    /,
    out: Path,
    preset: str = "laptop",
    set: tuple[str, ...] = (),
    puzzles: tuple[str, ...] = (),
    seeds: tuple[int, ...] = (),
    instances: int = 1024,
    validation: int = 512,
    harder: int = 1024,
    device: str = "auto",
    threads: int = 1,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Compare the depth head with every rule without training, on the plans of all runs of a preset.

    Graphs of all policies are built once, and stay in the folder. Puzzles that an earlier call has compared there stay
    on the page.

    Args:
        runs: The folder of recommit reproduce. What is not finished there is named and left out.
        out: The folder for graphs, scores-PUZZLE.json, tables-PUZZLE.md, figures and the page.
        preset: That of the runs: laptop, or a YAML file.
        set: Values of the preset that the runs were made with, as recommit reproduce has them.
        puzzles: Those of the preset to compare; all whose runs are there if not said.
        seeds: Those of the runs to compare; all that are finished if not said.
        instances: Test instances.
        validation: Instances that thresholds and constants are chosen on.
        harder: Longer or larger instances; and so many test instances are also played with optimal plans.
        device: cpu, cuda, or auto.
        threads: Threads of torch; 0 for as many as it likes.
        json: Print the scores instead of the page.
        quiet: Say nothing while working.
    """

    from recommit.reproduce import preset as presets
    from recommit.reproduce.compare import folder
    from recommit.runs.process import settle_to_look

    settle_to_look(threads)
    try:
        entries = presets.entries(presets.load(preset, set), runs.absolute())
        names = [entry.name for entry in entries]
        if wrong := [name for name in puzzles if name not in names]:
            raise WrongCall(f"puzzles: expected some of {', '.join(names)}, got {wrong[0]}")
        wanted = [entry for entry in entries if (entry.name in puzzles if puzzles else entry.folder.is_dir())]
        if not wanted:
            raise WrongCall(
                f"runs: expected a folder with {' or '.join(names)}, as --preset {preset} makes it, got {runs}"
            )
        sizes = {"test": instances, "validation": validation, "harder": harder}
        gathered, progress = (_silent, None) if quiet else (say, LookedLine())
        call = _call(runs, out, preset, sizes)
        page, scores = folder.compare(wanted, out, seeds, sizes, device, gathered, progress, call)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    tell(dumps(scores, indent=2) if json else page, end="")
    return 0


#: Instances of every kind, if not said.
SIZES = {"test": 1024, "validation": 512, "harder": 1024}


def _call(runs: Path, out: Path, preset: str, sizes: dict[str, int]) -> str:
    """The command that makes this page again, without places of this machine."""
    words = [
        "recommit graph compare",
        runs.absolute().name,
        "" if preset == "laptop" else f"--preset {Path(preset).name}",
    ]
    flags = {"test": "instances"}
    words += [f"--{flags.get(name, name)} {size}" for name, size in sizes.items() if size != SIZES[name]]
    return " ".join([*filter(None, words), "--out", out.absolute().name])


def _silent(text: object) -> None:
    del text
