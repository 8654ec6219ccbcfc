"""Data sets to look at and to give away: cards, pictures, exports."""
