"""Pages from the templates beside the modules that fill them."""

from __future__ import annotations

from importlib import resources
from typing import Any

import jinja2


def fill(package: str, template: str, **values: Any) -> str:
    """A page, without a newline at the end; in HTML every value is escaped. It may include files beside it.

    Args:
        package: in whose folder the template is.
        template: name of the file, such as ``run.html.j2``.
        values: what the template names.
    """
    folder = resources.files(package)
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        autoescape=".html." in template,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)
