"""Decisions: from scores to thresholds. Outcomes, measures and tasks, bounds, hull, criteria."""
