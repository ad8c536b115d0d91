"""Text for people: the formats of a run's report (`xebench.report.formats`), and a view of everything else.

Nothing here measures or judges.
"""

__all__ = [
    "answer_words",
    "comparison",
    "console",
    "devices_text",
    "doctor_text",
    "formats",
    "heat_map_text",
    "isa_text",
    "kernels_text",
    "launches_text",
    "occupancy_text",
    "pattern_text",
    "patterns_text",
    "progress",
    "projection_text",
    "remarks",
    "result_rows",
    "roofline_text",
    "table_forms",
    "trace_events",
    "units",
]
