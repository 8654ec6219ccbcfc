"""``recommit serve openenv``: the signature is the command line. Light to import."""

from __future__ import annotations

from typing import Literal

from recommit.cli.flags import usual
from recommit.cli.requests import WrongCall, check_port
from recommit.puzzles.registry import Task
from recommit.storage.errors import need
from recommit.storage.terminal_text import say


@usual(size="8 of sokoban and ice, 3 of sliding", length="those of the puzzle")
def openenv(
    task: Task = "sliding",
    size: tuple[int, ...] = (),
    boxes: int = 0,
    length: tuple[int, ...] = (),
    budget: int = 0,
    count: int = 256,
    seed: int = 0,
    view: Literal["image", "text"] = "image",
    cell: int = 56,
    lenient: bool = False,
    oracle: bool = False,
    show_distance: bool = False,
    web: bool = True,
    sessions: int = 64,
    package: str = "",
    host: str = "127.0.0.1",
    port: int = 8000,
) -> None:
    """Serve games to OpenEnv's clients and trainers, and to a person at /web, until interrupted.

    Args:
        task: Which puzzle.
        size: Rows, or rows and columns; the usual size if not said.
        boxes: Boxes of a Sokoban level.
        length: Optimal length of every start, or the shortest and longest; the usual ones if not said.
        budget: Looks per game; the loose budget of the paper if not said.
        count: Instances of each split.
        seed: Which instances.
        view: image adds a picture to the text of an observation.
        cell: Pixels per cell of the picture.
        lenient: Take commitments of any length up to eight.
        oracle: Add the best commitment to every observation, for validation.
        show_distance: Add the exact distance to every observation.
        web: Show a board to play at /web.
        sessions: Most sessions at once.
        package: Write the manifest and the oracle for `openenv validate` into this folder; nothing is served.
        host: The address to listen at.
        port: The port to listen at.
    """
    from recommit.zero_shot.game_spec import GameSpec

    check_port(port)
    try:
        spec = GameSpec(task, size, boxes, length, budget, count, seed, view, cell, lenient=lenient)
        spec.game("test", 0)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    if package:
        from recommit.adapters import openenv_package

        try:
            say(f"{openenv_package.write(spec, package)}: openenv.yaml, oracle.json")
        except ValueError as error:
            raise WrongCall(str(error)) from None
        return
    try:
        import uvicorn
    except ImportError:
        raise need("uvicorn", "openenv") from None

    from recommit.adapters import openenv as adapter
    from recommit.adapters.own_pages import OwnPages

    app = OwnPages(adapter.app(spec, sessions=sessions, web=web, oracle=oracle, show_distance=show_distance), host)
    say(f"{task}, {count} games per split: http://{host}:{port}{'/web' if web else ''}")
    uvicorn.run(app, host=host, port=port, log_level="warning")


#: verb -> what it runs
COMMANDS = {"openenv": openenv}
