"""Features of a frozen picture encoder on a disk, for the next run and for other processes.

A folder per encoder and way of drawing holds segments: a header that says what they are, then records of equal size
(key, values, checksum). Every process appends to segments of its own and reads those of all others that were there when
it came, so nobody waits for anybody. What is damaged is noticed, left out and computed again; the oldest segments make
room.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import torch
from torch import Tensor

from recommit.storage.errors import DataError
from recommit.storage.files import Files, make_folders, replace, write_all
from recommit.storage.safe_open import NotAFile, reading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

FORMAT = 1
MAGIC = b"recommit features\n"
SUFFIX = ".features"
KEY, CHECK = 16, 4
#: Segments that the limit is made of: the oldest of them is what is given up at once.
SEGMENTS = 16


def key_of(state: bytes) -> bytes:
    """Sixteen bytes that stand for a state."""
    return hashlib.blake2b(state, digest_size=KEY).digest()


def weights_of(parameters: Iterable[Tensor]) -> str:
    """One hash of every byte, shape and type of an encoder's weights."""
    digest = hashlib.sha256()
    for parameter in parameters:
        digest.update(f"{parameter.dtype}{tuple(parameter.shape)}".encode())
        digest.update(_bytes(parameter))
    return digest.hexdigest()


def _bytes(tensor: Tensor) -> memoryview:
    flat = tensor.detach().to("cpu").contiguous().view(-1).view(torch.uint8)
    return memoryview(flat.numpy())


class DamagedSegment(Exception):
    """Not a segment, or not one of this store."""


@dataclass(frozen=True)
class Segment:
    """What a header says."""

    path: Path
    shape: tuple[int, ...]
    dtype: torch.dtype
    start: int

    @property
    def record(self) -> int:
        """Bytes of one record."""
        return KEY + int(torch.Size(self.shape).numel()) * self.dtype.itemsize + CHECK

    def keys(self) -> list[bytes]:
        """The keys of all whole records; one that is being written, or never was to the end, is not seen."""
        keys = []
        with reading(self.path, 0) as file:
            for number in range((os.fstat(file.fileno()).st_size - self.start) // self.record):
                file.seek(self.start + number * self.record)
                keys.append(file.read(KEY))
        return keys

    def read(self, file: IO[bytes], number: int, key: bytes) -> Tensor | None:
        """The features of a record, None if its bytes are not what was written for ``key``."""
        file.seek(self.start + number * self.record)
        data = file.read(self.record)
        if len(data) < self.record or data[:KEY] != key or _check(data[:-CHECK]) != data[-CHECK:]:
            return None
        return torch.frombuffer(bytearray(data[KEY:-CHECK]), dtype=self.dtype).view(self.shape)

    @classmethod
    def open(cls, path: Path, about: dict[str, Any]) -> Self:
        """Read and check a header."""
        with reading(path) as file:
            return cls(path, *_header(file, about))


def _check(data: bytes | memoryview) -> bytes:
    return zlib.crc32(data).to_bytes(CHECK, "little")


def _written_header(about: dict[str, Any], features: Tensor) -> bytes:
    rest = {"shape": list(features.shape), "dtype": str(features.dtype).removeprefix("torch.")}
    text = json.dumps({"format": FORMAT, "about": about, **rest}, sort_keys=True).encode()
    body = MAGIC + len(text).to_bytes(4, "little") + text
    return body + hashlib.sha256(body).digest()


def _header(file: IO[bytes], about: dict[str, Any]) -> tuple[tuple[int, ...], torch.dtype, int]:
    begin = file.read(len(MAGIC) + 4)
    size = int.from_bytes(begin[-4:], "little")
    if not begin.startswith(MAGIC) or size > 1 << 16:
        raise DamagedSegment("no header")
    text, digest = file.read(size), file.read(32)
    if hashlib.sha256(begin + text).digest() != digest:
        raise DamagedSegment("a header whose checksum is wrong")
    header = json.loads(text)
    if header["format"] != FORMAT or header["about"] != about:
        raise DamagedSegment("a header of other features")
    return tuple(header["shape"]), getattr(torch, header["dtype"]), len(begin) + size + 32


class FeatureStore:
    """See above. ``about`` is whatever decides the features of a state; ``limit`` bounds the bytes below ``folder``."""

    def __init__(self, folder: str | Path, about: dict[str, Any], limit: int, files: Files | None = None) -> None:
        self.about, self.limit = json.loads(json.dumps(about)), limit
        self.root = Path(folder)
        name = hashlib.sha256(json.dumps(self.about, sort_keys=True).encode()).hexdigest()[:24]
        self.folder = self.root / name
        self._files = files or Files()
        make_folders(self._files, self.folder)
        #: Records and segments that were found damaged, and states that were found.
        self.damaged, self.hits = 0, 0
        self._index: dict[bytes, tuple[Segment, int]] = {}
        self._own: Segment | None = None
        self._stopped = False
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            self._take(path)

    def __len__(self) -> int:
        return len(self._index)

    def _take(self, path: Path) -> None:
        try:
            segment = Segment.open(path, self.about)
            self._index |= {key: (segment, number) for number, key in enumerate(segment.keys())}
        except FileNotFoundError:
            return  # made room for others just now
        except NotAFile as error:
            self._tell(path, error)
        except (DamagedSegment, ValueError, KeyError, AttributeError) as error:
            self._tell(path, error)
            self._files.remove(path)

    def _tell(self, what: Path, why: Any) -> None:
        self.damaged += 1
        if self.damaged == 1:
            warnings.warn(f"{what}: damaged ({why}); its features are computed again", RuntimeWarning, stacklevel=2)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Tensor]:
        """The features of those keys that are known."""
        by_segment: dict[Segment, list[bytes]] = {}
        for key in keys:
            if key in self._index:
                by_segment.setdefault(self._index[key][0], []).append(key)
        features: dict[bytes, Tensor] = {}
        for segment, wanted in by_segment.items():
            features |= self._read(segment, wanted)
        self.hits += len(features)
        return features

    def _read(self, segment: Segment, wanted: list[bytes]) -> dict[bytes, Tensor]:
        try:
            with reading(segment.path, 0) as file:
                stored = {key: segment.read(file, self._index[key][1], key) for key in wanted}
        except FileNotFoundError:  # made room for others
            stored = dict.fromkeys(wanted)
        else:
            for key in wanted:
                if stored[key] is None:
                    self._tell(segment.path, f"record {self._index[key][1]}")
        for key in wanted:
            if stored[key] is None:
                del self._index[key]
        return {key: features for key, features in stored.items() if features is not None}

    def add(self, features: dict[bytes, Tensor]) -> None:
        """Write new features. A disk that takes no more ends the writing, not the run."""
        remaining = [item for item in features.items() if item[0] not in self._index]
        try:
            while remaining and not self._stopped:
                remaining = remaining[self._write(remaining) :]
        except (OSError, DataError) as error:
            warnings.warn(f"{self.folder}: no more features are kept ({error})", RuntimeWarning, stacklevel=2)
            self._stopped = True

    def _write(self, items: list[tuple[bytes, Tensor]]) -> int:
        """As many as the present segment takes; how many."""
        segment = self._own or self._begin(items[0][1])
        descriptor = self._files.append(segment.path)
        try:
            size = os.fstat(descriptor).st_size
            if size < segment.start:  # gone to make room for others: this is a new, empty file
                self._files.remove(segment.path)
                self._own = None
                return 0
            first = (size - segment.start) // segment.record
            room = max((self._most(segment) - size) // segment.record, 0)
            for number, (key, features) in enumerate(items[:room]):
                body = key + _bytes(features)
                write_all(self._files, descriptor, body + _check(body))
                self._index[key] = (segment, first + number)
        finally:
            self._files.close(descriptor)
        if room < len(items):
            self._own = None
        return min(room, len(items))

    def _most(self, segment: Segment) -> int:
        """Bytes that a segment may have: its share of the limit, and always one record."""
        return max(self.limit // SEGMENTS, segment.start + segment.record)

    def _begin(self, features: Tensor) -> Segment:
        """A new segment of this process, whole from the moment on which others can see it."""
        header = _written_header(self.about, features)
        name = f"{os.getpid()}-{os.urandom(6).hex()}"
        segment = Segment(self.folder / f"{name}{SUFFIX}", tuple(features.shape), features.dtype, len(header))
        if self._most(segment) > self.limit:
            raise OSError(f"a state takes {self._most(segment):,} bytes, and the limit is {self.limit:,}")
        self._make_room(self._most(segment))
        replace(self._files, segment.path, header)
        self._own = segment
        return segment

    def _make_room(self, wanted: int) -> None:
        """Remove the oldest segments, of whatever encoder, until ``wanted`` bytes fit."""
        segments = []
        for path in self.root.glob(f"*/*{SUFFIX}"):
            with suppress(FileNotFoundError):  # another process made room just now
                about = path.stat()
                segments.append((about.st_mtime_ns, path, about.st_size))
        total = sum(size for *_, size in segments)
        for _, path, size in sorted(segments):
            if total + wanted <= self.limit:
                return
            self._files.remove(path)
            total -= size
