from __future__ import annotations

from tests.unit.evaluate.conftest import data, one_thread, plan, run  # noqa: F401
