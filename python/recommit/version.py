"""Which version this is, and other packages are, for files that say what made them."""

from __future__ import annotations

VERSION = "0.1.0"


def version_of(package: str) -> str | None:
    """That of an installed package; None where there is none."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
