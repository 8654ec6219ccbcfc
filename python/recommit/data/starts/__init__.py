"""Start states: drawn, divided into splits, held out for tests."""
