"""One page of HTML about an evaluation: figures, tables and episodes to watch, without a server or a network."""
