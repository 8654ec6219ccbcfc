"""Crash-safe files: atomic writes, locks, checksums, append-only logs."""
