"""A level played by hand: keys, moves and a page for a browser."""
