"""The guide's claims about generated code as a page.

``python -m xebench.pages.guide_claims > docs/guide-claims-in-assembly.md``, from ``data/isa_claims.json``, which
``python -m xebench.pages.guide_claims_data --save harness/xebench/pages/data/isa_claims.json`` fills, a compiler at a
time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from xebench.isa.claims.claim import ANSWERS
from xebench.report.markdown_table import table
from xebench.report.templates import fill


def read() -> dict[str, Any]:
    """The kept results."""
    text = resources.files(__package__).joinpath("data/isa_claims.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def markdown(data: Mapping[str, Any]) -> str:
    """The page: a summary with a column a compiler, then the findings and numbers of each claim."""
    functions = {"of": _of, "name": _name, "numbers": _numbers}
    summary = _summary(data["claims"], data["compilers"])
    page = fill("xebench.pages", "guide_claims.md.j2", **data, **functions, answers=ANSWERS, summary=summary)
    return page.rstrip("\n") + "\n"


def _summary(claims: Sequence[Mapping[str, Any]], compilers: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        (
            f"[{claim['id']}](#{claim['id'].lower()})",
            claim["says"],
            *(_answers(_of(compiler, claim)) for compiler in compilers),
        )
        for claim in claims
    ]
    return table(("entry", "claim", *map(_name, compilers)), rows)


def _answers(results: Sequence[Mapping[str, Any]]) -> str:
    """``holds (pvc, dg2); undecided (bmg)``."""
    gpus = {answer: [result["gpu"] for result in results if result["answer"] == answer] for answer in ANSWERS}
    return "; ".join(f"{answer} ({', '.join(names)})" for answer, names in gpus.items() if names)


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
