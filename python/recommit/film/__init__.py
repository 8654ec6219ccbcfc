"""An episode as pictures that move: played by anybody, saved as a GIF."""
