"""A pattern for a reader: its lesson, its claims, the code of two variants side by side, and the answers at hand."""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.variant_source import Definition, code_of
from xebench.report import claims_text
from xebench.report.console import terminal_width
from xebench.report.formats.human_readable import excerpt
from xebench.report.line_diff import aligned
from xebench.report.remarks import sentence
from xebench.report.result_rows import number, point_words, sorted_pairs, text
from xebench.results import Run
from xebench.results.run import FOLDERS

#: Columns from which two programs stand side by side even if lines must be broken for it.
TWO_COLUMNS: Final = 120

#: Its rows in Markdown and CSV are the answers.
ROWS: Final = "answers"


def as_text(
    info: PatternInfo,
    baseline: VariantInfo,
    variant: VariantInfo | None = None,
    runs: Sequence[Run] = (),
    width: int | None = None,
) -> str:
    """The lesson, the claims about the variant, the difference between the two programs, and the measurements.

    Args:
        info: description of the pattern.
        baseline: the variant on the left.
        variant: the variant on the right; None for the code of the baseline alone.
        runs: runs that measured the pattern.
        width: columns; those of the terminal by default.
    """
    width = width or terminal_width(elsewhere=120)
    told = [
        f"{info.name} ({', '.join(filter(None, (info.chapter, *info.catalogue)))})",
        *textwrap.wrap(info.lesson, width),
        *([f"guide: {info.guide}"] if info.guide else []),
        *(f"stands in: {line}" for line in textwrap.wrap(info.stand_in, width - 11)),
        *_variants(info, width),
        "",
        *(_passages(baseline, variant, width) if variant else ()),
        *_code(Path(info.source), info.name, baseline, variant, width),
        "",
        *_measured(info, runs, width),
    ]
    return "\n".join(told)


def as_json(
    info: PatternInfo, baseline: VariantInfo, variant: VariantInfo | None = None, runs: Sequence[Run] = ()
) -> str:
    """The pattern, the code of the two variants or of one alone, and an object for each answer of a run."""
    sides = {
        each.name: [part.text for part in code_of(Path(info.source), info.name, each.name)]
        for each in (baseline, variant)
        if each
    }
    content = {
        "pattern": {
            name: getattr(info, name) for name in ("name", "chapter", "guide", "catalogue", "lesson", "stand_in")
        },
        "baseline": baseline.name,
        "variant": variant.name if variant else None,
        "code": sides,
        "answers": [
            {
                "device": ", ".join(run.devices["name"]),
                **{name: pair[name] for name in ("variant", "baseline")},
                "point": point_words(pair),
                "claim": text(pair["claim"]) or None,
                "answer": pair["answer"],
                **{name: number(pair[name]) for name in ("speedup", "speedup_low", "speedup_high")},
                "reason": sentence(pair),
                "older_program": is_of_older_program(run, info),
                "run": str(run.path),
            }
            for run in runs
            for pair in sorted_pairs(run.of(info.name))
        ],
    }
    return json.dumps(content, indent=2)


def is_of_older_program(run: Run, info: PatternInfo) -> bool:
    """True if the pattern's file, or what it imports, has changed since the run."""
    measured = run.of(info.name).cases["source_sha256"].dropna()
    return bool(info.source_sha256) and bool((measured != info.source_sha256).any())


def _measured(info: PatternInfo, runs: Sequence[Run], width: int) -> Iterator[str]:
    if not runs:
        yield f"no run in {' or '.join(map(str, FOLDERS))} has measured it: xebench run {info.name}, or --run FOLDER"
    for run in runs:
        older = ", an older program than today's" if is_of_older_program(run, info) else ""
        yield f"answers of {run.path}{older}:"
        yield excerpt(run.of(info.name), [info.name], width)
        yield ""


def _variants(info: PatternInfo, width: int) -> Iterator[str]:
    yield "variants:"
    for variant in info.variants:
        claims = [
            f"{claims_text.describe_claim(claim)} [{claims_text.claim_source(claim)}]" for claim in variant.claims
        ]
        text = ": ".join(
            filter(None, (f"{variant.name} ({variant.role})", variant.summary.rstrip("."), "; ".join(claims)))
        )
        yield from textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")


def _passages(baseline: VariantInfo, variant: VariantInfo, width: int) -> Iterator[str]:
    """The guide's claims on the two variants that stand side by side, with their lines."""
    for claim in variant.claims:
        if claim.against == baseline.name and not claim.is_ours:
            said = f"{variant.name}: {claims_text.describe_claim(claim)} [{claims_text.claim_source(claim)}]"
            yield from textwrap.wrap(f"of the guide: {said}", width, subsequent_indent="  ")


def _code(source: Path, pattern: str, baseline: VariantInfo, variant: VariantInfo | None, width: int) -> Iterator[str]:
    shown = [each for each in (baseline, variant) if each]
    sides = [code_of(source, pattern, each.name) for each in shown]
    for each, code in zip(shown, sides, strict=True):
        if not code:
            yield f"{each.name} is made by other code of {source}: read it there"
            return
    if variant is None:
        yield from (f"{baseline.name} ({baseline.role})", "")
        yield from itertools.chain.from_iterable(_broken(line, width) for line in _lines(sides[0]))
        return
    both = [definition for definition in sides[1] if definition in sides[0]]
    left, right = (_lines([definition for definition in side if definition not in both]) for side in sides)
    names = f"{baseline.name} ({baseline.role})", f"{variant.name} ({variant.role})"
    longest = max(map(len, (*left, names[0])), default=0) + 3 + max(map(len, (*right, names[1])), default=0)
    if longest <= width or width >= TWO_COLUMNS:
        yield from _in_two_columns(names, left, right, width)
    else:
        yield from _one_below_the_other(names, left, right, width)
    if both:
        yield from ("", f"both use, from {source.name} or what it imports:", "")
        yield from itertools.chain.from_iterable(_broken(line, width) for line in _lines(both))


def _lines(definitions: Sequence[Definition]) -> list[str]:
    return "\n\n".join(definition.text for definition in definitions).splitlines()


def _in_two_columns(names: tuple[str, str], left: Sequence[str], right: Sequence[str], width: int) -> Iterator[str]:
    """Side by side; a line that is longer than its column goes on below."""
    room = min(max(map(len, (*left, names[0]))), max((width - 3) // 2, width - 3 - max(map(len, (*right, names[1])))))
    yield f"{names[0]:{room}}   {names[1]}".rstrip()
    for tag, one, other in aligned(left, right):
        mark = "<" if other is None else ">" if one is None else " " if tag == "same" else "|"
        texts = "" if one is None else left[one], "" if other is None else right[other]
        parts = itertools.zip_longest(_broken(texts[0], room), _broken(texts[1], width - 3 - room), fillvalue="")
        yield from (f"{before:{room}} {mark} {after}".rstrip() for before, after in parts)


def _one_below_the_other(
    names: tuple[str, str], left: Sequence[str], right: Sequence[str], width: int
) -> Iterator[str]:
    yield from (f"- {names[0]}", f"+ {names[1]}", "")
    for tag, group in groupby(aligned(left, right), key=lambda lines: lines[0]):
        lines = list(group)
        yield from _marked(" " if tag == "same" else "-", [left[one] for _, one, _ in lines if one is not None], width)
        if tag != "same":
            yield from _marked("+", [right[other] for *_, other in lines if other is not None], width)


def _marked(sign: str, lines: Sequence[str], width: int) -> Iterator[str]:
    for line in lines:
        yield from (f"{sign} {part}".rstrip() for part in _broken(line, width - 2))


def _broken(line: str, width: int) -> list[str]:
    """A line of code in parts that fit, further in than its beginning; no word is broken."""
    inner = " " * (len(line) - len(line.lstrip()) + 4)
    parts = textwrap.wrap(
        line,
        width,
        subsequent_indent=inner if len(inner) < width // 2 else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return parts if len(line) > width else [line]
