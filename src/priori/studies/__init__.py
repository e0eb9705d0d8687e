"""Studies: how many trials are needed, and is the coverage what it should be? Planning, simulation, coverage."""
