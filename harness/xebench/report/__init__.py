"""Text for people: the formats of a run's report (`xebench.report.formats`), and a view of everything else.

Nothing here measures or judges.
"""
