"""Two functions compared as `xebench.compare` does it, for a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xebench.callables.functions.asked import measure_functions, settings_of
from xebench.callables.functions.rows import case_id
from xebench.callables.functions.tables import run_of
from xebench.errors import XebenchError
from xebench.measuring.session.session import Session
from xebench.report.answer_words import sentence
from xebench.tables.analysis.claim import Claim
from xebench.tables.analysis.rows import rows
from xebench.vocabulary import Metric, State

NAIVE, OPTIMISED = "naive", "optimised"

#: Columns of the table ``pairs`` that a test is given.
COLUMNS: Final = (
    "claim",
    "answer",
    "outcome",
    "reason_code",
    "reason",
    "blocks",
    "baseline_ns",
    "variant_ns",
    "speedup",
    "speedup_low",
    "speedup_high",
)


def compared(
    session: Session,
    naive: Callable[[], Any],
    optimised: Callable[[], Any],
    claim: str | Claim,
    **settings: Any,
) -> tuple[dict[str, Any], list[float]]:
    """The pair, with columns of the table ``pairs``, and the times of the second function in ns.

    Args:
        session: where both run.
        naive, optimised: called without arguments.
        claim: of the second.
        settings: see `settings_of`.

    Raises:
        XebenchError: the claim is none of time, a function submits nothing that is recorded, or results differ.
        Exception: what a function raises.
    """
    said = Claim(claim) if isinstance(claim, str) else claim
    if not said.of_time or said.fault():
        raise XebenchError(f"claim {claim!r}: {said.fault() or 'compare takes one of time'}: faster, slower or same")
    raised: list[BaseException] = []
    functions = {NAIVE: naive, OPTIMISED: _noting(optimised, raised)}
    how = settings_of(metric=Metric.DEVICE, state=State.HOT, setup=None, instances=None, **settings)
    family = measure_functions(
        functions, NAIVE, {OPTIMISED: (said,)}, how, queue=session, device="auto", isolated=False
    )
    if raised:
        raise raised[0]
    run, second = run_of(family), family.variants[OPTIMISED]
    if not second.is_good():
        raise XebenchError(f"{OPTIMISED}: {second.status}: {second.reason}")
    (pair,) = rows(run.pairs)
    own = run.samples["case_id"] == case_id(OPTIMISED, family.device)
    samples = run.samples[own & (run.samples["state"] == State.HOT)]
    return {**{name: pair[name] for name in COLUMNS}, "reason": sentence(pair)}, samples["device_ns"].tolist()


def _noting(function: Callable[[], Any], raised: list[BaseException]) -> Callable[[], Any]:
    """The function; an error of it is the test's, and not a line in a table."""

    def call() -> Any:
        try:
            return function()
        except Exception as error:
            raised.append(error)
            raise

    return call
