"""Which instances figures are of."""
