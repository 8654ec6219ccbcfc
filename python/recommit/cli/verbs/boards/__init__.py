"""``recommit levels``, ``solve``, ``play``, ``render`` and ``gallery``: boards without any training."""
