"""Some functions as one family of a run, in this process: called, compared, and sampled side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from xebench.analysis.claim import Claim
from xebench.callables.results import Array, arrays_of, differences
from xebench.callables.rows import Rows, case_id
from xebench.errors import Unsupported, XebenchError
from xebench.measuring.calibration import make_flusher
from xebench.measuring.machine_monitor import MachineMonitor
from xebench.measuring.row_stream import RowStream
from xebench.measuring.sample_flags import Rules
from xebench.measuring.sample_taker import SampleTaker
from xebench.measuring.variant_run import VariantRun, nothing, outcome
from xebench.patterns.pattern import Variant
from xebench.runtime.devices import describe
from xebench.sampling import batching
from xebench.sampling.blocks import sample_family
from xebench.sampling.instances import Instances
from xebench.sampling.limits import Sampling
from xebench.sampling.stopping import NEXT_INSTANCE
from xebench.session.session import Session
from xebench.vocabulary import Role, State, Status, metric_named

#: How a function's work is seen.
RECORDED: Final = (
    "open session = xebench.open_session() first, make arrays with sycl_queue=session.queue, and give queue=session; "
    "or ask for metric='wall'"
)
NO_COMMAND: Final = f"no command of it was recorded: {RECORDED}"


@dataclass(frozen=True)
class Settings:
    """How functions are measured.

    Attributes:
        metric: device, span or wall.
        state: hot or cold.
        sampling: how long.
        setup: makes the functions' arguments anew for every instance, of the session; None: they take none.
        check: whether results are compared with the reference's.
        rtol, atol: tolerances of that.
        bytes_moved, operations: least work of one call, where known.
    """

    metric: str
    state: State
    sampling: Sampling
    setup: Callable[[Session], tuple[Any, ...]] | None = None
    check: bool = False
    rtol: float = 0.0
    atol: float = 0.0
    bytes_moved: int | None = None
    operations: int | None = None


class FunctionFamily:
    """Functions that are measured together.

    Args:
        functions: by name.
        reference: the name of the one whose results are expected, and that speed-ups are counted from.
        claims: by name.
        session: where they run.
        settings: how.

    Attributes:
        device: what the session's device says of itself.
        variants: the functions by name, with what became of each.
        rows: what was measured.
        stopped_by: the rule that ended the sampling.
        compared: whether there was anything to compare.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        reference: str,
        claims: Mapping[str, tuple[Claim, ...]],
        session: Session,
        settings: Settings,
    ) -> None:
        self.device = describe(session.device)
        self.variants = {
            name: VariantRun(Variant(name, _role(name == reference), function, claims.get(name, ()), (), ""))
            for name, function in functions.items()
        }
        self.rows = Rows()
        self.stopped_by = ""
        self.reference = reference
        self.session = session
        self.settings = settings
        self._stream = RowStream(self.rows, {name: case_id(name, self.device) for name in functions}, 0)
        self._arguments: tuple[Any, ...] = ()
        self._expected: dict[str, Array] = {}
        self._instance = self._next_block = self._batch = 0
        self._begins: dict[str, Callable[[], None]] = {}

    @property
    def compared(self) -> bool:
        """Whether the reference returned anything that others could be compared with."""
        return bool(self._expected)

    def observe(self, name: str, begins: Callable[[], None]) -> None:
        """Have something called before each call of a function."""
        self._begins[name] = begins

    def measure(self) -> None:
        """Measure all.

        Raises:
            XebenchError: nothing of the reference is recorded.
            Exception: whatever the reference raises; what others raise ends them alone.
        """
        session, recorded = self.session, self.session.records_direct_calls
        session.records_direct_calls = metric_named(self.settings.metric).on_device_clock
        session.take_compilations(), session.take_kernels()  # of what was done with it before
        try:
            self._begin_instance()
            self._sample()
            self._guard_all("check after the samples", self._call)
        finally:
            session.records_direct_calls = recorded
        self._stream.flush()

    def _good(self) -> list[VariantRun]:
        return [variant for variant in self.variants.values() if variant.is_good()]

    def _guard_all(self, stage: str, action: Callable[[VariantRun, str], object]) -> None:
        """Do something with every good function, the reference first, whose results the others need."""
        for variant in sorted(self._good(), key=lambda variant: variant.name != self.reference):
            try:
                action(variant, stage)
            except Exception as error:
                self._drop(variant, stage, error)

    def _drop(self, variant: VariantRun, stage: str, error: Exception) -> None:
        if variant.name == self.reference:
            raise error
        variant.drop(*outcome(stage, error))

    # ---- calls that are checked ---------------------------------------------------------------------------------

    def _begin_instance(self) -> None:
        for variant in self.variants.values():
            variant.sample = nothing  # what it holds of the old arguments is freed first
        self._arguments, self._expected = (), {}
        setup = self.settings.setup
        if setup is not None:
            made = setup(self.session)
            self._arguments = made if isinstance(made, tuple) else (made,)
        self._guard_all("first call", self._first_call)

    def _first_call(self, variant: VariantRun, stage: str) -> None:
        variant.sample = self._observed(variant.name, partial(variant.variant.function, *self._arguments))
        try:
            host_ns, commands = self._call(variant, stage)
        except Unsupported:
            raise
        except XebenchError as error:
            raise XebenchError(f"{variant.name}: {error} ({RECORDED})") from error
        compilations = self.session.take_compilations()
        if self._instance == 0:
            self._stream.add_compilations(variant.name, compilations, host_ns)
            variant.kernels = self.session.take_kernels()
        if metric_named(self.settings.metric).on_device_clock and not commands:
            raise XebenchError(f"{variant.name}: {NO_COMMAND}")

    def _observed(self, name: str, call: Callable[[], Any]) -> Callable[[], Any]:
        if name not in self._begins:
            return call
        begins = self._begins[name]

        def observed() -> Any:
            begins()
            return call()

        return observed

    def _call(self, variant: VariantRun, stage: str) -> tuple[int, int]:
        """Call a function and compare what it returns; the host's time in ns, and how many commands it submitted."""
        results: list[Any] = []
        measured = self.session.measure(lambda: results.append(variant.sample()))
        if self.settings.check:
            self._compare(variant, stage, arrays_of(results.pop()))
        return measured.host_ns, len(measured.commands)

    def _compare(self, variant: VariantRun, stage: str, arrays: dict[str, Array]) -> None:
        if variant.name == self.reference and not self._expected:
            self._expected = arrays
        elif wrong := differences(arrays, self._expected, self.settings.rtol, self.settings.atol):
            variant.drop(Status.WRONG, f"{stage}: {wrong}")

    # ---- sampling -----------------------------------------------------------------------------------------------

    def _sample(self) -> None:
        settings, claimed = self.settings, self.variants.items()
        pairs = [(name, claim.against) for name, run in claimed for claim in run.variant.claims if claim.against]
        instances = Instances(settings.sampling, self.reference, compared=pairs)
        flusher = make_flusher(self.session) if settings.state == State.COLD else None
        rules = Rules(settings.metric, self.device.timer_resolution_ns, settings.bytes_moved)
        with closing(MachineMonitor(self.device.device_class)) as monitor, self._stream.watched(monitor):
            while self._good():
                taker = SampleTaker(self.session, nothing, self._stream, rules, flusher, self._instance)
                sampled = sample_family(
                    [variant.name for variant in self._good()],
                    partial(self._take, taker, self.session.queue_count),
                    instances.decide,
                    instances.share,
                    seed=self._instance,
                    state=settings.state,
                    first_block=self._next_block,
                    choose_batch=partial(self._choose_batch, instances.share),
                    clock=time.monotonic,
                )
                self._next_block, self.stopped_by = sampled.next_block, sampled.stopped_by
                if sampled.stopped_by != NEXT_INSTANCE:
                    break
                self.session.release()
                self._instance += 1
                self._begin_instance()

    def _take(self, taker: SampleTaker, queues: int, name: str, **place: Any) -> float | None:
        variant = self.variants[name]
        try:
            value = taker.take(variant, **place)
        except Exception as error:
            self._drop(variant, "sample", error)
            return None
        self.session.forget_queues(queues)
        return value

    def _choose_batch(self, part: Sampling, times_ns: Mapping[str, float], block_s: float) -> int:
        """Chosen in the first instance, and the same in all; none if cold: caches are flushed before each sample."""
        if self.settings.state == State.COLD:
            return 1
        if not self._batch:
            least = batching.least_ns(self.settings.metric, self.device.timer_resolution_ns)
            limit_s = batching.block_limit_s(part)
            self._batch = batching.batch_size(times_ns, least, block_s=block_s, limit_s=limit_s)
        return self._batch


def _role(is_reference: bool) -> Role:
    return Role.BASELINE if is_reference else Role.INTERMEDIATE
