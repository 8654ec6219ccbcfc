"""The changes that this package makes to a disk: all go through ``Files``, so that a test can make them fail."""

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

#: Temporary files are hidden, carry this ending, and are swept away by the next holder of the folder's lock.
TEMPORARY = ".tmp"


class Files:
    """The operations of the operating system that change a disk, one method each. Stateless; safe from any thread."""

    def make_folder(self, path: Path) -> None:
        """Create one folder; its parent exists."""
        path.mkdir()

    def create(self, path: Path) -> int:
        """A descriptor of a new, empty file."""
        return safe_open.create(path)

    def append(self, path: Path) -> int:
        """A descriptor that writes at the end of a file, made if it is not there."""
        return safe_open.append(path)

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write some of ``data``; how much."""
        return os.write(descriptor, data)

    def flush(self, descriptor: int) -> None:
        """Return once the file's content is on the disk."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close a descriptor."""
        os.close(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Put ``source`` in the place of ``target`` in one step."""
        source.replace(target)

    def remove(self, path: Path) -> None:
        """Remove a file; fine if it is gone already."""
        path.unlink(missing_ok=True)

    def remove_folder(self, path: Path) -> None:
        """Remove a folder with all that is in it, but nothing that a link in it leads to."""
        shutil.rmtree(path)

    def flush_folder(self, path: Path) -> None:
        """Return once the folder's entries are on the disk."""
        if os.name == "nt":  # folders cannot be opened there, and renames are journalled
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_all(files: Files, descriptor: int, data: bytes | memoryview) -> None:
    """Write until everything is written."""
    view = memoryview(data).cast("B")
    while view:
        view = view[files.write(descriptor, view) :]


class _Whole(io.RawIOBase):
    """Writes a descriptor through ``Files``: each piece to its end, or an error."""

    def __init__(self, files: Files, descriptor: int) -> None:
        super().__init__()
        self.files, self.descriptor = files, descriptor

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        """Write all of ``data``; how much that is."""
        write_all(self.files, self.descriptor, data)
        return memoryview(data).nbytes


@contextmanager
def replacing(path: str | os.PathLike[str], files: Files | None = None) -> Iterator[IO[bytes]]:
    """The one writer of whole files: what the block writes takes the place of ``path`` once it has ended.

    It is written under a temporary name beside ``path``, flushed to the disk, then renamed. A reader, at any
    moment and after any crash, sees the old file or the new. A block that fails leaves the old one; its error goes on
    as it is, but the system's complaint about the temporary name names ``path``.
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
        with suppress(OSError):  # else the next holder of the lock sweeps it away
            files.remove(temporary)
        if isinstance(error, OSError) and str(error.filename) == str(temporary):
            error.filename, error.filename2 = str(target), None
        raise


def replace(files: Files, path: Path, data: bytes | memoryview) -> None:
    """Make ``path`` hold ``data``, whole or not at all; what the system has against it is a ``DataError``."""
    with _making(path, "file"), replacing(path, files) as file:
        file.write(data)


def keep(files: Files, path: Path, data: bytes) -> None:
    """``replace``, unless the file holds these very bytes."""
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
    """An unforeseeable name beside ``path``, for the file that will take its place."""
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, "expected a file, got a folder", str(path))
    return path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}{TEMPORARY}")


def make_folders(files: Files, path: Path) -> None:
    """Create ``path`` and what is missing above it, each flushed into its parent."""
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
    """Refuse a link in the place of a folder within ours: the files behind it are foreign."""
    if path.is_symlink():
        raise errors.WrongFolder(f"{path}: expected a folder, got a link")


def refuse_links(folder: Path, *, links: bool = False) -> None:
    """Refuse what is neither file nor folder below a folder that is copied, or into which a library writes or which it
    reads, since it would wait for a pipe, and unless ``links`` may be there, links, which it would follow."""
    for path in folder.rglob("*"):
        if path.is_symlink() and not links:
            raise errors.WrongFolder(f"{folder}: expected files, got a link: {path}; remove it")
        if path.exists() and not path.is_file() and not path.is_dir():
            raise errors.WrongFolder(f"{path}: expected a file, got something else")


#: Names by ``temporary_name``, and of files that safetensors is writing: no file of a user has such a name.
_UNFORESEEN = re.compile(rf"\..+\.\d+-[0-9a-f]{{8}}{re.escape(TEMPORARY)}|\.tmp[0-9A-Za-z]{{6}}")


def sweep_files(files: Files, folder: Path) -> None:
    """Remove the temporary files of interrupted writers from a folder that may hold anything else as well, and from the
    folders in it."""
    inner = [each for each in sorted(folder.iterdir()) if each.is_dir() and not each.is_symlink()]
    for place in (folder, *inner):
        _remove_all(files, place, [each for each in place.iterdir() if _UNFORESEEN.fullmatch(each.name)])


def sweep(files: Files, folder: Path) -> None:
    """Remove the temporary files and folders that interrupted writers left in a folder of ours."""
    _remove_all(files, folder, folder.glob(f".*{TEMPORARY}"))


def _remove_all(files: Files, folder: Path, entries: Iterable[Path]) -> None:
    try:
        for entry in sorted(entries):
            (files.remove_folder if entry.is_dir() and not entry.is_symlink() else files.remove)(entry)
    except OSError as error:
        raise errors.from_os(error, folder) from error


def sha256(data: bytes | memoryview) -> str:
    """In lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


#: By path, inode, size and time of change: hashes of files that this process has read.
_HASHED: dict[tuple[str, int, int, int], str] = {}
#: Clocks of file systems are coarse: a file that changed so recently (in seconds) may change again at the same time.
_SETTLED = 2.0


def file_sha256(path: Path) -> str:
    """Hash a file's content, read in pieces, and once by this process unless the file changes."""
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
