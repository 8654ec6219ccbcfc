"""A vision-language policy that looks once and commits: backbone, depth head, action decoder."""

from __future__ import annotations
