"""Words: numbers, sentences and cautions for people; one voice for the command line and the page."""
