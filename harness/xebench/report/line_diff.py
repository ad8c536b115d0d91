"""Two texts, line by line: source code of two variants, or the instructions of two kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest


def aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, int | None, int | None]]:
    """Align two texts line by line.

    Yields:
        Tag of a row (same, changed, removed or added), and the numbers of both lines, None where a side has none.
    """
    names = {"equal": "same", "replace": "changed", "delete": "removed", "insert": "added"}
    for tag, begin, end, other_begin, other_end in SequenceMatcher(None, left, right).get_opcodes():
        for one, other in zip_longest(range(begin, end), range(other_begin, other_end)):
            yield names[tag], one, other
