"""`measure`: how long a function takes."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from xebench.callables.functions.asked import (
    BUDGET_S,
    PRECISION,
    checked_function,
    measure_functions,
    settings_of,
)
from xebench.callables.functions.tables import run_of
from xebench.callables.functions.words import events_words, host_doubt, time_words
from xebench.measuring.session.session import Session
from xebench.system.sycl_types import Queue
from xebench.tables import Run
from xebench.vocabulary import Metric, State


@dataclass(frozen=True, repr=False)
class Measured:
    """The result of `measure`.

    Attributes:
        name: of the function.
        run: everything as the tables of a run, in memory.
    """

    name: str
    run: Run

    @property
    def samples(self) -> pd.DataFrame:
        """The table `samples`: a row for each sample, the first call and the warm-up among them."""
        return self.run.samples

    @property
    def events(self) -> pd.DataFrame:
        """The table `events`: a row for each command of a sample."""
        return self.run.events

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
        lines = f"{self.name}: {time_words(summary)}\n{events_words(self.run, summary)}"
        return f"{lines}\n! {doubt}" if doubt else lines

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
            ``call_kernel``, dpctl and dpnp. It must leave its inputs as they are.
        queue: the session of `xebench.open_session`, or a ``dpctl.SyclQueue`` with profiling: where its arrays are.
        device: where there is no queue: ``auto``, ``gpu``, ``cpu``, or a SYCL filter string.
        metric: ``device`` (the time in which its commands ran), ``span`` (first submit to last end), or ``wall`` (on
            the host's clock; the function must wait for what it submits).
        state: ``hot``, or ``cold``: the caches are flushed before each sample.
        precision: half-width of the 95 % interval, relative to the time, that ends the sampling.
        budget_s: seconds after which it ends in any case.
        setup: called with the session for every instance; makes the function's arguments anew: a tuple, or one. What
            kernels the session has built is dropped before, and queues that it made.
        instances: how many of them at least; 6 with a ``setup``, 1 without.
        isolated: whether a process of its own calls the function, so that a crash or a hang is an error in one line. It
            imports the function and ``setup`` from their file; ``setup`` makes all arrays, of its session.
        bytes_moved: least traffic to memory of one call, in bytes.
        operations: least number of operations of one call.

    Returns:
        The time in ns with its interval, and the tables `samples` and `events`.

    Raises:
        XebenchError: nothing that it does is recorded, or an argument cannot be; the message has the next step.
        NoDevice: there is no such device.
        Exception: whatever the function raises.
    """
    checked_function(function, "function")
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


def _number(value: Any) -> float:
    return float("nan") if pd.isna(value) else float(value)
