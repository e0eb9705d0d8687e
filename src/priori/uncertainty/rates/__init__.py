"""Rates at one threshold, by group and by user, and the AUC: intervals and tests."""
