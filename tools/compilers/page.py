"""What docs/compiler.md says of results/studies/compilers: ``python -m tools.compilers.page``.

Each kernel whose bytes differ, and each with more than a twentieth more instructions, needs its cause in
``causes.toml``: without it, or with one that nothing needs any more, there is no page.
"""

from __future__ import annotations

import json
import math
import statistics
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from tools.pages import renewed
from xebench.cli.output import run_program
from xebench.errors import XebenchError
from xebench.report.table_forms import table

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs/compiler.md"
DATA: Final = ROOT / "results/studies/compilers"
CAUSES: Final = Path(__file__).with_name("causes.toml")
GPUS: Final = ("pvc", "dg2")
#: A kernel with more than so many times numba-dpex's instructions needs a cause.
MOST: Final = 1.05


class Causes:
    """Why kernels differ, by pattern and kernel; each cause is to be used."""

    def __init__(self, what: str, causes: Mapping[str, str]) -> None:
        self._what, self._causes, self._unused = what, causes, set(causes)

    def of(self, line: Mapping[str, Any]) -> str:
        """The cause for a kernel.

        Raises:
            XebenchError: there is none.
        """
        name = _name(line)
        for known in (name, name.partition("/")[0]):
            if known in self._causes:
                self._unused.discard(known)
                return self._causes[known]
        raise XebenchError(f"{CAUSES.name} has no cause in [{self._what}] for {name}")

    def end(self) -> None:
        """Raise what is wrong if a cause was not used."""
        if self._unused:
            raise XebenchError(f"{CAUSES.name}, [{self._what}]: nothing needs {', '.join(sorted(self._unused))}")


def _name(line: Mapping[str, Any]) -> str:
    return f"{Path(line['origin']).stem}/{line['kernel']}"


def of_bytes(data: Mapping[str, Any], causes: Causes) -> Iterator[str]:
    """How many kernels were compared, and those that differ."""
    kernels = data["kernels"]
    count = Counter(line["outcome"] for line in kernels)
    yield f"{len(kernels)} kernels: {', '.join(f'{number} {outcome}' for outcome, number in count.most_common())}."
    yield ""
    others: dict[tuple[str, str, str], int] = Counter(
        (_name(line), line["outcome"], causes.of(line)) for line in kernels if line["outcome"] != "equal"
    )
    yield from table(("kernel", "outcome", "types and options", "cause"), _of_kernels(others), right=(2,))
    causes.end()


def _of_kernels(counted: Mapping[tuple[str, str, str], int]) -> Iterator[tuple[str, str, int, str]]:
    for (name, outcome, cause), number in sorted(counted.items()):
        yield name, outcome, number, cause


def of_instructions(data: Mapping[str, Any], causes: Causes) -> Iterator[str]:
    """Mean ratios, and the kernels that have more instructions with their causes."""
    yield f"By {data['ocloc']}:"
    yield ""
    yield from table(("", *GPUS), _summary([_ratios(data["kernels"], gpu) for gpu in GPUS]), right=(1, 2))
    yield ""
    rows = []
    for line in data["kernels"]:
        ratios = [_ratio(line, gpu) for gpu in GPUS]
        if max(ratio or 0 for ratio in ratios) > MOST:
            shown = ("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
            rows.append((_name(line), line["options"].replace("{}", ""), *shown, causes.of(line)))
    yield from table(("kernel", "options", *GPUS, "cause"), rows, right=(2, 3))
    causes.end()


def _ratio(line: Mapping[str, Any], gpu: str) -> float | None:
    """Our instructions over numba-dpex's; None where one of the two is not compiled."""
    counts = [line[gpu][side].get("instructions") for side in ("numba-dpex", "ours")]
    return counts[1] / counts[0] if all(counts) else None


def _ratios(kernels: list[Mapping[str, Any]], gpu: str) -> list[tuple[Mapping[str, Any], float | None]]:
    return [(line[gpu], _ratio(line, gpu)) for line in kernels]


def _summary(by_gpu: list[list[tuple[Mapping[str, Any], float | None]]]) -> Iterator[tuple[str, ...]]:
    def row(what: str, value: Any) -> tuple[str, ...]:
        return (what, *(str(value(pairs)) for pairs in by_gpu))

    def compiled(pairs: Any) -> list[float]:
        return [ratio for _, ratio in pairs if ratio is not None]

    def same(field: str) -> Any:
        return lambda pairs: sum(
            of["ours"][field] == of["numba-dpex"][field] for of, ratio in pairs if ratio is not None
        )

    yield row("kernels that both compilers' modules give", lambda pairs: len(compiled(pairs)))
    yield row("geometric mean", lambda pairs: f"{math.exp(statistics.fmean(map(math.log, compiled(pairs)))):.3f}")
    yield row("median", lambda pairs: f"{statistics.median(compiled(pairs)):.3f}")
    yield row("equal", lambda pairs: sum(ratio == 1 for ratio in compiled(pairs)))
    yield row("fewer", lambda pairs: sum(ratio < 1 for ratio in compiled(pairs)))
    yield row("more", lambda pairs: sum(ratio > 1 for ratio in compiled(pairs)))
    yield row(f"more than {MOST} times", lambda pairs: sum(ratio > MOST for ratio in compiled(pairs)))
    yield row("least, most", lambda pairs: f"{min(compiled(pairs)):.2f}, {max(compiled(pairs)):.2f}")
    yield row("same SIMD width", same("simd"))
    yield row("same number of messages", same("messages"))


@click.command()
def main() -> None:
    """Put what was measured into the page."""
    causes = tomllib.loads(CAUSES.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    for what, content in (("bytes", of_bytes), ("instructions", of_instructions)):
        data = json.loads((DATA / f"{what}.json").read_text(encoding="utf-8"))
        begin = f"<!-- {what}: made by python -m tools.compilers.page -->"
        text = renewed(text, begin, f"<!-- end of {what} -->", "\n".join(content(data, Causes(what, causes[what]))))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_program(main, "python -m tools.compilers.page")
