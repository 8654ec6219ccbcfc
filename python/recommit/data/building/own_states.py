"""States that a caller brings: kept in a file while workers label them."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

import numpy as np

from recommit.storage import errors, files
from recommit.storage.safe_open import reading

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.storage.files import Files

NAME = ".states.npy"


def sha256(states: NDArray[np.uint8]) -> str:
    """Name states, as a spec does."""
    check(states)
    digest = hashlib.sha256(f"uint8 {states.shape}\n".encode())
    digest.update(np.ascontiguousarray(states).data)
    return digest.hexdigest()


def check(states: object) -> None:
    """uint8[N, rows, columns], or an error that says what it is instead."""
    if not isinstance(states, np.ndarray) or states.dtype != np.uint8 or states.ndim != 3:
        got = f"{states.dtype}{list(states.shape)}" if isinstance(states, np.ndarray) else type(states).__name__
        raise errors.WrongDataSpec(f"states: expected uint8[N, rows, columns], got {got}")


def load(path: Path) -> NDArray[np.uint8]:
    """From a ``.npy`` file, mapped, never unpickled."""
    try:
        reading(path).close()  # a pipe would be waited for
        states = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # noqa: BLE001  (numpy lets all errors of Python's own tokenizer through)
        raise errors.WrongDataSpec(f"{path}: expected a .npy file of states, got: {error}") from None
    check(states)
    return states  # type: ignore[no-any-return]


def store(files_: Files, folder: Path, states: NDArray[np.uint8]) -> Path:
    """Put the states where workers find them; the folder's path of them."""
    text = io.BytesIO()
    np.save(text, states, allow_pickle=False)
    files.replace(files_, folder / NAME, text.getbuffer())
    return folder / NAME
