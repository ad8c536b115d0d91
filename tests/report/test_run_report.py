"""What people read says what was measured."""

from __future__ import annotations

import html.parser
import itertools
import json
import math
import re
from dataclasses import replace

import pandas as pd
import pytest
from synthetic import Synthetic, noisy

from harness.records import Run
from harness.report import formats
from harness.report.formats import render
from harness.report.formats import text as text_format
from harness.report.formats.html import PLOT_WIDTH, position
from harness.report.result_rows import device_line, flag_line, instance_line, notes, result_rows
from harness.report.roofline_plot import plots


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_terminal_report_fits_its_width(run: Run, width: int) -> None:
    text = text_format.render(run, width, colour=False)
    assert max(map(len, text.splitlines())) <= width
    assert "2.00" in text and "confirmed" in text
    assert "500 GB/s" in text
    assert "without a result" in text and "histogram/broken" in text


def test_a_wrong_variant_has_no_speed_up_anywhere(run: Run) -> None:
    rows = [
        line for line in text_format.render(run, 120, colour=False).splitlines() if line.strip().startswith("broken")
    ]
    assert len(rows) == 1 and "x" not in rows[0].replace("broken", "").split("inconclusive")[0]


@pytest.mark.parametrize("form", formats.names())
def test_every_format_names_every_variant(run: Run, form: str) -> None:
    text = render(run, form)
    for word in ("convolution", "cached", "histogram", "broken"):
        assert word in text, (form, word)


def test_json_is_json(run: Run) -> None:
    data = json.loads(render(run, "json"))
    assert data["state"] == "complete"
    (speedup,) = [pair["speedup"] for pair in data["pairs"] if pair["variant"] == "cached"]
    assert speedup == pytest.approx(2, rel=0.01)


def test_html_is_well_formed_and_needs_nothing_else(run: Run) -> None:
    page = render(run, "html")

    class Checker(html.parser.HTMLParser):
        void = frozenset({"meta", "br", "col"})

        def __init__(self) -> None:
            super().__init__()
            self.stack: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert not {name for name, _ in attrs} & {"src", "href"}, f"{tag} loads something"
            if tag not in self.void:
                self.stack.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.stack.pop() == tag

        def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            pass

    checker = Checker()
    checker.feed(page)
    assert checker.stack == []
    assert "0.17.0" in page, "provenance is part of the page"


def test_html_escapes_what_a_pattern_says(run: Run) -> None:
    run.cases.loc[3, "reason"] = "<script>alert(1)</script>"
    assert "<script>" not in render(run, "html")


def test_the_plot_is_logarithmic_and_clips() -> None:
    assert position(1) == PLOT_WIDTH / 2
    assert position(16) == PLOT_WIDTH == position(1e9)
    assert position(1 / 16) == 0 == position(0)
    assert position(4) - position(2) == pytest.approx(position(2) - position(1))


def sweep() -> Run:
    """Two axes' worth of values and a size that was set, in the order in which a run may come to them."""
    made = Synthetic()
    for odd_size in (17, 31, 7):
        for n in (512, 64):
            point = {"axes": f'{{"odd_size": {odd_size}}}', "sizes": f'{{"n": {n}}}'}
            overrides = '{"n": 64}' if n == 64 else "{}"
            for role, time_ns in (("naive", 1000.0 * n), ("optimized", 100.0 * n)):
                times = noisy(time_ns, spread=0)
                made.times(made.case(role, role, overrides=overrides, **point), times)
    return made.run()


def test_points_are_in_the_order_of_numbers_and_say_which_size_was_set() -> None:
    rows = result_rows(sweep())
    assert [row.axes for row in rows[::2]] == [
        "n=64, odd_size=7",
        "odd_size=7",
        "n=64, odd_size=17",
        "odd_size=17",
        "n=64, odd_size=31",
        "odd_size=31",
    ]
    for baseline, row in itertools.pairwise(rows):
        if baseline.role == "naive":
            assert baseline.axes == row.axes
            assert baseline.time == ("64.0 us" if "n=64" in row.axes else "512 us"), "of its own size"


def test_flags_that_tell_of_the_machine_say_what_to_do() -> None:
    made = Synthetic()
    made.sample(made.case("a", "naive"), device_ns=1.0, flags="contention")
    made.sample(made.case("b", "optimized"), device_ns=1.0)
    assert flag_line(made.run()) == (
        "flags: 1 contention; of 2 samples 0 are not used; contention: end the other programs that use the cores"
    )


def test_csv_has_axes_in_the_order_of_numbers() -> None:
    made = Synthetic()
    for size in (17, 31, 7):
        for variant, role in (("a", "naive"), ("b", "optimized")):
            made.times(made.case(variant, role, axes=json.dumps({"odd_size": size})), noisy(100))
    lines = render(made.run(), "csv").splitlines()[1:]
    assert [re.findall(r'odd_size"": (\d+)', line)[0] for line in lines] == ["7", "17", "31"]


def test_short_kernels_are_told_of() -> None:
    made = Synthetic(empty_kernel_ns=50.0)
    for variant, role, time_ns in (("a", "naive", 200), ("b", "optimized", 100), ("c", "optimized", 5000)):
        made.times(made.case(variant, role, metric="device"), noisy(time_ns))
    (line,) = [line for line in notes(made.run()) if line.startswith("fixed cost")]
    assert "2 of 2 speed-ups" in line


def test_samples_that_no_check_followed_are_told() -> None:
    made = Synthetic()
    made.sample(made.case("a", "naive"), device_ns=1.0, checked=False)
    made.sample(made.case("b", "optimized"), device_ns=1.0, valid=False, flags="zero")
    assert flag_line(made.run()) == "flags: 1 zero, 1 that no check followed; of 2 samples 2 are not used"


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_intervals_of_one_instance_say_what_they_lack(run: Run, form: str) -> None:
    assert "the intervals are of one instance" in " ".join(render(run, form).split())
    pairs = run.pairs.assign(instances=6)
    assert "of one instance" not in " ".join(render(replace(run, pairs=pairs), form).split())


def test_only_intervals_that_are_known_are_counted(run: Run) -> None:
    other = run.pairs.assign(instances=6)
    unknown = run.pairs.assign(speedup_low=math.nan)
    pairs = pd.concat([run.pairs, other, unknown], ignore_index=True)
    known = int(run.pairs["speedup_low"].notna().sum())
    assert instance_line(replace(run, pairs=pairs)).startswith(f"{known} of {2 * known} intervals are of one instance")


def test_a_wrong_variant_has_no_part_of_a_roof_and_its_baseline_a_time(run: Run) -> None:
    rows = {row.variant: row for row in result_rows(run) if row.pattern == "histogram"}
    broken = rows.pop("broken")
    (baseline,) = rows.values()
    assert (broken.time, broken.roof, broken.speedup) == ("-", "-", "-")
    assert baseline.time != "-"
    assert all("broken" not in point.title for plot in plots(run) for point in plot.points)


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_fraction_above_its_roof_has_a_star_and_its_word(run: Run, form: str) -> None:
    assert "%*" not in render(run, form)
    note = "faster than the measured roof: memory bandwidth was measured too low"
    above = {"roof_fraction": 1.31, "roof_note": note}
    fast = replace(run, summaries=run.summaries.assign(**above), pairs=run.pairs.assign(roof_fraction=1.31))
    page = render(fast, form)
    assert "131 %*" in page
    assert f"* above 100 %: {len(run.summaries)} {note}" in " ".join(page.split())
    # runs of earlier versions know of no level but the memory
    old = replace(fast, summaries=fast.summaries.assign(roof_note=pd.NA))
    assert "its data came from a cache" in " ".join(render(old, form).split())


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_roofs_that_were_disturbed_are_told(run: Run, form: str) -> None:
    assert "busy machine" not in render(run, form)
    busy = replace(run, devices=run.devices.assign(roofs_disturbed="bandwidth, fp32"))
    assert "measured on a busy machine and may be too low: bandwidth, fp32" in " ".join(render(busy, form).split())


def test_the_device_line_has_the_caches(run: Run) -> None:
    levels = [("L1", 1 << 15, 800.0), ("L1", 1 << 16, 700.0), ("L2", 1 << 17, 400.0), ("memory", 1 << 25, 500.0)]
    names = ("level", "working_set_bytes", "gbps")
    text = json.dumps([dict(zip(names, level, strict=True)) for level in levels])
    line = device_line(replace(run, devices=run.devices.assign(bandwidth_levels=text)))
    assert line.endswith("; from L1 800 GB/s, L2 400 GB/s")


def test_no_word_is_cut_off_at_80_columns() -> None:
    made = Synthetic()
    for variant, role in (("a_name_of_a_variant_that_is_long", "naive"), ("another_name_that_is_long", "optimized")):
        made.times(made.case(variant, role), noisy(100)[:4])
    lines = text_format.render(made.run(), width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert {"inconclusive:", "too", "few", "blocks"} <= {word for line in lines for word in line.split()}
