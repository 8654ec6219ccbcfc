"""Tables of wrong values: one test per function or configuration, one row per value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def refused(rows: Iterable[tuple[Callable[[], object], str]], *errors: type[Exception]) -> None:
    """Every call raises, with the words beside it in its message."""
    for call, words in rows:
        with pytest.raises(errors or (TypeError, ValueError)) as caught:
            call()
        assert words in str(caught.value), (words, str(caught.value))
