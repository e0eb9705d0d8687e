"""Many systems: every pair, every rank, which could be the best."""
