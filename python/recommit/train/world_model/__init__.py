"""World models, taught by exact labels: no pass of the backbone and no episode is needed."""
