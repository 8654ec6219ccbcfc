from __future__ import annotations

from tests.unit.evaluate.conftest import run  # noqa: F401
from tests.unit.train.conftest import both, data, init, levels, one_thread, plan  # noqa: F401
