"""Is A better than B? Claims, evidence, verdicts; z-tests."""
