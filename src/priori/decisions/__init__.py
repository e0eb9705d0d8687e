"""Decisions: from scores to thresholds. Outcomes, measures, candidates, criteria."""
