"""The table `pairs` as Python and notebooks show it: a few columns that people read."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import pandas as pd

from xebench.records import points
from xebench.vocabulary import State, Strength


class _Run(Protocol):
    """What reads columns of the other tables."""

    def part(self, table: str, names: Sequence[str]) -> pd.DataFrame: ...


class Pairs(pd.DataFrame):
    """The table `pairs`, which is shown as its `brief`; what is selected of it is a plain frame."""

    run: _Run
    _metadata: ClassVar[list[str]] = ["run"]  # attributes that pandas lets a frame have

    @classmethod
    def of(cls, run: _Run, table: pd.DataFrame) -> Pairs:
        """The table of a run."""
        made = cls(table)
        made.run = run
        return made

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    @property
    def brief(self) -> pd.DataFrame:
        """Pattern, variant, baseline, size, claim, whose it is, answer, speed-up with its interval, time in us, and
        bandwidth in GB/s; the same rows.
        """
        rates = self.run.part("summaries", ["case_id", "state", "bandwidth_gbps"])
        cold = [", cold" if state == State.COLD else "" for state in self["state"].fillna("")]
        sizes = [points.words(points.parse(text)) for text in self["parameters"]]
        whose = [
            _whose(*each) for each in zip(self["strength"].fillna(""), self["stand_in"].fillna(False), strict=True)
        ]
        return pd.DataFrame(
            {
                **{name: self[name] for name in ("pattern", "variant", "baseline")},
                "size": [size + state for size, state in zip(sizes, cold, strict=True)],
                "claim": self["claim"],
                "whose": pd.array(whose, "string"),
                "answer": self["answer"],
                "speedup": self["speedup"],
                "low": self["speedup_low"],
                "high": self["speedup_high"],
                "time_us": self["variant_ns"] / 1e3,
                "rate_gbps": self.merge(rates, how="left", on=["case_id", "state"])["bandwidth_gbps"].array,
            }
        )

    def __repr__(self) -> str:
        columns = shutil.get_terminal_size().columns
        with pd.option_context("display.width", columns, "display.max_columns", None, *_SHORT):
            return f"{self.brief!r}\n.columns has all {len(self.columns)} columns"

    def _repr_html_(self) -> str:
        with pd.option_context("display.max_columns", None, *_SHORT):
            return str(self.brief._repr_html_())  # type: ignore[operator]


def _whose(strength: str, stand_in: bool) -> str | None:
    """The source of a claim of this strength."""
    if not strength or strength == Strength.OURS:
        return "ours" if strength else None
    return "stand-in" if stand_in else "guide"


_SHORT = ("display.max_colwidth", 24, "display.float_format", "{:.4g}".format)
