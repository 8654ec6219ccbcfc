"""``recommit report``: the signature is the command line. Light to import."""

from __future__ import annotations

from json import dumps
from pathlib import Path

from recommit.cli.flags import usual
from recommit.cli.requests import WrongCall, check_place
from recommit.storage.terminal_text import tell

#: Endings of the files of a figure.
FORMS = (".svg", ".pdf", ".csv")


@usual(seeds="this evaluation alone", figures="none")
def report(
    eval: Path,
    /,
    out: Path,
    seeds: tuple[Path, ...] = (),
    instances: int = 48,
    figures: Path | None = None,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Write one page about an evaluation: figures, tables and episodes to watch; it needs no server and no network.

    Args:
        eval: The folder of an evaluation (see recommit evaluate).
        out: The page to write, an HTML file; it is replaced whole or not at all.
        seeds: Evaluations of the same family with other seeds; one table takes all of them together.
        instances: Episodes of so many instances can be watched at most.
        figures: Write every figure to this folder as well, as SVG, PDF and CSV.
        json: Print JSON.
        quiet: Print nothing.
    """
    from recommit.report import page

    if instances < 0:
        raise WrongCall(f"instances: expected 0 or more, got {instances}")
    check_place(out, makes_folders=True)
    _refuse_other_files(out, figures)
    try:
        document = page.write(Path(eval), Path(out), instances, seeds)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise WrongCall(f"eval: {eval} holds an evaluation that cannot be read: {error!r}") from None
    if figures is not None:
        from recommit.report.pdf import write_folder

        write_folder(document.figures, Path(figures))
    counts = {"figures": len(document.figures), "watched": document.watched, "instances": document.of}
    if json:
        tell(dumps({"out": str(out), **counts}))
    elif not quiet:
        tell(f"{out}: {counts['figures']} figures, {counts['watched']} of {counts['instances']} instances to watch")
    return 0


def _refuse_other_files(out: Path, figures: Path | None) -> None:
    """Leave alone what is no page, and a folder that holds more than figures."""
    from recommit.storage import safe_open

    if out.exists() and b"<html" not in safe_open.content(out)[:1000].lower():
        raise WrongCall(f"out: expected a new file or an HTML page, got {out}, which is neither")
    others = figures is not None and figures.is_dir() and [e.name for e in figures.iterdir() if e.suffix not in FORMS]
    if others:
        raise WrongCall(f"figures: expected a new folder or one of figures, got {figures} with {min(others)}")
