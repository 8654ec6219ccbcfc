"""Evaluations of a preset: everybody of one seed, as a command for several ranks or in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.reproduce.preset import PresetEntry
    from recommit.train.family.processes import Job


def job(entry: PresetEntry, seed: int, tables: tuple[str, ...]) -> Job:
    """What plays everybody of one seed: ``recommit evaluate`` on every rank."""
    from recommit.runs.progress import last_agent
    from recommit.train.family.processes import Job

    out = entry.evaluation(seed)
    log, written, before = entry.launch / f"{out.name}.log", out / "tables.md", _changed(out / "tables.md")
    whom = _whom(entry, seed, tables)
    words = ["evaluate", str(whom.pop("run")), "--seed", str(seed), "--out", str(out)]
    words += ["--device", entry.device or "auto"]
    for name, value in {**whom, **entry.values.get("evaluate", {})}.items():
        words += _option(name, value)
    return Job(out.name, "recommit.cli", tuple(words), lambda: _changed(written) != before, lambda: last_agent(log))


def _option(name: str, value: Any) -> list[str]:
    """As the command line has it: a switch stands alone, or not at all."""
    if isinstance(value, bool):
        return [f"--{name}"] if value else []
    values = list(value) if isinstance(value, list | tuple) else [value]
    return [f"--{name}", *map(str, values)] if values else []


def _whom(entry: PresetEntry, seed: int, tables: tuple[str, ...]) -> dict[str, Any]:
    """The family, or of a puzzle that the paper does not have everybody in it by name."""
    from recommit.evaluate.family import Members
    from recommit.evaluate.tables import experiments

    members = Members(entry.family, seed)
    if experiments.in_paper(members):
        return {"run": entry.family, "paper": True, "tables": tables}
    return {"run": members.adaptive, "agents": experiments.agents_of(members, tables)}


def _changed(file: Path) -> int:
    """When it was written; 0 if it was not."""
    return file.stat().st_mtime_ns if file.is_file() else 0


def play(entry: PresetEntry, seed: int, tables: tuple[str, ...], quiet: bool, threads: int = 0) -> int:
    """Play everybody of one seed in this process, and fill its tables; 0."""
    from recommit.evaluate.evaluation import evaluated
    from recommit.evaluate.options import EvaluateOptions

    values = entry.values.get("evaluate", {})
    settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    settings |= {"seed": seed, "threads": threads, "device": entry.device or "auto", **_whom(entry, seed, tables)}
    evaluated(EvaluateOptions(out=entry.evaluation(seed), **settings), quiet=quiet)
    return 0
