"""The pages of ``docs/``, and the table of the README, that are made from code and data."""
