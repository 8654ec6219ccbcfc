"""The table of reliability is itself in order: rows that lead somewhere, failures that fail, figures that stay."""

from __future__ import annotations

import importlib
import re

from tests.verify import network, sanitizers
from tests.verify.harness import ROOT
from tests.verify.rows import ROWS, TIERS, Pytest


def test_every_row_leads_somewhere() -> None:
    assert len({(row.id, row.what) for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert row.tier in TIERS
        if isinstance(row.check, Pytest):
            assert all((ROOT / path.partition("::")[0]).exists() for path in row.check.paths), row
        else:
            module = importlib.import_module(f"tests.verify.{row.check.module}")
            assert all(hasattr(module, name) for name in row.check.arguments), row
    named = [path for row in ROWS if isinstance(row.check, Pytest) for path in row.check.paths if "::" in path]
    for path, _, name in (each.partition("::") for each in (*network.PARTS, *sanitizers.OF_MEMORY, *named)):
        assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8") or not name, path


def test_every_nightly_test_has_a_row() -> None:
    paths = [path for row in ROWS if isinstance(row.check, Pytest) for path in row.check.paths]
    for path in (ROOT / "tests").rglob("test_*.py"):
        text, named = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix() + "::"
        if re.search(r"mark\.nightly", text) and not any(path.is_relative_to(ROOT / each) for each in paths):
            some = {each.removeprefix(named) for each in paths if each.startswith(named)}
            assert some, f"{path}: no row runs its nightly tests"
            assert some == set(re.findall(r"^def (test_\w+)", text, re.MULTILINE)), f"{path}: no row runs some of them"
