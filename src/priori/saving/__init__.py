"""Saving: results to files and back, and the published schemas of those files."""
