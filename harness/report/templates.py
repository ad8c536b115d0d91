"""HTML pages from the templates beside this file."""

from __future__ import annotations

from importlib import resources
from typing import Any

import jinja2


def fill(template: str, **values: Any) -> str:
    """A page; every value is escaped.

    Args:
        template: name of the file.
        values: what the template names.
    """
    text = resources.files(__package__).joinpath(template).read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text).render(**values)
