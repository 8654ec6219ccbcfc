"""``recommit serve``: an OpenEnv server. Light to import."""

from __future__ import annotations

from recommit.adapters.serving import OwnPages, ServeOptions
from recommit.storage.errors import need
from recommit.storage.terminal_text import say


def serve(options: ServeOptions) -> None:
    """Serve games to OpenEnv's clients and trainers, and to a person at /web, until interrupted."""
    spec = options.spec()
    spec.game("test", 0)
    try:
        import uvicorn
    except ImportError:
        raise need("uvicorn", "openenv") from None

    from recommit.adapters.openenv import app

    shown = {"web": options.web, "oracle": options.oracle, "show_distance": options.show_distance}
    served = OwnPages(app(spec, sessions=options.sessions, **shown), options.host)
    place = f"http://{options.host}:{options.port}{'/web' if options.web else ''}"
    say(f"{options.task}, {options.count} games per split: {place}")
    uvicorn.run(served, host=options.host, port=options.port, log_level="warning")
