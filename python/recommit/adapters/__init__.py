"""Thin adapters to what other people already use: a file for each, which alone imports it."""
