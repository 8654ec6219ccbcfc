"""One game for whoever plays: what is shown, how an answer is read, what it does and what it was worth. No torch."""
