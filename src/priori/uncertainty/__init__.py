"""Uncertainty: how sure is it? Bootstraps, bands, intervals, tests, comparing two systems, ranking many."""
