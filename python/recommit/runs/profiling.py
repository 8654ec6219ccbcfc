"""Where the time of a step goes: torch's profiler over a few steps of a run.

FOLDER/trace.json.gz    every operation of these steps, for https://ui.perfetto.dev (which keeps it in the browser) or
                        chrome://tracing
FOLDER/operators.txt    the table that was printed: the operators that took longest by themselves
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from recommit.storage import files, safe_open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The first steps of a start fill caches and choose kernels. Of the last of these the profiler fills its own.
SKIPPED = 3
#: Operators in the table.
ROWS = 15


@contextmanager
def profiled(steps: int, folder: Path, tell: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """Gives what is to be called after every step; so many are watched, or as many as there are."""
    if not steps:
        yield lambda: None
        return
    from torch.profiler import profile, schedule

    def written(profiler: Any) -> None:
        disk = files.Files()
        files.make_folders(disk, folder)
        trace = folder / "trace.json.gz"
        with TemporaryDirectory() as elsewhere:  # the profiler would write through a link
            profiler.export_chrome_trace(f"{elsewhere}/{trace.name}")
            with safe_open.reading(Path(elsewhere) / trace.name) as whole, files.replacing(trace, disk) as file:
                shutil.copyfileobj(whole, file)
        averages = profiler.key_averages()
        on_gpu = any(each.self_device_time_total for each in averages)
        table = averages.table(
            sort_by=f"self_{'device' if on_gpu else 'cpu'}_time_total", row_limit=ROWS, max_name_column_width=40
        )
        files.replace(disk, folder / "operators.txt", table.encode())
        tell(f"{table}\n{trace}: open it at https://ui.perfetto.dev")

    plan = schedule(wait=SKIPPED - 1, warmup=1, active=steps, repeat=1)
    with profile(schedule=plan, on_trace_ready=written) as profiler:
        yield profiler.step
