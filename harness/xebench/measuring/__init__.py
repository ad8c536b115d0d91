"""One family measured: its problem, its variants checked and sampled, its rows; in this process or in others."""

__all__ = [
    "bound_problem",
    "correctness",
    "device_numbers",
    "device_worker",
    "doctor",
    "family",
    "instrument",
    "local_functions",
    "messages",
    "place",
    "place_server",
    "places",
    "prepare",
    "random_numbers",
    "remote",
    "results",
    "roofline",
    "samples",
    "sampling",
    "session",
]
