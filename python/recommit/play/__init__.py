"""Playing with a policy: the graph of commitments, episodes, exact values and ceilings."""
