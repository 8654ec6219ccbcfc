"""The puzzles behind one interface; nothing else in Python asks which puzzle it is."""

from __future__ import annotations
