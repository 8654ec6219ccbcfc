"""What a recipe says of reinforcement that has a file of its own: credit, phases."""
