"""The one results table and the intervals of its figures; numpy only."""
