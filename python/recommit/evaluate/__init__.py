"""Measuring agents: episodes, metrics with intervals, an exact ceiling, and every table of the paper."""
