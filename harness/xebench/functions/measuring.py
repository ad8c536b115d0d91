"""`measure`, how long a function takes, and `compare`, how much faster one is than another."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from numba_sycl.sycl_types import Queue
from xebench.errors import XebenchError, escape_controls
from xebench.functions.request import (
    BUDGET_S,
    PRECISION,
    measure_functions,
    require_choice,
    require_function,
    settings_of,
)
from xebench.functions.tables import CELLS, cells, events_words, host_doubt, remarks, run_of, save, time_words
from xebench.records.claim import Claim, Claims, claims_of
from xebench.report.remarks import busy_words
from xebench.results import Run
from xebench.session.session import Session
from xebench.vocabulary import Metric, State

#: Relative and absolute tolerance for results: float32 has seven digits, and sums in another order lose some.
RTOL: Final = 1e-5
ATOL: Final = 1e-8


class _Tables:
    """The tables of what was measured, whether one function or several."""

    run: Run

    @property
    def samples(self) -> pd.DataFrame:
        """The table `samples`: a row for each sample, first calls and warm-up among them."""
        return self.run.samples

    @property
    def events(self) -> pd.DataFrame:
        """The table `events`: a row for each command of a sample."""
        return self.run.events

    def save(self, path: Path | str, *, overwrite: bool = False) -> Run:
        """Save it as a run folder, with device, driver, versions and date, and return that run.

        ``xebench report`` and ``xebench compare`` read the folder, `xebench.load_run` does in Python.

        Args:
            path: folder to write; parents are created.
            overwrite: True to replace an earlier run there.

        Raises:
            RunFolderError: the folder has something else, or cannot be written.
        """
        return save(self.run, path, overwrite=overwrite)


def _number(value: Any) -> float:
    return float("nan") if pd.isna(value) else float(value)


@dataclass(frozen=True, repr=False)
class Measured(_Tables):
    """The result of `measure`.

    Attributes:
        name: name of the function.
        run: measurements, as the tables of a run in memory.
    """

    name: str
    run: Run

    @property
    def summary(self) -> dict[str, Any]:
        """The function's row of the table `summaries`."""
        return {str(name): value for name, value in self.run.summaries.iloc[0].items()}

    @property
    def median_ns(self) -> float:
        """Median time of one call by the metric; NaN when no sample counts."""
        return _number(self.summary["median_ns"])

    @property
    def interval_ns(self) -> tuple[float, float]:
        """The median's 95 % interval; NaN with too few samples."""
        return _number(self.summary["low_ns"]), _number(self.summary["high_ns"])

    def __repr__(self) -> str:
        summary = self.run.summaries.iloc[0]
        doubt = host_doubt(self.run, summary)
        first = f"{self.name}: {time_words(summary)}"
        lines = [busy_words(self.run), first, events_words(self.run, summary), f"! {doubt}" if doubt else ""]
        return "\n".join(filter(None, lines))

    def _repr_html_(self) -> str:
        return html.escape(repr(self)).replace("\n", "<br>")


def measure(
    function: Callable[..., Any],
    *,
    queue: Session | Queue | None = None,
    device: str = "auto",
    metric: str = Metric.DEVICE.value,
    state: str = State.HOT.value,
    precision: float = PRECISION,
    budget_s: float = BUDGET_S,
    setup: Callable[[Session], Any] | None = None,
    instances: int | None = None,
    isolated: bool = False,
    bytes_moved: int | None = None,
    operations: int | None = None,
) -> Measured:
    """Call a function until its time is precise enough, in this process or another.

    Args:
        function: called without arguments, or with those that ``setup`` makes. It may use a session, a kernel with
            ``call_kernel``, dpctl and dpnp. It must not change its inputs.
        queue: the session or the ``dpctl.SyclQueue`` that its arrays are on: a session of `xebench.open_session`, or a
            queue with profiling.
        device: used if there is no queue: ``auto``, ``gpu``, ``cpu``, or a SYCL filter string.
        metric: ``device`` (the time in which its commands ran), ``span`` (first submit to last end), or ``wall`` (on
            the host's clock; the function must wait for what it submits).
        state: ``hot``, or ``cold``: the caches are flushed before each sample.
        precision: relative half-width of the time's 95 % interval at which sampling ends.
        budget_s: most seconds of sampling.
        setup: called with the session for every instance; returns new arguments of the function: a tuple, or one. The
            session's built kernels and its queues are dropped before.
        instances: least number of instances; 6 with a ``setup``, 1 without.
        isolated: True to call the function in a process of its own, so that a crash or a hang is an error in one line.
            The process imports the function and ``setup`` from their file; ``setup`` makes all arrays on its session.
        bytes_moved: least traffic to memory of one call, in bytes.
        operations: least number of operations of one call.

    Returns:
        The time in ns with its interval, and the tables `samples` and `events`.

    Raises:
        XebenchError: the function records no work, or an argument is not valid; the message has the next step.
        NoDevice: there is no such device.
        Exception: whatever the function raises.
    """
    require_function(function, "function")
    settings = settings_of(
        metric=metric,
        state=state,
        precision=precision,
        budget_s=budget_s,
        setup=setup,
        instances=instances,
        bytes_moved=bytes_moved,
        operations=operations,
    )
    name = getattr(function, "__name__", type(function).__name__)
    family = measure_functions({name: function}, name, {}, settings, queue=queue, device=device, isolated=isolated)
    return Measured(name, run_of(family))


@dataclass(frozen=True, repr=False)
class Compared(_Tables):
    """The result of `compare`.

    Attributes:
        reference: the name of the function that the others are compared with.
        run: measurements, as the tables of a run in memory.
        unchecked: True if results should have been compared and the reference returned none.
    """

    reference: str
    run: Run
    unchecked: bool = False

    @property
    def pairs(self) -> pd.DataFrame:
        """The table `pairs`: speed-ups with intervals, and answers; ``variant`` is the name of a function."""
        return self.run.pairs

    @property
    def summaries(self) -> pd.DataFrame:
        """The table `summaries`: the time of each function."""
        return self.run.summaries

    @property
    def speedup(self) -> float:
        """The speed-up of the other of two functions over the reference; NaN without one.

        Raises:
            XebenchError: there are more than two functions.
        """
        return _number(self._pair()["speedup"])

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of `speedup`; raises as that does."""
        pair = self._pair()
        return _number(pair["speedup_low"]), _number(pair["speedup_high"])

    def _pair(self) -> pd.Series[Any]:
        own = self.pairs[self.pairs["baseline"] == self.reference]
        if len(own) != 1:
            raise XebenchError(f"{len(own)} functions are compared with {self.reference}: .pairs has a row for each")
        return own.iloc[0]

    def __repr__(self) -> str:
        rows = [CELLS, *cells(self.run, self.reference)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([*filter(None, [busy_words(self.run)]), *lines, *(f"! {line}" for line in self._remarks())])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{heading}" for heading in CELLS)
        rows = ("".join(f"<td>{html.escape(cell)}" for cell in row) for row in cells(self.run, self.reference))
        remarks = "".join(f"<p>{html.escape(line)}" for line in self._remarks())
        busy = f"<p>{words}</p>" if (words := busy_words(self.run)) else ""
        return f"{busy}<table><tr>{'<tr>'.join([head, *rows])}</table>{remarks}"

    def _remarks(self) -> list[str]:
        return list(remarks(self.run, unchecked=self.unchecked))


def compare(
    functions: Mapping[str, Callable[..., Any]],
    *,
    reference: str | None = None,
    claim: Claims | Mapping[str, Claims] = None,
    queue: Session | Queue | None = None,
    device: str = "auto",
    metric: str = Metric.DEVICE.value,
    state: str = State.HOT.value,
    precision: float = PRECISION,
    budget_s: float = BUDGET_S,
    setup: Callable[[Session], Any] | None = None,
    instances: int | None = None,
    isolated: bool = False,
    check: bool = True,
    rtol: float = RTOL,
    atol: float = ATOL,
    bytes_moved: int | None = None,
    operations: int | None = None,
) -> Compared:
    """Compare functions in one process until the speed-ups are precise enough: each block calls all, in random order.

    Args:
        functions: functions by name. They are called as `measure` calls its function, all with the same arguments.
        reference: name of the baseline of the speed-ups; the first function by default.
        claim: claim about all others (``"faster"``, ``"slower"``, ``"same"``, or a `xebench.Claim`, whose ``against``
            may name another function), or a mapping from names to such claims.
        queue, device, metric, state: see `measure`.
        precision: half-width of every log speed-up's 95 % interval at which sampling ends.
        budget_s: seconds for all functions together.
        setup, instances: see `measure`.
        isolated: True to run the functions in a process of their own. A function that ends it is reported, and the
            others are measured again without it. The functions and ``setup`` are imported as in `measure`.
        check: True to compare returned arrays and numbers with the reference's, before, among and after the samples;
            shape and type must be the same. A function with other results is reported, and has no speed-up.
        rtol: largest difference that passes, relative to the reference's value.
        atol: largest absolute difference that passes.
        bytes_moved, operations: see `measure`.

    Returns:
        Speed-ups with intervals, the answers to claims, and the tables `pairs`, `samples` and `events`.

    Raises:
        XebenchError: the reference records no work, or an argument is not valid.
        NoDevice: there is no such device.
        Exception: whatever the reference raises; errors of the others are reported.
    """
    if not isinstance(functions, Mapping) or len(functions) < 2:
        raise XebenchError("compare takes two functions or more, by name: compare({'plain': f, 'fused': g})")
    for name, function in functions.items():
        if not isinstance(name, str) or not name or name != escape_controls(name):
            raise XebenchError(f"compare: {name!r} is no name of a function: give text without control characters")
        require_function(function, name)
    against = next(iter(functions)) if reference is None else require_choice(reference, functions, "reference")
    settings = settings_of(
        metric=metric,
        state=state,
        precision=precision,
        budget_s=budget_s,
        setup=setup,
        instances=instances,
        check=check,
        rtol=rtol,
        atol=atol,
        bytes_moved=bytes_moved,
        operations=operations,
    )
    claims = claims_by_name(claim, list(functions), against)
    family = measure_functions(functions, against, claims, settings, queue=queue, device=device, isolated=isolated)
    return Compared(against, run_of(family), unchecked=check and not family.compared)


def claims_by_name(written: Any, names: Iterable[str], reference: str) -> dict[str, tuple[Claim, ...]]:
    """The claims of each function.

    Args:
        written: the argument ``claim`` of `compare`.
        names: those of all functions.
        reference: the function that a claim on all others leaves out.

    Raises:
        XebenchError: a name is unknown, or a claim cannot be answered here.
    """
    names = list(names)
    by_name = written if isinstance(written, Mapping) else {name: written for name in names if name != reference}
    claims = {require_choice(name, names, "claim of"): claims_of(own) for name, own in by_name.items()}
    for name, own in claims.items():
        for claim in own:
            _check_claim(claim, name, names)
            if name == reference and not claim.against and not claim.of_end:
                raise XebenchError(f"claim of {name}: it is the baseline: name another function with against=")
    return claims


def _check_claim(claim: Claim, name: str, names: list[str]) -> None:
    if not isinstance(claim, Claim):
        raise XebenchError(
            f"claim of {name}: {claim!r} is no claim: give a word such as 'faster', or xebench.Claim('faster')"
        )
    if fault := claim.fault():
        raise XebenchError(f"claim of {name}: {fault}")
    if claim.of_code:
        raise XebenchError(
            f"claim of {name}: {claim.word!r} is about generated code: put it in a pattern and run xebench isa"
        )
    if claim.against:
        require_choice(claim.against, [other for other in names if other != name], f"claim of {name}: against")
