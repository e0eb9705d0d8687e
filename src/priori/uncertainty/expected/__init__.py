"""What is expected of a system as a method: development sets like this one, thresholds chosen on each."""
