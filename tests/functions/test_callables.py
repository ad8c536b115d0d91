"""Functions measured on the CPU device, and what is refused."""

from __future__ import annotations

import functools
import math
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import xebench
from xebench.errors import RunFolderError, XebenchError
from xebench.report.comparison import RunComparison, as_text
from xebench.results import TABLES

pytestmark = pytest.mark.device

ROOT = Path(__file__).parents[2]
N = 1 << 12
#: The precision ends it, on a busy machine, too.
BRIEF: dict[str, Any] = {"budget_s": 10, "precision": 0.5}
NUMBERS = ("precision", "budget_s", "bytes_moved", "operations")


@pytest.fixture(scope="module")
def session() -> Any:
    return xebench.open_session("cpu")


@pytest.fixture(scope="module")
def x(session: Any) -> Any:
    import dpnp

    return dpnp.full(N, 2, dtype=np.float32, sycl_queue=session.queue)


@pytest.fixture(scope="module")
def compared(session: Any) -> Any:
    import dpnp

    def arrays(session: Any) -> Any:
        made.append(dpnp.full(N, 2, dtype=np.float32, sycl_queue=session.queue))
        return made[-1]

    def fails(x: Any) -> None:
        raise ValueError("not today")

    made: list[Any] = []
    functions = {
        "twice": lambda x: x + x + x * x,
        "once": lambda x: x * (x + np.float32(2)),
        "wrong": lambda x: x + x,
        "fails": fails,
    }
    claims = {"wrong": "wrong", "once": "same"}
    result = xebench.compare(functions, queue=session, setup=arrays, instances=3, claim=claims, **BRIEF)
    assert len(made) >= 3, "arguments are made anew for each instance"
    return result


def test_a_function_of_dpnp_is_measured_and_told_to_be_between_barriers(session: Any, x: Any) -> None:
    measured = xebench.measure(lambda: x * x, queue=session, bytes_moved=2 * 4 * N, **BRIEF)
    low, high = measured.interval_ns
    assert 0 < low <= measured.median_ns <= high
    assert list(measured.samples) == list(TABLES["samples"])
    assert list(measured.events) == list(TABLES["events"])
    assert set(measured.events["kind"]) == {"library"}
    text = repr(measured)
    lines = [line for line in text.splitlines() if not line.startswith("busy machine: ")]
    assert len(lines) == 2 and "library multiply; an upper bound" in text and "GB/s" in text
    assert "<br>" in measured._repr_html_()


def test_kernels_and_commands_of_a_session_are_recorded(session: Any) -> None:
    array = session.alloc(N, np.int32)

    def both() -> None:
        session.fill(array, 3)
        session.copy(array[: N // 2], array[N // 2 :])

    measured = xebench.measure(both, queue=session, **BRIEF)
    last = measured.events[measured.events["sample_id"] == measured.events["sample_id"].max()]
    assert list(last["kind"])[:2] == ["fill", "copy"]
    assert "an upper bound" not in repr(measured)


def test_a_cold_sample_is_told_as_one(session: Any, x: Any) -> None:
    measured = xebench.measure(lambda: x * x, queue=session, state="cold", **BRIEF)
    assert set(measured.samples["state"].dropna()) == {"compile", "warmup", "cold"}


def test_the_host_s_time_needs_no_command() -> None:
    measured = xebench.measure(lambda: sum(range(1000)), device="cpu", metric="wall", **BRIEF)
    assert measured.median_ns > 0 and measured.events.empty


def test_functions_are_compared_and_claims_answered(compared: Any) -> None:
    pairs = compared.pairs.set_index("variant")
    assert list(compared.pairs) == list(TABLES["pairs"])
    assert set(pairs["baseline"]) == {"twice"}
    assert pairs.loc["once", "instances"] >= 3
    assert pairs.loc["once", "speedup_low"] <= pairs.loc["once", "speedup"] <= pairs.loc["once", "speedup_high"]
    assert pairs.loc["once", "claim"] == "same"
    ours = compared.samples
    hot = ours[ours["state"] == "hot"].groupby("block")["case_id"].nunique()
    assert set(hot) == {2}, "each block holds every function that is right"


def test_what_is_wrong_or_fails_is_told_and_not_compared(compared: Any) -> None:
    pairs = compared.pairs.set_index("variant")
    assert pairs.loc["wrong", "answer"] == "holds"
    assert math.isnan(pairs["speedup"].astype(float)["fails"])
    text = repr(compared)
    assert "fails: error: first call: ValueError: not today" in text
    assert "wrong result, as claimed" in text
    assert "upper bound" in text and "one instance" not in text
    assert re.search(r"^function +time +speed-up +95 % interval +answer$", text, re.MULTILINE)
    assert re.search(r"^once +\S+ [mun]?s +[0-9.]+x +[0-9.]+ - [0-9.]+ +\w", text, re.MULTILINE), text
    page = compared._repr_html_()
    assert "<table><tr><th>function<th>" in page and "<td>once<td>" in page and "<pre>" not in page
    with pytest.raises(XebenchError, match=r"functions are compared with twice: .pairs has a row"):
        _ = compared.speedup


def test_what_is_compared_can_be_saved_and_compared_later(session: Any, x: Any, tmp_path: Path) -> None:
    functions = {"a": lambda: x * x, "b": lambda: x + x}
    compared = xebench.compare(functions, queue=session, **BRIEF, check=False)
    pair = compared.pairs.iloc[0]
    assert (compared.speedup, *compared.interval) == tuple(pair[["speedup", "speedup_low", "speedup_high"]])
    saved = compared.save(tmp_path / "run")
    run = xebench.load_run(tmp_path / "run")
    assert run.manifest["created"] == saved.manifest["created"] and run.manifest["packages"]["dpctl"]
    assert run.manifest["drivers"] == dict(zip(run.devices["device"], run.devices["driver_version"], strict=True))
    pd.testing.assert_frame_equal(run.pairs, compared.pairs)
    pd.testing.assert_frame_equal(run.samples, compared.samples)
    with pytest.raises(RunFolderError, match="run"):
        compared.save(tmp_path / "run")
    compared.save(tmp_path / "again")
    rows = RunComparison(run, xebench.load_run(tmp_path / "again"), "time", 0.05)
    assert {row["variant"] for row in rows.rows} == {"a", "b"}  # in the order of their intervals
    assert "functions/a" in as_text(rows, every=True)


def test_a_kernel_that_does_not_compile_shows_its_own_lines_and_none_of_numba(session: Any, x: Any) -> None:
    @xebench.kernel
    def refused(item: xebench.kernel_api.Item, array):
        array[item.get_id(0)] = not_there(item)  # type: ignore[name-defined]  # noqa: F821

    launch = functools.partial(session.launch, refused, xebench.kernel_api.Range(N), x)
    for call in (launch, lambda: xebench.measure(launch, queue=session, **BRIEF)):
        with pytest.raises(RuntimeError) as caught:
            call()
        shown = "".join(traceback.format_exception(caught.value))
        assert "site-packages" not in shown and shown.count("File ") <= 4, shown
        message, before, at, after = shown.splitlines()[-4:]
        assert "kernel refused" in message and "not_there" in message
        assert at.startswith(">") and "not_there(item)" in at and before.endswith("Item, array):")
        assert not after.strip(" 0123456789")


def test_functions_without_results_are_told_to_be_unchecked(session: Any, x: Any) -> None:
    compared = xebench.compare({"a": lambda: None, "b": lambda: None}, metric="wall", queue=session, **BRIEF)
    assert "results were not compared" in repr(compared)


def test_what_the_reference_raises_is_raised(session: Any, x: Any) -> None:
    def fails() -> None:
        raise ZeroDivisionError("own")

    with pytest.raises(ZeroDivisionError, match="own"):
        xebench.compare({"a": fails, "b": lambda: x * x}, queue=session, **BRIEF)
    assert session.records_direct_calls


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "<lambda>: no command of it was recorded: open session = .*metric='wall'"),
        ({"device": "cpu"}, "both given"),
        ({"metric": "devise"}, "did you mean device"),
        ({"state": "warm"}, "known are cold, hot"),
        ({"precision": 0}, "above 0"),
        *(({name: bad}, f"{name}={bad!r}: give a number") for name in NUMBERS for bad in (-1, math.nan, math.inf, "1")),
        ({"instances": 1.5}, "instances=1.5: give a whole number from 1"),
        ({"instances": 2}, "without setup="),
        ({"queue": 3}, "queue is a int"),
        ({"setup": 3}, "setup is a int: give the function itself"),
        ({"bytes_moved": 1e30}, "below 2\\*\\*63"),
    ],
)
def test_mistakes_are_one_line(session: Any, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(XebenchError, match=words) as caught:
        xebench.measure(lambda: None, **{"queue": session, **arguments})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["rtol", "atol"])
@pytest.mark.parametrize("bad", [-1e-9, math.nan, math.inf, 1j])
def test_a_tolerance_that_is_none_is_refused(session: Any, name: str, bad: Any) -> None:
    with pytest.raises(XebenchError, match=f"{name}=.*: give a number from 0 that is finite"):
        xebench.compare({"a": lambda: None, "b": lambda: None}, queue=session, **{name: bad})


def test_arrays_and_queues_that_keep_no_times_are_refused(session: Any) -> None:
    import dpctl
    import dpnp

    elsewhere = dpnp.ones(8, sycl_queue=dpctl.SyclQueue("cpu"))

    def squared() -> None:
        (elsewhere * elsewhere).sycl_queue.wait()

    with pytest.raises(XebenchError, match="no command of it was recorded: open session = xebench.open_session"):
        xebench.measure(squared, queue=session)
    with pytest.raises(XebenchError, match="keeps no times"):
        xebench.measure(lambda: elsewhere * elsewhere, queue=elsewhere.sycl_queue)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("quicker", "'quicker' is none of"),
        ({"c": "faster"}, "claim of='c' is not known"),
        ({"b": xebench.Claim("faster", against="z")}, "claim of b: against='z' is not known"),
        (xebench.Claim("registers"), "xebench isa"),
        ({"a": "faster"}, "claim of a: it is the baseline"),
    ],
)
def test_claims_that_cannot_be_answered_are_one_line(claim: Any, words: str) -> None:
    with pytest.raises(XebenchError, match=words):
        xebench.compare({"a": print, "b": print}, claim=claim)


def test_a_comparison_wants_two_functions_and_a_known_reference() -> None:
    with pytest.raises(XebenchError, match="two functions or more"):
        xebench.compare({"a": print})
    with pytest.raises(XebenchError, match="reference='c' is not known"):
        xebench.compare({"a": print, "b": print}, reference="c")
    for name in ("", 3, "a\x1b"):
        with pytest.raises(XebenchError, match="is no name of a function"):
            xebench.compare({"a": print, name: print})  # type: ignore[dict-item]


def test_what_has_not_run_is_no_result() -> None:
    async def later() -> None: ...

    def in_steps() -> Any:
        yield 1

    for function, kind in ((later, "coroutine"), (in_steps, "generator")):
        with pytest.raises(XebenchError, match=f"returns a {kind} that has not run"):
            xebench.measure(function, metric="wall", device="cpu")


def test_a_mask_is_part_of_a_result() -> None:
    x = np.arange(8.0)
    functions: dict[str, Any] = {"a": lambda: np.ma.masked_array(x, x > 5), "b": lambda: np.ma.masked_array(x, x > 6)}
    compared = xebench.compare(functions, metric="wall", device="cpu", **BRIEF)
    assert compared.run.cases.set_index("variant")["status"].to_dict() == {"a": "ok", "b": "wrong"}


def test_bytes_that_were_divided_are_whole() -> None:
    of: Any = {"metric": "wall", "device": "cpu", "bytes_moved": 5 / 2, **BRIEF}
    compared = xebench.compare({"a": lambda: None, "b": lambda: None}, **of)
    assert set(compared.run.cases["bytes_moved"]) == {2}


def test_the_example_runs() -> None:
    example = ROOT / "docs" / "examples" / "three_expressions.py"
    command = [sys.executable, str(example), "4096", "0.5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.search(r"^operators +\S+ [mun]?s$", done.stdout, re.MULTILINE)
    assert "into_one" in done.stdout and "wrong" not in done.stdout


class Busy:
    """In place of a queue that nobody times: its work takes as long again as the function that submitted it."""

    since: float | None = None

    def submit(self) -> None:
        self.since = time.perf_counter()

    def wait(self) -> None:
        if self.since is not None:
            time.sleep(max(0.02, time.perf_counter() - self.since))
        self.since = None


@pytest.mark.parametrize("metric", ["device", "wall"])
def test_a_function_that_returns_before_the_device_is_done_fails(
    metric: str, session: Any, x: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xebench.dpex import direct_calls

    queue = Busy()
    monkeypatch.setattr(direct_calls, "live_queues", lambda **_: [queue])

    def plain() -> Any:
        result = x * x
        session.queue.wait()  # newer dpnp does not
        return result

    def early() -> Any:
        queue.submit()
        return plain()

    def waits() -> Any:
        result = early()
        queue.wait()
        return result

    words = "the device works for [0-9]+ us more when it returns, and nobody times that: wait for it there"
    compared = xebench.compare({"plain": plain, "early": early}, queue=session, metric=metric, **BRIEF)
    assert list(compared.pairs["answer"]) == ["no claim"] and math.isnan(compared.pairs["speedup"].astype(float)[0])
    assert re.search(f"early: error: first call: {words}[^(]*$", repr(compared), re.MULTILINE), repr(compared)
    with pytest.raises(XebenchError, match=words):
        xebench.measure(early, queue=session, metric=metric, **BRIEF)
    assert xebench.measure(waits, queue=session, metric=metric, **BRIEF).median_ns > 0


def test_queues_that_python_can_reach_are_found(session: Any) -> None:
    import dpctl

    from xebench.dpex import direct_calls

    own = dpctl.SyclQueue(session.device)
    found = direct_calls.live_queues()
    assert any(queue is own for queue in found) and any(queue is session.queue for queue in found)
    newer = dpctl.SyclQueue(session.device)
    assert any(queue is newer for queue in direct_calls.live_queues(new=True))


def test_work_on_the_host_beside_a_short_kernel_is_told(session: Any, x: Any) -> None:
    def busy() -> Any:
        time.sleep(0.05)  # stands for work of the host
        return x * x

    told = "unrecorded work.: besides its commands busy takes [0-9]+ us on the host|noise: busy's host time"
    assert re.search(told, repr(xebench.measure(busy, queue=session, **BRIEF)))
    compared = xebench.compare({"plain": lambda: x * x, "busy": busy}, queue=session, **BRIEF)
    assert list(compared.pairs["outcome"]) == ["inconclusive"]
