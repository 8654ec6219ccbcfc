"""Foresight and what goes by it, taught by exact labels: no look of the backbone and no episode is needed."""
