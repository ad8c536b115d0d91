"""The guide's claims about generated code as a page.

``python -m harness.pages.guide_claims > docs/guide-claims-in-assembly.md``, from ``data/isa_claims.json``, which
``python -m harness.pages.guide_claims_data --save harness/pages/data/isa_claims.json`` fills, a compiler at a time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from harness.isa.claims.claim import VERDICTS
from harness.report.markdown_table import table

_MEANINGS = ";\n".join(f"- **{verdict}**: {meaning}" for verdict, meaning in VERDICTS.items())
HEAD = f"""\
# The guide's claims in assembly

What Intel's offline GPU compiler makes of kernels of ours that hold what the guide's examples hold, and whether the
code shows what the guide says of it. No GPU is involved; times are another matter. This page is generated:
`python -m harness.pages.guide_claims_data --save harness/pages/data/isa_claims.json` checks with the compiler that is
installed, `make isa-current` with the current one.

{_MEANINGS}.

Numbers are static: instructions and messages in the program text of a hardware thread, bytes of memory of a thread.
"""


def read() -> dict[str, Any]:
    """The kept results."""
    text = resources.files(__package__).joinpath("data/isa_claims.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def markdown(data: Mapping[str, Any]) -> str:
    """The page: a summary with a column a compiler, then the findings and numbers of each claim."""
    compilers = data["compilers"]
    lines = [HEAD, "## Summary", "", *_summary(data["claims"], compilers), ""]
    for claim in data["claims"]:
        lines += _claim(claim, compilers)
    return "\n".join(lines).rstrip("\n") + "\n"


def _summary(claims: Sequence[Mapping[str, Any]], compilers: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        (
            f"[{claim['id']}](#{claim['id'].lower()})",
            claim["says"],
            *(_verdicts(_of(compiler, claim)) for compiler in compilers),
        )
        for claim in claims
    ]
    return table(("entry", "claim", *map(_name, compilers)), rows)


def _verdicts(results: Sequence[Mapping[str, Any]]) -> str:
    """``confirmed (pvc, dg2); unavailable (bmg)``."""
    parts = []
    for verdict in VERDICTS:
        gpus = [result["gpu"] for result in results if result["verdict"] == verdict]
        if gpus:
            parts.append(f"{verdict} ({', '.join(gpus)})")
    return "; ".join(parts)


def _claim(claim: Mapping[str, Any], compilers: Sequence[Mapping[str, Any]]) -> list[str]:
    remark = " Known before not to show with IGC 1.0.12504 (Debian 12)." if claim["known_not_to_reproduce"] else ""
    lines = [f"## {claim['id']}", "", f"Guide, {claim['guide']}. {claim['says']}{remark}", ""]
    for compiler in compilers:
        lines += [f"**{_name(compiler)}**", ""]
        for result in _of(compiler, claim):
            lines.append(f"- {result['gpu']}: {result['verdict']}: {result['because']}")
        lines += ["", *_numbers(_of(compiler, claim)), ""]
    return lines


def _numbers(results: Sequence[Mapping[str, Any]]) -> list[str]:
    measured = [result for result in results if result["numbers"]]
    if not measured:
        return []
    names = list(next(iter(measured[0]["numbers"].values())))
    # a figure that is zero everywhere tells nothing about this claim
    totals = Counter({n: sum(side[n] for r in measured for side in r["numbers"].values()) for n in names})
    shown = [name for name in names if totals[name]]
    rows = [
        (result["gpu"], side, *(numbers[name] for name in shown))
        for result in measured
        for side, numbers in result["numbers"].items()
    ]
    return table(("GPU", "kernel", *shown), rows, right=range(2, len(shown) + 2))


def _of(compiler: Mapping[str, Any], claim: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [result for result in compiler["results"] if result["claim"] == claim["id"]]


def _name(compiler: Mapping[str, Any]) -> str:
    return f"ocloc {compiler['version']} ({compiler['igc']})"


if __name__ == "__main__":
    print(markdown(read()), end="")
