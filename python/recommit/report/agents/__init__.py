"""Who was played: an agent's part and words, the groups that a page has them in, and their tables."""
