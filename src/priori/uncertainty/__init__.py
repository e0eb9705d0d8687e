"""Uncertainty: bootstraps, bands, intervals, tests, comparing two systems, ranking many."""
