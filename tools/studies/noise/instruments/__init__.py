"""The tools that compare two programs, each within the same seconds, each as its users run it."""
