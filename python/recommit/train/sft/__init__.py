"""Imitation: the warm start learns from labelled states."""

from __future__ import annotations
