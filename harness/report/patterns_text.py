"""The list of patterns, as text and as JSON. Plain strings: this is what must show at once."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from itertools import groupby

import msgspec

from harness.patterns.declaration import PatternInfo


def as_json(infos: Sequence[PatternInfo]) -> str:
    """One object a pattern."""
    return msgspec.json.format(msgspec.json.encode(infos), indent=2).decode()


def as_text(infos: Sequence[PatternInfo], width: int | None = None) -> str:
    """Patterns under the heading of their chapter, each with its lesson and its variants."""
    width = width or _terminal_width()
    lines = []
    in_order = sorted(infos, key=lambda info: (info.chapter, info.name))
    for chapter, members in groupby(in_order, key=lambda info: info.chapter):
        lines.append(f"\n{chapter}")
        for info in members:
            lines.append(f"  {info.name}  [{', '.join(info.catalogue)}]  {info.metric}")
            lines += textwrap.wrap(info.lesson, width - 6, initial_indent=" " * 6, subsequent_indent=" " * 6)
            variants = ", ".join(f"{v.name} ({v.role})" for v in info.variants)
            lines += textwrap.wrap(variants, width - 6, initial_indent=" " * 6, subsequent_indent=" " * 8)
            lines += [f"      --set {axis}={','.join(map(str, values))}" for axis, values in info.axes.items()]
    count = f"{len(infos)} pattern{'s' if len(infos) != 1 else ''}"
    return "\n".join(lines).lstrip("\n") + f"\n\n{count}. Measure one with: xebench run NAME"


def _terminal_width() -> int:
    """Columns of the terminal; 100 when the output is none."""
    # shutil has this function, but takes 5 ms to import
    try:
        return max(60, os.get_terminal_size(1).columns)
    except OSError:
        return 100
