"""Kernels of Python beside their twins in OpenCL C, as a page: ``python -m tools.pages.native_twins``.

Instructions are those of `results/studies/native-twins.json` (`tools.pages.kept_data`), those of the whole
suite of `native-twins-suite.json` beside it, and times of `native-twins-times.json`. People write
`data/native_twins.toml`: which patterns have data of 64 bits, and why a kernel needs more instructions than its twin.
The command names on standard error the sentences that are missing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean, median
from typing import Any, Final

from tools.pages import generated_code
from tools.pages.claims import RESULTS, data
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.registry import discover
from xebench.report.table_forms import fill, table

#: Compiler and GPU of each column.
COLUMNS: Final = (("IGC 1", "pvc"), ("IGC 1", "dg2"), ("IGC 1", "tgllp"), ("IGC 2", "bmg"))
#: Instructions are counted for so many work-items: a thread of 16 lanes executes its program twice for them.
LANES: Final = 32
#: Ratio above which the page says why.
EXPLAINED: Final = 1.15
#: Instructions, a compiler after the other.
COUNTS: Final = RESULTS / "studies" / "native-twins.json"
#: What the cures of the compiler save in the whole suite, by compiler and GPU.
SUITE: Final = RESULTS / "studies" / "native-twins-suite.json"
#: Times on a CPU device, and of launches.
TIMES: Final = RESULTS / "studies" / "native-twins-times.json"


@dataclass(frozen=True)
class Twin:
    """A kernel and its twin.

    Attributes:
        pattern, variant, kernel: whose it is.
        counts: instructions of both for 32 lanes, by compiler and GPU.
    """

    pattern: str
    variant: str
    kernel: str
    counts: Mapping[tuple[str, str], tuple[float, float]]

    @property
    def key(self) -> str:
        """The key of its sentence."""
        return f"{self.pattern}/{self.kernel}"

    def ratio(self, column: tuple[str, str]) -> float | None:
        """Instructions of Python over those of OpenCL C."""
        if column not in self.counts:
            return None
        own, other = self.counts[column]
        return own / other

    @property
    def is_explained(self) -> bool:
        """True if the page says why it needs more."""
        return any((self.ratio(column) or 0) > EXPLAINED for column in COLUMNS)


def twins(infos: Iterable[PatternInfo], compilers: Sequence[Mapping[str, Any]], *, narrow: bool = True) -> list[Twin]:
    """The kernels of variants that have a twin, at the first value of every axis.

    Args:
        infos: the patterns.
        compilers: what each made of which kernels.
        narrow: whether indices of kernels of Python are in 32 bits.
    """
    counts: dict[tuple[str, str, str], dict[tuple[str, str], float]] = {}
    for compiler in compilers:
        for row in compiler["rows"]:
            if row["status"] == "ok" and compiler["narrow"] == narrow:
                place = generated_code.name(compiler), str(row["gpu"])
                known = counts.setdefault((row["pattern"], row["variant"], row["kernel"]), {})
                known.setdefault(place, row["instructions"] * LANES / row["simd_width"])
    return [
        Twin(pattern, against, kernel, {place: (own[place], other[place]) for place in own.keys() & other.keys()})
        for info in infos
        for name, against in ((variant.name, variant.against) for variant in info.variants if variant.against)
        for (pattern, variant, kernel), other in counts.items()
        if (pattern, variant) == (info.name, name) and (own := counts.get((pattern, against, kernel)))
    ]


def mean(ratios: Iterable[float | None]) -> str:
    """Their geometric mean."""
    known = [log(ratio) for ratio in ratios if ratio is not None]
    return f"{exp(fmean(known)):.2f}" if known else "-"


def markdown(
    found: Sequence[Twin],
    of_64_bits: Sequence[Twin],
    notes: Mapping[str, Any],
    suite: Mapping[str, Any],
    times: Mapping[str, Any],
) -> str:
    """The page, of twins, and of the same beside modules whose indices are in 64 bits.

    Args:
        found: counts of modules whose indices are in 32 bits.
        of_64_bits: counts of the others.
        notes: what people wrote.
        suite: data of `tools.pages.kept_data`, by compiler.
        times: times of `tools.pages.kept_data`.
    """
    apart = notes["data_of_64_bits"]
    parts = [
        _instructions(*([twin for twin in both if (twin.pattern in apart) == wide] for both in (found, of_64_bits)))
        for wide in (False, True)
    ]
    return fill(
        "tools.pages",
        "native_twins.md.j2",
        patterns=len({twin.pattern for twin in found}),
        narrow=parts[0],
        wide=parts[1],
        causes=table(("pattern", "kernel", "cause"), _causes(found, notes["causes"])),
        explained=EXPLAINED,
        suite=_suite(suite),
        times=_times(times["patterns"]),
        mean_time=mean(one["ratio"] for one in times["patterns"]),
        median_time=f"{median(one['ratio'] for one in times['patterns']):.2f}",
        measured=times,
        launches=_launches(times["launch_ns"]),
    )


def _suite(suite: Mapping[str, Any]) -> list[str]:
    places = {
        f"{gpu} ({name})": of_gpu
        for igc, gpus in suite.items()
        for name, gpu in COLUMNS
        if generated_code.name({"igc": igc}) == name and (of_gpu := gpus.get(gpu))
    }
    lines = [
        ("compiled on", *(of_gpu["date"] for of_gpu in places.values())),
        ("kernels", *(str(of_gpu["kernels"]) for of_gpu in places.values())),
        *(
            (text, *(f"{of_gpu[way]:.2f}" for of_gpu in places.values()))
            for way, text in (
                ("exact", "[what every launch guarantees](dpex.md#index-arithmetic)"),
                ("narrow", "and [indices in 32 bits](dpex.md#32-bits-for-gpus)"),
            )
        ),
    ]
    return table(("", *places), lines, right=range(1, 1 + len(places)))


def _times(patterns: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        (f"`{one['pattern']}`", f"`{one['variant']}`", str(one["points"]), str(one["blocks"]), f"{one['ratio']:.2f}")
        for one in patterns
    ]
    whole = ("**geometric mean**", "", "", "", f"**{mean(one['ratio'] for one in patterns)}**")
    return table(("pattern", "variant", "points", "blocks", "Python / OpenCL C"), [*lines, whole], right=range(2, 5))


def _launches(host_ns: Mapping[str, float]) -> list[str]:
    lines = [(way, f"{ns / 1e3:.2f}", f"{ns / host_ns['dpctl']:.2f}") for way, ns in host_ns.items()]
    return table(("submission", "us", "of dpctl's"), lines, right=(1, 2))


def _instructions(found: Sequence[Twin], of_64_bits: Sequence[Twin]) -> list[str]:
    headings = ("pattern", "kernel", *(f"{gpu} ({compiler})" for compiler, gpu in COLUMNS))
    lines = [(f"`{twin.pattern}`", f"`{twin.kernel}`", *(_cell(twin, column) for column in COLUMNS)) for twin in found]
    means = [
        (f"**{name}**", "", *(f"**{mean(twin.ratio(column) for twin in some)}**" for column in COLUMNS))
        for name, some in (("geometric mean", found), ("with indices in 64 bits", of_64_bits))
    ]
    return table(headings, [*lines, *means], right=range(2, len(headings)))


def _cell(twin: Twin, column: tuple[str, str]) -> str:
    if column not in twin.counts:
        return "-"
    own, other = twin.counts[column]
    return f"{own:.0f}/{other:.0f} = {own / other:.2f}"


def _causes(found: Sequence[Twin], causes: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    for twin in found:
        if twin.is_explained:
            yield f"`{twin.pattern}`", f"`{twin.kernel}`", causes.get(twin.key, "nobody has said yet why.")


def main() -> None:
    """Print the page, and what people still have to write on standard error."""
    notes = data("native_twins")
    counts, suite, times = (json.loads(file.read_text(encoding="utf-8")) for file in (COUNTS, SUITE, TIMES))
    found, of_64_bits = (twins(discover(), counts, narrow=narrow) for narrow in (True, False))
    asked, told = {twin.key for twin in found if twin.is_explained}, set(notes["causes"])
    for what, keys in (("no cause yet of", asked - told), ("no ratio asks for the cause of", told - asked)):
        for key in sorted(keys):
            print(f"{what} {key} (tools/pages/data/native_twins.toml)", file=sys.stderr)
    print(markdown(found, of_64_bits, notes, suite, times))


if __name__ == "__main__":
    main()
