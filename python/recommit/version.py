"""The package's version, and those of others, for provenance records."""

from __future__ import annotations

VERSION = "0.1.0"


def version_of(package: str) -> str | None:
    """The version of an installed package; None if missing."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
