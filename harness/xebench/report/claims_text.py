"""The list of patterns and their claims, as text and as JSON. Plain strings: this is what must show at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from xebench.patterns.declaration import PatternInfo
from xebench.records.claim import Claim, Figure
from xebench.vocabulary import Outcome, Strength


def describe_claim(claim: Claim) -> str:
    """The claim in words: ``faster than naive by at least 1.5 times where work=1, for GPUs``."""
    return ", ".join(part for part in (_relation(claim) + _at_points(claim), _for_devices(claim)) if part)


def _relation(claim: Claim) -> str:
    least = f" by at least {claim.at_least:g} times" if claim.at_least > 1 else ""
    if claim.word == Outcome.SAME:
        return f"same as {claim.against}" + (f" within {claim.within:.0%}" if claim.within else "")
    if claim.of_time:
        return f"{claim.word} than {claim.against}{least}"
    if claim.of_accuracy:
        return f"more accurate than {claim.against}{least}"
    if claim.of_code:
        return f"fewer {claim.word.replace('_', ' ')} than {claim.against}{least}"
    return f"must end as {claim.word}" + (f" with {claim.kind!r}" if claim.kind else "")


def _at_points(claim: Claim) -> str:
    points = (
        f"{name}={'|'.join(map(str, value)) if isinstance(value, list | tuple) else value}"
        for name, value in claim.where.items()
    )
    return f" where {', '.join(points)}" if claim.where else ""


def _for_devices(claim: Claim) -> str:
    whom = " and ".join(f"{device_class.upper()}s" for device_class in claim.on)
    facts = " and ".join(claim.requires)
    return f"for {whom or 'devices'} with {facts}" if facts else f"for {whom}" if whom else ""


def claim_source(claim: Claim) -> str:
    """The source of the claim: ``G 4530: 2.9 on Max 1550``, ``ours``."""
    if claim.is_ours:
        return "ours"
    implied = " (implied)" if claim.strength == Strength.IMPLIED else ""
    return claim.source + (f": {format_figure(claim.figure)}" if claim.figure else "") + implied


def format_figure(figure: Figure) -> str:
    """The figure that the guide prints: ``2.9 on Max 1550``."""
    return f"{round(figure.speedup, 2):g}" + (f" on {figure.product}" if figure.device else "")


#: Columns of a name in the short list.
_NAME: Final = 26

SHOWN: Final = ("name", "chapter", "guide", "catalogue", "metric", "lesson", "variants", "axes")


def as_json(infos: Sequence[PatternInfo]) -> str:
    """One object a pattern. Its ``claims`` are a list of their own, each with the variant that it is made of."""
    return msgspec.json.format(msgspec.json.encode([_plain(info) for info in infos]), indent=2).decode()


def _plain(info: PatternInfo) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(info)
    claims = [{"variant": variant["name"], **claim} for variant in data["variants"] for claim in variant.pop("claims")]
    return {**data, "claims": claims}


def as_text(infos: Sequence[PatternInfo], width: int | None = None, *, verbose: bool = False) -> str:
    """Patterns under the heading of their chapter, each with its lesson.

    Args:
        infos: patterns, in any order.
        width: width in columns; by default that of the terminal.
        verbose: False for a line each; True for the whole lesson, ids, variants, claims and parameters.
    """
    width = width or _terminal_width()
    lines = []
    in_order = sorted(infos, key=lambda info: (info.chapter, info.name))
    for chapter, members in groupby(in_order, key=lambda info: info.chapter):
        lines.append(f"\n{chapter}")
        for info in members:
            if not verbose:
                line = f"  {info.name:{_NAME}} {' '.join(info.lesson.split())}"
                lines.append(line if len(line) <= width else f"{line[: width - 4].rpartition(' ')[0]} ...")
                continue
            heading = f"{info.name}  [{', '.join(info.catalogue)}]  {info.metric}"
            lines += _wrapped(heading, width - 2, indent=2, further=6)
            lines += _wrapped(info.lesson, width - 6, indent=6, further=6)
            variants = ", ".join(f"{v.name} ({v.role})" for v in info.variants)
            lines += _wrapped(variants, width - 6, indent=6, further=8)
            lines += _claims(info, width)
            if info.own_sizes:
                lines += _wrapped(f"sizes of guide are ours: {info.own_sizes}", width - 6, indent=6, further=8)
            if info.short_launches:
                lines += _wrapped(f"short launches: {info.short_launches}", width - 6, indent=6, further=8)
            if info.stand_in:
                lines += _wrapped(f"stands in: {info.stand_in}", width - 6, indent=6, further=8)
            lines += [f"      --set {axis}={','.join(map(str, values))}" for axis, values in info.axes.items()]
    count = f"{len(infos)} pattern{'s' if len(infos) != 1 else ''}"
    more = "" if verbose else "\nMore of one: xebench show NAME, or xebench list NAME --verbose"
    return "\n".join(lines).lstrip("\n") + f"\n\n{count}. Measure one with: xebench run NAME.{more}"


def _claims(info: PatternInfo, width: int) -> Iterator[str]:
    """The claims, at least a line for each variant: ``claim: one_queue faster than many [G 5125]``."""
    for variant in info.variants:
        told = "; ".join(f"{describe_claim(claim)} [{claim_source(claim)}]" for claim in variant.claims)
        if told:
            text = f"claim: {variant.name} {told}"
            yield from _wrapped(text, width - 6, indent=6, further=8)


def _wrapped(text: str, width: int, *, indent: int, further: int) -> list[str]:
    """Lines of a text, the first indented by so much and each further one by that."""
    # instead of textwrap's function, whose import takes a tenth of the whole command
    lines, line = [], " " * (indent - 1)
    for word in " ".join(text.splitlines()).split(" "):
        if len(line) + 1 + len(word) > width and not line.isspace():
            lines.append(line)
            line = " " * (further - 1)
        line += f" {word}"
    return [*lines, line]


def _terminal_width() -> int:
    """Columns of the terminal; 100 when the output is none."""
    # instead of shutil's function, whose import takes 5 ms
    try:
        return max(60, os.get_terminal_size(1).columns)
    except OSError:
        return 100
