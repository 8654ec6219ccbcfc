"""Reproduce all runs and tables of a preset from scratch."""
