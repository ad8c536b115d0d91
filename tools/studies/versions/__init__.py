"""Does `xebench ab` stay silent where code is equal, and find a variant that takes 3 % longer?

``python -m tools.studies.versions`` measures and reports; docs/comparing.md says what it is about.
"""
