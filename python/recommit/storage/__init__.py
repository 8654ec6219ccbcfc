"""Files that survive: written whole or not at all, locked, checked, one line after another."""
