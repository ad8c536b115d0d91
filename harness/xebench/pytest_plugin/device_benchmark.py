"""The fixture ``device_benchmark``: pytest-benchmark with the device's clock, and two functions compared in a test."""

from __future__ import annotations

import os
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
import pytest

from xebench.errors import XebenchError, first_line
from xebench.functions.family import case_id
from xebench.functions.request import measure_functions, settings_of
from xebench.functions.tables import run_of
from xebench.pytest_plugin import borrowed
from xebench.pytest_plugin.borrowed import DeviceClock, replay
from xebench.records.claim import Claim
from xebench.records.points import rows
from xebench.report.remarks import sentence
from xebench.results.analysis.metrics import union_ns
from xebench.session.session import Session
from xebench.system import runtime
from xebench.system.runtime import DeviceInfo
from xebench.vocabulary import Answer, Metric, State

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
    naive: Callable[..., Any],
    optimised: Callable[..., Any],
    claim: str | Claim,
    setup: Callable[[Session], Any] | None,
    **settings: Any,
) -> tuple[dict[str, Any], list[float]]:
    """The pair, with columns of the table ``pairs``, and the times of the second function in ns.

    Args:
        session: session on which both run.
        naive, optimised: called with what ``setup`` makes, or without arguments.
        claim: claim about the second function.
        setup: function that makes new arguments for every instance; None for one instance, without arguments.
        settings: see `settings_of`.

    Raises:
        XebenchError: the claim is not about time, a function records no command, or results differ.
        Exception: any error that a function raises.
    """
    said = Claim(claim) if isinstance(claim, str) else claim
    if not said.of_time:
        raise XebenchError(f"claim {said.word!r} is not about time: compare takes faster, slower or same")
    if fault := said.fault():
        raise XebenchError(f"claim {said.word!r}: {fault}")
    raised: list[BaseException] = []
    functions = {NAIVE: naive, OPTIMISED: _noting(optimised, raised)}
    how = settings_of(metric=Metric.DEVICE, state=State.HOT, setup=setup, instances=None, **settings)
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


def _noting(function: Callable[..., Any], raised: list[BaseException]) -> Callable[..., Any]:
    """The function; an error of it is the test's, and not a line in a table."""

    def call(*made: Any) -> Any:
        try:
            return function(*made)
        except Exception as error:
            raised.append(error)
            raise

    return call


#: Executions before pytest-benchmark begins: compilation is over, and host time beside device time is known.
FIRST_EXECUTIONS: Final = 4

NO_COMMAND: Final = (
    "the function submitted no recorded command: use device_benchmark.queue, or return the events of its commands"
)


def prepare() -> None:
    """Load the SYCL runtime, and have library calls recorded.

    Raises:
        BrokenEnvironment: it cannot be loaded.
    """
    runtime.load()
    from xebench.dpex import direct_calls

    direct_calls.install()


def opened(benchmark: Any, request: str, say: Callable[[str], None]) -> DeviceBenchmark:
    """The fixture's value.

    Raises:
        NoDevice: there is no such device.
        BrokenEnvironment: the SYCL runtime cannot be loaded.
    """
    prepare()
    chosen = runtime.select_device(request)
    say(f"device: {chosen.device.name} ({chosen.device.device})")
    return DeviceBenchmark(benchmark, chosen.device, say)


class DeviceBenchmark:
    """Times a function by the device's clock, or compares two.

    Attributes:
        queue: in-order queue with profiling; its commands are timed.
        session: session with the interface that variants of patterns use: ``launch``, ``copy``, ``alloc``
            (`xebench.session`).
        device: the device.
    """

    def __init__(self, benchmark: Any, device: DeviceInfo, say: Callable[[str], None]) -> None:
        from xebench.measuring.samples import Rules
        from xebench.session.session import Session

        self.session = Session.on(device.device)
        self.queue = self.session.queue
        self.device = device
        self._benchmark = benchmark
        self._say = say
        self._rules = Rules(Metric.DEVICE, device.timer_resolution_ns)
        self._flags: Counter[str] = Counter()
        self._late = 0
        self._measured: list[tuple[float, float, int]] = []
        self.group = benchmark.group
        self.extra_info.update(device=device.name, device_class=device.device_class, driver=device.driver_version)
        self._clock = DeviceClock("device_clock")
        borrowed.set_timer(benchmark, self._clock, device.timer_resolution_ns * 1e-9)

    @property
    def extra_info(self) -> dict[str, Any]:
        """Further facts that are kept with the result, as JSON has them."""
        info: dict[str, Any] = self._benchmark.extra_info
        return info

    @property
    def group(self) -> str | None:
        """The group of its row in pytest-benchmark's tables, to which the device's class and name are added there."""
        return self._group

    @group.setter
    def group(self, name: str | None) -> None:
        self._group = name
        self._benchmark.group = " ".join(filter(None, (name, f"[{self.device.device_class} {self.device.name}]")))

    @property
    def stats(self) -> Any:
        """The statistics of pytest-benchmark, in seconds by the device's clock: ``stats.stats.median``; None before."""
        return self._benchmark.stats

    def __call__(
        self,
        function: Callable[..., Any],
        *args: Any,
        bytes_moved: int | None = None,
        operations: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Benchmark a function by the device time of its commands and return its result.

        Args:
            function: submits work to ``queue``; need not wait.
            args: arguments of the function.
            bytes_moved: least traffic to memory of one call, in bytes: adds ``gigabytes_per_s``.
            operations: least number of operations of one call: adds ``giga_operations_per_s``.
            kwargs: keyword arguments of the function.
        """
        once = partial(self._execute, partial(function, *args, **kwargs))
        try:
            _check_amounts(bytes_moved=bytes_moved, operations=operations)
            if self._benchmark.enabled:
                self._settle(once)
            result = self._benchmark(once)
        except Exception as error:
            self._fail(error)
        self._add_rates({"bytes_moved": bytes_moved, "operations": operations})
        self._tell_doubt()
        return result

    def pedantic(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
        *,
        bytes_moved: int | None = None,
        operations: int | None = None,
    ) -> Any:
        """Benchmark a function in a fixed number of rounds, as pytest-benchmark's ``pedantic``, and return its result.

        Args:
            target: function to call; see `__call__`.
            args: arguments of the function.
            kwargs: keyword arguments of the function.
            setup: called before each round; may return the function's ``(args, kwargs)``.
            teardown: called after each round, with the function's arguments.
            rounds: number of measured rounds.
            warmup_rounds: number of rounds before the measured ones.
            iterations: calls in a round; 1 with a ``setup``.
            bytes_moved, operations: see `__call__`.
        """

        def once(*given: Any, **named: Any) -> Any:
            return self._execute(partial(target, *given, **named))

        try:
            _check_amounts(bytes_moved=bytes_moved, operations=operations)
            result = self._benchmark.pedantic(once, args, kwargs, setup, teardown, rounds, warmup_rounds, iterations)
        except Exception as error:
            self._fail(error)
        self._add_rates({"bytes_moved": bytes_moved, "operations": operations})
        self._tell_doubt()
        return result

    def compare(
        self,
        naive: Callable[..., Any],
        optimised: Callable[..., Any],
        claim: str | Claim = "faster",
        *,
        setup: Callable[[Session], Any] | None = None,
        precision: float = 0.01,
        budget_s: float | None = None,
        check: bool = True,
        rtol: float = 1e-5,
        atol: float = 1e-8,
    ) -> Any:
        """Compare two functions, sampled in turns; the test fails when the claim does not hold.

        The test is skipped, with the reason, if the samples are inconclusive.

        Args:
            naive: baseline, called with what ``setup`` makes, or without arguments.
            optimised: function that is compared with the baseline, called likewise.
            claim: claim about ``optimised``: ``faster``, ``slower``, ``same``, or a `xebench.Claim` of time.
            setup: called with the session for every instance; returns new arguments: a tuple, or one. Without it there
                is one instance, which decides only what is beyond the usual difference of two instances.
            precision: wanted half-width of the log speed-up's interval.
            budget_s: seconds of sampling; by default ``--benchmark-max-time`` for each of the two.
            check: True to compare the arrays and numbers that both return, before, among and after the samples.
            rtol: difference that passes, relative to that of ``naive``.
            atol: absolute difference that passes.

        Returns:
            The pair as a dictionary with the columns of the table ``pairs``: speedup, speedup_low, answer, ...
        """
        try:
            if not self._benchmark.enabled:
                made = () if setup is None else setup(self.session)
                made = made if isinstance(made, tuple) else (made,)
                self._benchmark(lambda: [self._execute(partial(each, *made)) for each in (naive, optimised)])
                return None
            seconds = 2 * borrowed.max_time_s(self._benchmark) if budget_s is None else budget_s
            pair, times_ns = compared(
                self.session,
                lambda *made: self._noted(naive(*made)),
                lambda *made: self._noted(optimised(*made)),
                claim,
                setup,
                precision=precision,
                budget_s=seconds,
                check=check,
                rtol=rtol,
                atol=atol,
                no_command=NO_COMMAND,
            )
        except Exception as error:
            self._fail(error)
        self.extra_info["pair"] = pair
        if times_ns:
            replay(self._benchmark, self._clock, times_ns)
        line = f"{pair['answer']}: {pair['reason']}"
        self._say(f"{self._benchmark.fullname}: {line}")
        if pair["answer"] == Answer.UNDECIDED:
            pytest.skip(line)
        if pair["answer"] != Answer.HOLDS:
            fail_at_call(line)
        return pair

    def _settle(self, once: Callable[[], Any]) -> None:
        """Compile; then let the longest time be that of the host, which waits longer than the device works."""
        once()
        begin_ns, host_ns = self._clock.ns, 0
        for _ in range(FIRST_EXECUTIONS - 1):
            once()
            host_ns += self._host_ns
        device_ns = self._clock.ns - begin_ns
        if device_ns <= 0:
            raise XebenchError("its commands take no time on the device's clock: give them more work")
        borrowed.shorten(self._benchmark, min(1.0, device_ns / host_ns))

    def _execute(self, function: Callable[[], Any]) -> Any:
        """Call it once, and let the clock advance by the time in which its commands ran."""
        results: list[Any] = []
        time_ns, flags = self._sample(lambda: _kept(results, function()))
        self._clock.ns += time_ns
        if flags:
            self._flags.update(flags)
            self.extra_info["flags"] = dict(self._flags)
        return results[0]

    def _sample(self, function: Callable[[], Any]) -> tuple[float, tuple[str, ...]]:
        """Device time of one execution, and its flags.

        Raises:
            XebenchError: nothing was recorded.
            Unfinished: the device is never done when the function returns.
        """
        from xebench.dpex.direct_calls import live_queues
        from xebench.measuring.local_functions import TRIES, Unfinished
        from xebench.measuring.samples import WAKING_NS, is_late

        measured = self.session.measure(lambda: self._noted(function()))
        if not self.session.watched:  # those that the first call made are among them
            self.session.watched = live_queues()
        self._late = self._late + 1 if is_late(measured, WAKING_NS) else 0
        if self._late == TRIES:
            raise Unfinished.after(measured)
        times = list(measured.events)
        if not times:
            raise XebenchError(NO_COMMAND)
        self._host_ns = measured.host_ns
        time_ns = union_ns(times)
        self._measured.append((time_ns, measured.host_ns - measured.session_ns - time_ns, len(times)))
        return time_ns, self._rules.broken("", measured, times, time_ns)

    def _noted(self, result: Any) -> Any:
        """Record the events that a function returned; those that are recorded already count once."""
        for event in result if isinstance(result, list | tuple) else (result,):
            if hasattr(event, "addressof_ref") and hasattr(event, "wait") and not hasattr(event, "submit"):
                self.session.note_directly("kernel", "event", self.queue, event)
        return result

    def _tell_doubt(self) -> None:
        """Say where the host takes longer than the commands and their launches explain, as `xebench.measure` does."""
        from xebench.functions.tables import empty_kernel
        from xebench.results.analysis.answer import doubt

        if not self._benchmark.enabled:
            return
        time_ns, beside_ns, commands = (
            np.array(self._measured[1:], np.float64).reshape(-1, 3).T
        )  # the first one compiles
        if not time_ns.size:
            return
        told = doubt(
            self._benchmark.name,
            time_ns,
            beside_ns,
            device_class=self.device.device_class,
            empty_kernel_ns=empty_kernel(self.device.device).get("empty_kernel_host_ns"),
            commands=float(np.median(commands)),
        )
        if told:
            self.extra_info["doubt"] = told
            self._say(f"{self._benchmark.fullname}: {told}")

    def _add_rates(self, amounts: Mapping[str, int | None]) -> None:
        names = {"bytes_moved": "gigabytes_per_s", "operations": "giga_operations_per_s"}
        for name, amount in amounts.items():
            if amount is not None:
                self.extra_info[name] = amount
                if self._benchmark.stats is not None:
                    self.extra_info[names[name]] = amount / self._benchmark.stats.stats.median * 1e-9

    @staticmethod
    def _fail(error: Exception) -> Any:
        """Fail with one line for our errors, and with the traceback for the user's own."""
        from numba_sycl.errors import KernelError

        if isinstance(error, XebenchError | KernelError):
            fail_at_call(first_line(error))
        raise error


def fail_at_call(line: str) -> NoReturn:
    """Fail the test with a line, and a second one: the file and line of the call in the user's code."""
    ours = Path(__file__).parents[2]
    stack = ((frame.f_code.co_filename, number) for frame, number in traceback.walk_stack(None))
    file, number = next(call for call in stack if not Path(call[0]).is_relative_to(ours))
    # without a context: pytest would show the cause as well, in the same words
    raise pytest.fail.Exception(f"{line}\n{os.path.relpath(file)}:{number}", pytrace=False) from None


def _kept(results: list[Any], result: Any) -> Any:
    results.append(result)
    return result


def _check_amounts(**amounts: int | None) -> None:
    from xebench.functions.request import require_number  # loads the SYCL runtime

    for name, amount in amounts.items():
        require_number(name, amount)
