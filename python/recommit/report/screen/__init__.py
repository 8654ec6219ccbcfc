"""The first screen: a sentence of verdict, what the depth rule is worth, the front, and the episode that opens."""
