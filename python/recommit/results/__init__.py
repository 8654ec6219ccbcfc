"""One results table: long rows of episodes, four questions to them (``table``, ``intervals``), one renderer (``grid``).
numpy only."""
