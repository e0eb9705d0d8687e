"""Bands around curves and areas."""
