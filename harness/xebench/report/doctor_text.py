"""The doctor's findings, for the terminal and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from xebench.measuring.doctor import Report

ROWS: Final = "findings"
MARKS = {"ok": "ok     ", "warning": "warning", "error": "ERROR  "}


def as_json(report: Report) -> str:
    """Findings and devices as they are."""
    return json.dumps({"usable": report.usable, **asdict(report)}, indent=2)


def as_text(report: Report) -> str:
    """One line a finding under its topic, with the next step where there is one."""
    lines: list[str] = []
    for topic, findings in groupby(report.findings, key=lambda finding: finding.topic):
        lines.append(topic)
        for finding in findings:
            lines.append(f"  {MARKS[finding.status]} {finding.title}: {finding.detail}")
            lines += [f"          -> {finding.next_step}"] if finding.next_step else []
    usable = [result.device for result in report.selftests if result.ok]
    lines.append("")
    lines.append(f"usable: {', '.join(usable)}" if usable else "no usable device: mend what is marked ERROR first")
    return "\n".join(lines)
