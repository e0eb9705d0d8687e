"""Studies: how many users and trials are needed, what a report shows, watching a threshold."""
