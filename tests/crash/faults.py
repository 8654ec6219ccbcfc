"""File operations that are remembered, and what of them a disk may hold when the power goes."""

from __future__ import annotations

import random
import shutil

from recommit.storage.files import Files


class Recording(Files):
    """Does everything, and writes down what it did."""

    def __init__(self):
        self.log = []
        self.open = {}

    def make_folder(self, path):
        super().make_folder(path)
        self.log.append(("entry", path.parent, path.name, "folder"))

    def create(self, path):
        descriptor = super().create(path)
        self.open[descriptor] = inode = object()
        self.log.append(("entry", path.parent, path.name, inode))
        return descriptor

    def append(self, path):
        known = self._inode(path)
        descriptor = super().append(path)
        self.open[descriptor] = known or object()
        if known is None:
            self.log.append(("entry", path.parent, path.name, self.open[descriptor]))
        return descriptor

    def _inode(self, path):
        now = None
        for what, *rest in self.log:
            if what == "entry" and (rest[0], rest[1]) == (path.parent, path.name):
                now = rest[2]
            if what == "rename" and (rest[0], rest[2]) == (path.parent, path.name):
                now = rest[3]
        return now

    def write(self, descriptor, data):
        count = super().write(descriptor, data)
        self.log.append(("write", self.open[descriptor], bytes(data[:count])))
        return count

    def flush(self, descriptor):
        super().flush(descriptor)
        self.log.append(("flush", self.open[descriptor]))

    def rename(self, source, target):
        inode = self._inode(source)
        super().rename(source, target)
        self.log.append(("rename", source.parent, source.name, target.name, inode))

    def remove(self, path):
        super().remove(path)
        self.log.append(("entry", path.parent, path.name, None))

    def flush_folder(self, path):
        super().flush_folder(path)
        self.log.append(("flush folder", path))


class Disk:
    """What a disk may hold when the power goes: flushed content and entries for certain, and of the rest anything that
    a file system may keep: a prefix of each folder's changes, and of each file any length between what was flushed
    and what was written, zeros in the place of lost bytes included."""

    def __init__(self, log, seed):
        self.random = random.Random(seed)
        self.content, self.flushed = {}, {}
        self.entries, self.pending = {}, {}
        for what, *rest in log:
            getattr(self, "_" + what.replace(" ", "_"))(*rest)

    def _entry(self, folder, name, inode):
        self.pending.setdefault(folder, []).append({name: inode})

    def _rename(self, folder, source, target, inode):
        self.pending.setdefault(folder, []).append({source: None, target: inode})

    def _write(self, inode, data):
        self.content[inode] = self.content.get(inode, b"") + data

    def _flush(self, inode):
        self.flushed[inode] = len(self.content.get(inode, b""))

    def _flush_folder(self, folder):
        for change in self.pending.pop(folder, []):
            self.entries.setdefault(folder, {}).update(change)

    def image(self, root, target):
        """Write what survives of ``root`` to ``target``."""
        survives = {folder: dict(entries) for folder, entries in self.entries.items()}
        for folder, changes in self.pending.items():
            for change in changes[: self.random.randint(0, len(changes))]:
                survives.setdefault(folder, {}).update(change)
        shutil.rmtree(target, ignore_errors=True)
        self._restore(survives, root, target)

    def _restore(self, survives, folder, target):
        if survives.get(folder.parent, {}).get(folder.name) != "folder":
            return
        target.mkdir(parents=True)
        for name, inode in survives.get(folder, {}).items():
            if inode == "folder":
                self._restore(survives, folder / name, target / name)
            elif inode is not None:
                (target / name).write_bytes(self._survives(inode))

    def _survives(self, inode):
        whole, safe = self.content.get(inode, b""), self.flushed.get(inode, 0)
        length = self.random.randint(safe, len(whole))
        kept = whole[:length]
        if self.random.random() < 0.3:
            kept = kept[:safe] + bytes(length - safe)
        return kept
