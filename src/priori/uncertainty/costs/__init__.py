"""What scores cost as log-likelihood ratios."""
