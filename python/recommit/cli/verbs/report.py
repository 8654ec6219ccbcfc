"""``recommit report``: the signature is the command line. Light to import."""

from __future__ import annotations

from pathlib import Path

from recommit.cli.flags import usual
from recommit.cli.requests import WrongCall
from recommit.storage.foreign_text import tell


@usual(seeds="this evaluation alone", figures="none")
def report(
    eval: Path,
    /,
    out: Path,
    seeds: tuple[Path, ...] = (),
    instances: int = 48,
    figures: Path | None = None,
    quiet: bool = False,
) -> int:
    """Write one page about an evaluation: figures, tables and episodes to watch; it needs no server and no network.

    Args:
        eval: The folder of an evaluation (see recommit evaluate).
        out: The page to write, an HTML file; it is replaced whole or not at all.
        seeds: Evaluations of the same family with other seeds; one table takes all of them together.
        instances: Episodes of so many instances can be watched at most.
        figures: Write every figure to this folder as well, as SVG, PDF and CSV.
        quiet: Print nothing.
    """
    from recommit.report import page

    if instances < 0:
        raise WrongCall(f"instances: expected 0 or more, got {instances}")
    try:
        document = page.write(Path(eval), Path(out), instances, seeds)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise WrongCall(f"eval: {eval} holds an evaluation that cannot be read: {error!r}") from None
    if figures is not None:
        from recommit.report.pdf import write_folder

        write_folder(document.figures, Path(figures))
    if not quiet:
        text = f"{out}: {len(document.figures)} figures, {document.watched} of {document.of} instances to watch\n"
        tell(text, end="")
    return 0
