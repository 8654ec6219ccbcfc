"""Every start there is instead of a sample: exact values of agents, without intervals."""
