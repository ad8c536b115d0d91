"""The pages of ``docs/``, and the table of the README, that are made from code and data."""

from __future__ import annotations


def renewed(text: str, begin: str, end: str, content: str) -> str:
    """A page with other content between its marks.

    Raises:
        ValueError: It has not both marks.
    """
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"the page has no {begin} with {end} after it")
    return f"{before}{begin}\n\n{content}\n\n{end}{after}"
