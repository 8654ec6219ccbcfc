"""The credit audit as a table, as numbers and as a figure."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recommit.storage import files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.train.baselines.audit import AuditRow

COLORS = {
    "exact": "#1c5fb8",
    "branch": "#0b7a55",
    "episode": "#d98a3d",
    "episode-scaled": "#a33d00",
    "state": "#23232b",
    "ppo-gae": "#a8407f",
    "q": "#7ba4dd",
}


def table(rows: Sequence[AuditRow]) -> str:
    """Markdown: a line per credit, cosines by number of episodes."""
    counts = sorted({row.episodes for row in rows})
    head = ["credit", *(f"cosine, {count:,}" for count in counts), "bias", f"noise, {counts[-1]:,}"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name in dict.fromkeys(row.credit for row in rows):
        own = {row.episodes: row for row in rows if row.credit == name}
        last = own[counts[-1]]
        bias = f"{last.bias:.3f}" if last.enumerated else f"about {last.bias:.3f}"
        cells = [name, *(f"{own[count].cosine:.3f}" for count in counts), bias, f"{last.noise:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plain(rows: Sequence[AuditRow]) -> list[dict[str, Any]]:
    """Plain values."""
    return [asdict(row) for row in rows]


def write(out: Path, rows: Sequence[AuditRow], text: str) -> None:
    """audit.json, audit.md, and audit.svg where matplotlib is there."""
    work = files.Files()
    files.make_folders(work, out.absolute())
    files.replace(work, out / "audit.json", (json.dumps(plain(rows), indent=2, allow_nan=False) + "\n").encode())
    files.replace(work, out / "audit.md", text.encode())
    if importlib.util.find_spec("matplotlib") is None:
        return
    files.replace(work, out / "audit.svg", figure(rows))


def figure(rows: Sequence[AuditRow]) -> bytes:
    """Cosine with the exact gradient over the number of episodes."""
    import io

    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "recommit", "font.size": 9, "svg.fonttype": "path"}):
        drawing = Figure(figsize=(6, 3.6))  # not of pyplot, whose backend is the user's
        axes = drawing.subplots()
        for name in dict.fromkeys(row.credit for row in rows):
            own = sorted((row.episodes, row.cosine) for row in rows if row.credit == name)
            x, y = zip(*own, strict=True)
            axes.plot(x, y, marker="o", markersize=4, linewidth=1, color=COLORS[name], label=name)
        axes.set(
            xscale="log", xlabel="episodes per estimate", ylabel="cosine with the exact gradient", ylim=(-0.3, 1.02)
        )
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        drawing.tight_layout()
        buffer = io.BytesIO()
        drawing.savefig(buffer, format="svg", metadata={"Date": None}, facecolor="white")
    return buffer.getvalue()
