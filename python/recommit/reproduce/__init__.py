"""Every run and table of a preset, from nothing."""
