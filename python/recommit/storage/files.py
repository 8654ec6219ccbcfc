"""All changes that this package makes to a disk go through ``Files``, so that tests can inject failures."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import shutil
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from recommit.storage import errors, safe_open

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Suffix of temporary files, which are hidden and removed by the next holder of the folder's lock.
TEMPORARY = ".tmp"


class Files:
    """The system calls that change a disk, one method each. Stateless and thread-safe."""

    def make_folder(self, path: Path) -> None:
        """Create one folder; its parent must exist."""
        path.mkdir()

    def create(self, path: Path) -> int:
        """Create a new file; returns its descriptor."""
        return safe_open.create(path)

    def append(self, path: Path) -> int:
        """Open a file for appending, creating it if missing; returns its descriptor."""
        return safe_open.append(path)

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write some of ``data``; returns the number of bytes."""
        return os.write(descriptor, data)

    def flush(self, descriptor: int) -> None:
        """Return once the file's content is on the disk."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close a descriptor."""
        os.close(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Atomically replace ``target`` by ``source``."""
        source.replace(target)

    def remove(self, path: Path) -> None:
        """Remove a file if it exists."""
        path.unlink(missing_ok=True)

    def remove_folder(self, path: Path) -> None:
        """Remove a folder recursively, without following links."""
        shutil.rmtree(path)

    def flush_folder(self, path: Path) -> None:
        """Return once the folder's entries are on the disk."""
        if os.name == "nt":  # folders cannot be opened on Windows, and renames are journalled
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_all(files: Files, descriptor: int, data: bytes | memoryview) -> None:
    """Write all of ``data``."""
    view = memoryview(data).cast("B")
    while view:
        view = view[files.write(descriptor, view) :]


class _Whole(io.RawIOBase):
    """A raw stream over a descriptor that writes through ``Files``, always completely."""

    def __init__(self, files: Files, descriptor: int) -> None:
        super().__init__()
        self.files, self.descriptor = files, descriptor

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        """Write all of ``data``; returns its size."""
        write_all(self.files, self.descriptor, data)
        return memoryview(data).nbytes


@contextmanager
def replacing(path: str | os.PathLike[str], files: Files | None = None) -> Iterator[IO[bytes]]:
    """Atomic file replacement: the file written in the context replaces ``path`` on exit.

    It is written under a temporary name beside ``path``, flushed to disk, then renamed. A reader sees the old or the
    new file, at any time and after any crash. If the block raises, the old file stays; ``OSError`` about the temporary
    name is changed to name ``path``.
    """
    files, target = files or Files(), Path(path)
    safe_open.refuse_devices(target)
    temporary = temporary_name(target)
    try:
        descriptor = files.create(temporary)
        try:
            yield cast("IO[bytes]", _Whole(files, descriptor))
            files.flush(descriptor)
        finally:
            files.close(descriptor)
        files.rename(temporary, target)
        files.flush_folder(target.parent)
    except BaseException as error:
        with suppress(OSError):  # else the next holder of the lock removes it
            files.remove(temporary)
        if isinstance(error, OSError) and str(error.filename) == str(temporary):
            error.filename, error.filename2 = str(target), None
        raise


def replace(files: Files, path: Path, data: bytes | memoryview) -> None:
    """Atomically write ``data`` to ``path``; system errors become ``DataError``."""
    with _making(path, "file"), replacing(path, files) as file:
        file.write(data)


def keep(files: Files, path: Path, data: bytes) -> None:
    """``replace``, unless the file already has this content."""
    with suppress(OSError):
        if safe_open.content(path) == data:
            return
    replace(files, path, data)


@contextmanager
def _making(path: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError) and path.parent.is_dir():  # as below /proc
            raise errors.WrongFolder(f"{path}: no {kind} can be made there") from error
        raise errors.from_os(error, path) from error


def temporary_name(path: Path) -> Path:
    """An unpredictable name beside ``path`` for a temporary file."""
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, "expected a file, got a folder", str(path))
    return path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}{TEMPORARY}")


def make_folders(files: Files, path: Path) -> None:
    """Create ``path`` and its missing parents, and flush each parent."""
    missing = []
    while not path.is_dir() and path not in missing:
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        with _making(folder, "folder"):
            try:
                files.make_folder(folder)
            except FileExistsError:
                if not folder.is_dir():
                    raise
            files.flush_folder(folder.parent)


def own_folder(path: Path) -> None:
    """Refuse a link in place of one of our folders: the files behind it are foreign."""
    if path.is_symlink():
        raise errors.WrongFolder(f"{path}: expected a folder, got a link")


def refuse_links(folder: Path, *, links: bool = False) -> None:
    """Refuse special files below a folder that is copied or that a library reads or writes, since that would block on a
    pipe; and links, which it would follow, unless ``links`` are allowed."""
    for path in folder.rglob("*"):
        if path.is_symlink() and not links:
            raise errors.WrongFolder(f"{folder}: expected files, got a link: {path}; remove it")
        if path.exists() and not path.is_file() and not path.is_dir():
            raise errors.WrongFolder(f"{path}: expected a file, got something else")


#: Names of ``temporary_name`` and of safetensors' temporary files, which no user's file has.
_UNFORESEEN = re.compile(rf"\..+\.\d+-[0-9a-f]{{8}}{re.escape(TEMPORARY)}|\.tmp[0-9A-Za-z]{{6}}")


def sweep_files(files: Files, folder: Path) -> None:
    """Remove temporary files of interrupted writers from a folder, and its subfolders, that may hold foreign files."""
    inner = [each for each in sorted(folder.iterdir()) if each.is_dir() and not each.is_symlink()]
    for place in (folder, *inner):
        _remove_all(files, place, [each for each in place.iterdir() if _UNFORESEEN.fullmatch(each.name)])


def sweep(files: Files, folder: Path) -> None:
    """Remove temporary files and folders of interrupted writers from a folder of ours."""
    _remove_all(files, folder, folder.glob(f".*{TEMPORARY}"))


def _remove_all(files: Files, folder: Path, entries: Iterable[Path]) -> None:
    try:
        for entry in sorted(entries):
            (files.remove_folder if entry.is_dir() and not entry.is_symlink() else files.remove)(entry)
    except OSError as error:
        raise errors.from_os(error, folder) from error


def sha256(data: bytes | memoryview) -> str:
    """sha256 in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


#: Cache of file hashes, by path, inode, size and mtime.
_HASHED: dict[tuple[str, int, int, int], str] = {}
#: File systems have coarse clocks: a file changed within this many seconds may change again with the same mtime.
_SETTLED = 2.0


def file_sha256(path: Path) -> str:
    """Hash a file's content, read in chunks; cached until the file changes."""
    with safe_open.whole(path) as file:
        about = os.fstat(file.fileno())
        key = (str(path), about.st_ino, about.st_size, about.st_mtime_ns)
        if key in _HASHED:
            return _HASHED[key]
        digest = hashlib.sha256()
        while piece := file.read(1 << 20):
            digest.update(piece)
    if time.time() - about.st_mtime > _SETTLED:
        _HASHED[key] = digest.hexdigest()
    return digest.hexdigest()
