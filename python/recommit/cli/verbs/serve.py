"""``recommit serve``: an OpenEnv server. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recommit.cli.boards import check_port
from recommit.puzzles.registry import Task
from recommit.storage.errors import need
from recommit.storage.terminal_text import say


@dataclass(frozen=True)
class ServeOptions:
    """Which games are served, and where.

    Args:
        task: Which puzzle.
        size: Rows, or rows and columns (default: 8; of sliding 3).
        boxes: Boxes of a Sokoban level; 0 for the usual number.
        length: Optimal length of every start, or the shortest and longest (default: those of the puzzle).
        budget: Observations per game; 0 for the loose budget of the paper.
        count: Instances of each split.
        seed: Which instances.
        view: image adds a picture to the text of an observation.
        cell: Pixels per cell of the picture.
        lenient: Take commitments of any length up to eight.
        oracle: Add the best commitment to every observation, for validation.
        show_distance: Add the exact distance to every observation.
        web: Show a board to play at /web.
        sessions: Sessions at once at most.
        package: Write the manifest and the oracle for `openenv validate` into this folder; nothing is served.
        host: The address to listen at.
        port: The port to listen at.
    """

    task: Task = "sliding"
    size: tuple[int, ...] = ()
    boxes: int = 0
    length: tuple[int, ...] = ()
    budget: int = 0
    count: int = 256
    seed: int = 0
    view: Literal["image", "text"] = "image"
    cell: int = 56
    lenient: bool = False
    oracle: bool = False
    show_distance: bool = False
    web: bool = True
    sessions: int = 64
    package: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8000


def serve(options: ServeOptions) -> None:
    """Serve games to OpenEnv's clients and trainers, and to a person at /web, until interrupted."""
    from recommit.zero_shot.game_spec import GameSpec

    check_port(options.port)
    names = ("task", "size", "boxes", "length", "budget", "count", "seed", "view", "cell")
    spec = GameSpec(**{name: getattr(options, name) for name in names}, lenient=options.lenient)
    spec.game("test", 0)
    if options.package:
        from recommit.adapters import openenv_package

        say(f"{openenv_package.write(spec, str(options.package))}: openenv.yaml, oracle.json")
        return
    try:
        import uvicorn
    except ImportError:
        raise need("uvicorn", "openenv") from None

    from recommit.adapters import openenv as adapter
    from recommit.adapters.own_pages import OwnPages

    host, port, shown = options.host, options.port, ("sessions", "web", "oracle", "show_distance")
    app = OwnPages(adapter.app(spec, **{name: getattr(options, name) for name in shown}), host)
    say(f"{options.task}, {options.count} games per split: http://{host}:{port}{'/web' if options.web else ''}")
    uvicorn.run(app, host=host, port=port, log_level="warning")
