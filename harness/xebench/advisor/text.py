"""The text and the JSON of advice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from xebench.advisor.advice import Advised


def as_text(advised: Sequence[Advised]) -> str:
    """The advice for each variant: at most a screen."""
    return "\n\n".join(map(repr, advised))


def as_json(advised: Sequence[Advised]) -> str:
    """Facts and advice."""
    content = [
        {
            "name": one.facts.name,
            "device": one.facts.device.name,
            "advice": [{**asdict(advice), "expected": advice.expected} for advice in one.advice],
            "not_measured": list(one.unmeasured),
            "facts": one.facts.rows(),
        }
        for one in advised
    ]
    return json.dumps(content, indent=1)
