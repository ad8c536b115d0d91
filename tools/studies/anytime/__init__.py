"""What do more minutes tell? Answers and intervals against the time spent: ``python -m tools.studies.anytime``."""
