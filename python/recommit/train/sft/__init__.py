"""The supervised warm start: imitation of labelled states."""
