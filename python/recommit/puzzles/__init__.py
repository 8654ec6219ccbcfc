"""The puzzles behind one interface; no other Python code depends on a particular puzzle."""

from __future__ import annotations
