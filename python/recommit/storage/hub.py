"""Folders on a model hub: a local folder can stand in for the hub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recommit.storage import errors, files, safe_open

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["model", "dataset"]
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
#: A commit, tag or branch; a hub's client makes a path of it.
_REVISION = re.compile(r"(\w[\w.-]*(/\w[\w.-]*)*)?", re.ASCII)


def is_repository(name: str | Path) -> bool:
    """Can this be a repository, OWNER/NAME, and no place on this disk? A path is none, nor what would lie in a folder
    that is here."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and not Path(name).parent.is_dir()


def check_revision(revision: object) -> None:
    """Refuse what is no commit, tag or branch."""
    if not isinstance(revision, str) or not _REVISION.fullmatch(revision):
        raise ValueError(f"revision: expected a commit, tag or branch, got {revision!r:.80}")


def unreachable(what: str, name: str | Path, error: Exception) -> ValueError:
    """The error for a repository that was asked for in vain."""
    reason = str(error).strip().partition("\n")[0] or type(error).__name__
    return ValueError(f"{what}: expected a folder, or a repository that the hub has, got {name}: {reason}")


@dataclass(frozen=True)
class Upload:
    """The upload to a repository: files of a folder, and texts that are written for it alone."""

    repo: str
    kind: Kind
    folder: Path
    texts: Mapping[str, str]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.repo) or ".." in self.repo:
            raise errors.WrongFolder(f"repo: expected owner/name, got {self.repo!r}")

    @property
    def paths(self) -> list[str]:
        """The files, by name; no hidden ones, and none that a text replaces. A link would send what is elsewhere."""
        there = sorted(self.folder.rglob("*"))
        if links := [path for path in there if path.is_symlink()]:
            raise errors.WrongFolder(f"folder: expected files, got a link: {links[0]}; copy what it leads to")
        every = (path.relative_to(self.folder) for path in there if path.is_file())
        shown = [path.as_posix() for path in every if not any(part.startswith(".") for part in path.parts)]
        return [path for path in shown if path not in self.texts]

    def copy(self, hub: Path) -> Path:
        """Write it below a local folder as a hub would have it: KINDs/OWNER/NAME."""
        work, place = files.Files(), hub.absolute() / f"{self.kind}s" / self.repo
        inner = {folder for path in self.paths for folder in (place / path).parents if place in folder.parents}
        for folder in (place.parents[1], place.parent, place, *sorted(inner)):
            files.own_folder(folder)
        for path in self.paths:
            files.make_folders(work, (place / path).parent)
            files.replace(work, place / path, safe_open.content(self.folder / path))
        files.make_folders(work, place)
        for name, text in self.texts.items():
            files.replace(work, place / name, text.encode())
        return place

    def send(self, *, private: bool = True) -> str:
        """Upload it with the user's own login; the address."""
        from huggingface_hub import CommitOperationAdd, HfApi

        hub = HfApi()
        hub.create_repo(self.repo, repo_type=self.kind, private=private, exist_ok=True)
        operations = [CommitOperationAdd(path, str(self.folder / path)) for path in self.paths]
        operations += [CommitOperationAdd(name, text.encode()) for name, text in self.texts.items()]
        message = f"recommit {self.kind}"
        return str(hub.create_commit(self.repo, operations, commit_message=message, repo_type=self.kind).commit_url)
