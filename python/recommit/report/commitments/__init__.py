"""Single commitments on a page: what each cost, and the page about a commitment graph."""
