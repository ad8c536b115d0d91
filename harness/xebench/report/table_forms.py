"""The forms in which a command prints its table, Markdown among them: one function for the views of all commands.

A view is a module or a `View` with ``as_text`` and ``as_json``. The rows of a table are what its JSON lists: the JSON
itself, the entry that the view names in ``ROWS``, or else the one object. Markdown has the columns of ``SHOWN`` where a
view has that, and leaves out those that are empty in every row; CSV has all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from importlib import resources
from types import ModuleType
from typing import Any

from xebench.report import View


def escape(text: object) -> str:
    """A text in one line that starts neither a cell nor HTML; other Markdown in it counts."""
    line = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", " ".join(str(text).split()))
    # a backslash before the escaping one would escape it
    return re.sub(r"(\\*)\|", r"\1\1\\|", line)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], right: Container[int] = ()) -> list[str]:
    """The lines of a table.

    Args:
        headings: headings of the columns.
        rows: the cells of each row, one for each heading.
        right: indices of the right-aligned columns, from 0.
    """
    rule = "|".join("--:" if column in right else "---" for column in range(len(headings)))
    return [_line(headings), f"|{rule}|", *map(_line, rows)]


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(escape, cells))} |"


def render(view: ModuleType | View, form: str, *content: Any) -> str:
    """A table in a form, without a newline at the end.

    Args:
        view: view of the command.
        form: text, markdown, json or csv.
        content: arguments of the view's functions.
    """
    if form == "text":
        return str(view.as_text(*content))
    told = str(view.as_json(*content))
    if form == "json":
        return told
    rows = _rows(json.loads(told), getattr(view, "ROWS", ""))
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if form == "csv":
        import pandas as pd  # not for the other forms, which cost a fraction of it

        from xebench.results.files import as_csv

        cells = pd.DataFrame([{name: _cell(value) for name, value in row.items()} for row in rows], columns=columns)
        return as_csv(cells.astype(object)).rstrip("\n")
    shown = [
        name
        for name in getattr(view, "SHOWN", ()) or columns
        if any(row.get(name) not in (None, "", [], {}) for row in rows)
    ]
    if not shown:
        return "nothing to show"
    lines = ([_words(row.get(name)) for name in shown] for row in rows)
    return "\n".join(dict.fromkeys(table(shown, lines)))  # two rows may differ only in columns that are not shown


def _rows(told: Any, entry: str) -> list[dict[str, Any]]:
    found = told[entry] if entry else told
    return found if isinstance(found, list) else [found]


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else "" if value is None else value


def _words(value: Any) -> str:
    """A value as a reader of a page has it: an object by its name and role, or as ``name=value``; few digits."""
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    if isinstance(value, Mapping) and {"name", "role"} <= {*value}:
        return f"{value['name']} ({value['role']})"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_words(item)}" for name, item in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1e4 else "" if value is None else str(value)


def fill(package: str, template: str, **values: Any) -> str:
    """A page, without a newline at the end; in HTML every value is escaped. It may include files beside it.

    Args:
        package: package whose folder holds the template.
        template: name of the file, such as ``run.html.j2``.
        values: variables of the template.
    """
    import jinja2  # imported here: it takes 50 ms, and only pages need it

    folder = resources.files(package)
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        autoescape=".html." in template,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment.get_template(template).render(**values)
