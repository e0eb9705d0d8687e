"""Does it matter? Scores that other people published, judged again at thresholds fixed in advance: `make evidence`."""
