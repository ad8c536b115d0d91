"""The rows of a report agree with the tables and with one another."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from changed_run import changed
from synthetic import Synthetic, noisy

from xebench.report.formats import render
from xebench.report.page.figures import under_roofs
from xebench.report.result_rows import ResultRow, device_line, result_rows
from xebench.results import Run


def rows_of(run: Run) -> dict[str, ResultRow]:
    return {row.label: row for row in result_rows(run) if row.answer}


def test_a_row_says_what_is_claimed_by_whom_for_whom_and_against_what(all_answers: Run) -> None:
    rows = rows_of(all_answers)
    fused = rows["all_in_one_kernel"]
    assert (fused.answer, fused.claim, fused.claimed_for) == ("holds", "faster", "GPUs")
    assert fused.source == "guide: 2.9x on Max 1550 (G 4530)"
    assert fused.asides == ("guide 2.9x on Max 1550", "claimed for GPUs")
    assert rows["slow"].source == "guide: G 20"
    assert rows["a_thousand_times"].source == "ours"
    assert rows["only_looked_at"].source == rows["only_looked_at"].claim == ""
    same = rows["as_fast_as_the_one_kernel_of_all against all_in_one_kernel"]
    assert (same.answer, same.asides) == ("holds", ("claimed same",))


def test_words_tell_why_there_is_no_answer_or_no_speed_up(all_answers: Run) -> None:
    obstacles = {row.variant: row.obstacle for row in rows_of(all_answers).values() if row.obstacle}
    assert obstacles == {
        "few_samples": "too few blocks",
        "not_here": "needs sub-groups of 16",
        "races": "wrong result, as claimed",
        "crashes": "crashed",
        "renamed": "the same program as one_by_one: machine code, sizes, arguments, queues and waits are equal",
    }


def test_the_numbers_of_a_row_agree(all_answers: Run) -> None:
    nanoseconds = {"ns": 1, "us": 1e3, "ms": 1e6}

    def time_ns(text: str) -> float:
        figure, unit = text.split()
        return float(figure) * nanoseconds[unit]

    baseline, *others = result_rows(all_answers)
    timed = [row for row in others if row.time not in ("", "-")]
    assert len(timed) == 7
    for row in timed:
        assert time_ns(baseline.time) / time_ns(row.time) == pytest.approx(float(row.speedup[:-1]), rel=0.01)
        if row.ends[1] is not None:
            low, high = map(float, row.interval.split(" - "))
            assert low <= float(row.speedup[:-1]) <= high


def test_times_agree_with_the_speed_up_where_the_medians_do_not(run: Run) -> None:
    pairs = run.pairs.assign(baseline_ns=run.pairs["baseline_ns"] * 1.06)
    rows = {row.variant: row for row in result_rows(changed(run, pairs=pairs)) if row.pattern == "convolution"}
    assert (rows["plain"].time, rows["cached"].time) == ("42.4 us", "21.2 us")


def _two_queues(copying_ns: int, second: str = "q1") -> Run:
    """A copy of 100 ns beside a kernel that begins when ``copying_ns`` of it are over; and one after the other."""
    made = Synthetic()
    for variant, role, begin in (("one_by_one", "naive", 100), ("side_by_side", "optimized", copying_ns)):
        case = made.case(variant, role)
        for block in range(8):
            made.sample(case, block=block, device_ns=float(begin + 100))
            made.event((0, 100), kind="copy")
            made.event((begin, begin + 100), queue=second)
    return made.run()


def test_how_much_overlaps_is_told_where_anything_does() -> None:
    run = _two_queues(60)
    together = rows_of(run)["side_by_side"]
    assert together.overlap == "25.0 %" and "overlap 25.0 %" in together.asides
    baseline = result_rows(run)[0]
    assert baseline.overlap == "0 %" and "overlap 0 %" in baseline.asides
    for form in ("text", "html", "markdown"):
        assert "25.0 %" in render(run, form) and "overlap" in render(run, form)


def test_that_nothing_overlaps_is_told_of_several_queues_alone() -> None:
    apart = _two_queues(100)
    assert [row.overlap for row in result_rows(apart)] == ["0 %", "0 %"]
    for form in ("text", "html", "markdown"):
        assert "overlap" in render(apart, form)
    one = _two_queues(100, second="q0")
    assert not any(row.overlap or "overlap" in " ".join(row.asides) for row in result_rows(one))
    assert "overlap" not in render(one, "markdown")


def test_overlap_across_devices_is_said_to_be_unknown() -> None:
    made = Synthetic()
    for variant, role, clock in (("one_device", "naive", 0), ("two_devices", "optimized", 1)):
        case = made.case(variant, role)
        for block in range(8):
            made.sample(case, block=block, device_ns=100.0)
            made.event((0, 100))
            made.event((200, 300), queue="q1")
            made.events[-1]["clock"] = clock
    run = made.run()
    assert [row.overlap for row in result_rows(run)] == ["0 %", "unknown: its devices' clocks are not one clock"]
    for form in ("text", "html", "markdown"):
        assert "clocks are not one clock" in " ".join(render(run, form).replace("&#39;", "'").split()), form


def test_copies_above_their_roof_are_a_doubt_and_no_percentage() -> None:
    for gbps, words in ((10.0, "10.0 GB/s, 100 % of the link"), (0.5, "10.0 GB/s, copies faster than the measured")):
        made = Synthetic(link_roofs=f'{{"host_to_device": {gbps}}}')
        for variant, role in (("v", "naive"), ("w", "optimized")):
            case = made.case(variant, role)
            for block in range(8):
                made.sample(case, block=block, device_ns=100.0)
                made.event((0, 100), kind="copy")
                made.events[-1].update(bytes=1000, route="host_to_device")
        assert [row.copies.startswith(words) for row in result_rows(made.run())] == [True, True]


def test_a_time_is_told_once(all_answers: Run) -> None:
    rows = rows_of(all_answers)
    assert rows["as_fast_as_the_one_kernel_of_all"].time
    assert not rows["as_fast_as_the_one_kernel_of_all against all_in_one_kernel"].time


def sweep() -> Run:
    """Two axes' worth of values and a size that was set, in the order in which a run may come to them."""
    made = Synthetic()
    for odd_size in (17, 31, 7):
        for n in (512, 64):
            point = {"parameters": f'{{"n": {n}, "odd_size": {odd_size}}}', "preset_parameters": '{"n": 512}'}
            for role, time_ns in (("naive", 1000.0 * n), ("optimized", 100.0 * n)):
                times = noisy(time_ns, spread=0)
                made.times(made.case(role, role, **point), times)
    return made.run()


def test_points_are_in_the_order_of_numbers_and_say_their_sizes() -> None:
    rows = [row for row in result_rows(sweep()) if not row.answer]
    assert [row.axes for row in rows] == [
        "n=64, odd_size=7",
        "n=64, odd_size=17",
        "n=64, odd_size=31",
        "n=512, odd_size=7",
        "n=512, odd_size=17",
        "n=512, odd_size=31",
    ]
    for baseline, row in itertools.pairwise(result_rows(sweep())):
        if not baseline.answer:
            assert baseline.axes == row.axes
            assert baseline.time == ("64.0 us" if "n=64" in row.axes else "512 us"), "of its own size"


def test_csv_has_parameters_in_the_order_of_numbers() -> None:
    made = Synthetic()
    for size in (17, 31, 7):
        for variant, role in (("a", "naive"), ("b", "optimized")):
            made.times(made.case(variant, role, parameters=json.dumps({"odd_size": size})), noisy(100))
    lines = render(made.run(), "csv").splitlines()[1:]
    assert [re.findall(r'odd_size"": (\d+)', line)[0] for line in lines] == ["7", "17", "31"]


def test_a_wrong_variant_has_no_part_of_a_roof_and_its_baseline_a_time(run: Run) -> None:
    rows = {row.variant: row for row in result_rows(run) if row.pattern == "histogram"}
    broken = rows.pop("broken")
    (baseline,) = rows.values()
    assert (broken.time, broken.roof, broken.speedup) == ("-", "-", "-")
    assert baseline.time != "-"
    assert all("broken" not in case.title for case in under_roofs(run))


def test_the_device_line_names_the_compilers(run: Run) -> None:
    made = [f"numba-dpex 0.23.0{words} (llvmlite 0.42.0, numba 0.59.1)" for words in ("", " with xebench's integers")]
    kernels = [json.dumps([{"name": "k", "spirv_sha256": name, "compiler": name}]) for name in made]
    cases = run.cases.assign(kernels=[kernels[row % 2] for row in range(len(run.cases))])
    line = device_line(changed(run, cases=cases))
    assert "; kernels by numba-dpex 0.23.0" in line
    assert "numba-dpex 0.23.0 with xebench's integers" in line
    assert "llvmlite" not in line


def test_the_device_line_has_the_caches(run: Run) -> None:
    levels = [("L1", 1 << 15, 800.0), ("L1", 1 << 16, 700.0), ("L2", 1 << 17, 400.0), ("memory", 1 << 25, 500.0)]
    names = ("level", "working_set_bytes", "gbps")
    text = json.dumps([dict(zip(names, level, strict=True)) for level in levels])
    line = device_line(changed(run, devices=run.devices.assign(bandwidth_levels=text)))
    assert line.endswith("; from L1 800 GB/s, L2 400 GB/s")
