"""The comparison with peers, the out-of-core runs and the growth curves behind ``benchmarks/RESULTS.md``."""
