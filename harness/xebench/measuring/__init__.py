"""Measure one family: make its problem, check and sample its variants, send its rows; in this process or in others."""

__all__ = [
    "bound_problem",
    "case_rows",
    "correctness",
    "device_worker",
    "family",
    "instrument",
    "local_functions",
    "messages",
    "place",
    "places",
    "prepare",
    "remote",
    "samples",
    "sampling",
    "stopping",
    "traced_facts",
    "worker",
]
