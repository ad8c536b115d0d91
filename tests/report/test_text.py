"""The report for a terminal."""

from __future__ import annotations

import itertools
import os
import re

import pytest
from changed_run import changed
from synthetic import Synthetic, noisy

from xebench.report.formats.human_readable import render_text
from xebench.report.remarks import SIGNS
from xebench.results import Run
from xebench.vocabulary import Answer


def lines_of(run: Run, width: int = 80, *, verbose: bool = False, colour: bool = False) -> list[str]:
    return render_text(run, width, verbose=verbose, colour=colour, encoding="utf-8").splitlines()


def row_of(lines: list[str], variant: str) -> str:
    (row,) = [line for line in lines if line[2:].startswith(f"{variant} ") and line[0] in SIGNS.values()]
    return row


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_line_is_wider_than_the_terminal_or_a_hundred(all_answers: Run, width: int, verbose: bool) -> None:
    assert max(map(len, lines_of(all_answers, width, verbose=verbose))) <= min(width, 100)


def test_the_answers_come_first(all_answers: Run) -> None:
    lines = lines_of(all_answers, 100)
    assert lines[0] == "Test CPU, CPU device · 1 pattern (smoke) · 3 min 52 s · noise below 0.08 %"
    assert lines[1].startswith("Of the guide's 6 claims ✓ 2 hold, ✗ 1 inverts")


@pytest.mark.parametrize(
    ("variant", "sign", "words"),
    [
        ("all_in_one_kernel", "✓", "guide 2.9x on Max 1550"),
        ("slow", "✗", "claimed faster"),
        ("equal", "=", "claimed faster"),
        ("few_samples", "?", "too few blocks"),
        ("only_looked_at", "·", ""),
        ("not_here", "-", " - needs sub-groups of 16, claimed for GPUs"),
        ("a_thousand_times", "✓", "▶"),
        ("races", "✓", " - wrong result, as claimed"),
        ("crashes", "?", "crashed"),
    ],
)
def test_a_row_has_its_sign_and_few_words(all_answers: Run, variant: str, sign: str, words: str) -> None:
    row = row_of(lines_of(all_answers), variant)
    assert row.startswith(f"{sign} {variant} ") and re.sub(r",? [\d.]+ [nu]s$", "", row).endswith(words)


def test_what_a_variant_is_compared_with_is_named_where_it_is_not_the_baseline(all_answers: Run) -> None:
    lines = lines_of(all_answers)
    at = lines.index("    against all_in_one_kernel")
    # the name is too long for its column: it has a line of its own
    assert lines[at - 2] == "✓ as_fast_as_the_one_kernel_of_all"
    assert lines[at - 1].split()[0] == "1.002x" and lines[at - 1].endswith("claimed same")
    assert next(line for line in lines if "against" in line).startswith("  ends against one_by_one, ")


def test_the_points_of_bars_stand_under_the_numbers(all_answers: Run) -> None:
    lines = lines_of(all_answers)
    (heading,) = [line for line in lines if "speed-up" in line]
    assert row_of(lines, "equal").index("●") == heading.index(" 1 ") + 1
    assert row_of(lines, "few_samples").index("○") > row_of(lines, "few_samples").index("│")


def test_chapters_repeat_the_axis() -> None:
    made = Synthetic()
    for chapter, (variant, role) in itertools.product(("a", "b"), (("x", "naive"), ("y", "optimized"))):
        made.times(made.case(variant, role, chapter=chapter, pattern=f"of_{chapter}"), noisy(100))
    assert len([line for line in lines_of(made.run()) if line[:1] in ("a", "b") and "speed-up 1/4 " in line]) == 2


def test_remarks_are_a_line_each_and_the_folder_is_last(all_answers: Run) -> None:
    *_, failed, instances, folder = lines_of(all_answers)
    assert failed == "! ends/crashes: crashed: signal 11 in kernel twice"
    assert instances.startswith("! one instance: ")
    assert folder == "run folder: runs/answers (complete)"


def test_a_run_that_its_budget_ended_says_how_it_goes_on(all_answers: Run) -> None:
    ended = {**all_answers.manifest, "state": "interrupted", "ended_by": "run budget"}
    lines = lines_of(changed(all_answers, manifest=ended))
    assert lines[-1] == "run folder: runs/answers (ended by its run budget)"
    assert "Next: xebench run --resume runs/answers: more time narrows the" in " ".join(lines)


@pytest.mark.parametrize(("lines", "times"), [(20, 2), (500, 1)])
def test_on_a_terminal_that_is_too_low_the_first_screen_comes_last_again(
    monkeypatch: pytest.MonkeyPatch, lines: int, times: int
) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **options: os.terminal_size((80, lines)))
    made = Synthetic()
    for number, (variant, role) in itertools.product(range(12), (("x", "naive"), ("y", "optimized"))):
        made.times(made.case(variant, role, chapter="c", pattern=f"p{number}"), noisy(100))
    run = made.run()
    assert render_text(run, 80, colour=True).count("Next: xebench report synthetic --format html") == times
    assert render_text(run, 80, colour=False).count("Next: xebench report synthetic --format html") == 1


def test_rates_stand_beside_times_and_where_there_is_room_beside_answers(run: Run) -> None:
    lines = lines_of(run, 100)
    assert any("against plain, work_group_size=256, 40.0 us (25.0 GB/s, 50.0 GFLOP/s)" in line for line in lines)
    assert row_of(lines, "cached").endswith(" GFLOP/s")
    verbose = " ".join(" ".join(lines_of(run, verbose=True)).split())
    assert "convolution" in verbose and "plain, naive: 40.0 us, 25.0 GB/s, 50.0 GFLOP/s" in verbose


def test_a_long_reason_is_cut_between_words_on_a_terminal_and_whole_elsewhere(all_answers: Run) -> None:
    reason = "signal 11 in kernel twice " + "and so on " * 20 + "to the end"
    cases = all_answers.cases.assign(reason=reason)
    long = changed(all_answers, cases=cases)
    (line,) = [line for line in lines_of(long, colour=True) if line.startswith("! ends/crashes")]
    assert line.endswith(" ... (--verbose)") and set(line.split()[3:-2]) <= set(reason.split())
    assert "on to the end" in " ".join(" ".join(lines_of(long)).split()), "in pipes and files it is whole"
    assert "on to the end" in " ".join(" ".join(lines_of(long, verbose=True)).split())


def test_the_verbose_report_says_who_claims_what(all_answers: Run) -> None:
    lines = " ".join(" ".join(lines_of(all_answers, verbose=True)).split())
    assert "guide: 2.9x on Max 1550 (G 4530)" in lines
    assert "a_thousand_times, optimized: 999 ns; 95 % interval 991 - 1009; claim: ours" in lines


def test_times_and_roofs_are_for_the_verbose_report(run: Run) -> None:
    brief, verbose = "\n".join(lines_of(run)), "\n".join(lines_of(run, verbose=True))
    for words in ("500 GB/s", "of its roof", "95 % interval", "noise floor"):
        assert words not in brief
        assert words in " ".join(verbose.split())
    assert "noise below 0.04 %" in brief


def test_a_wrong_variant_has_no_speed_up(run: Run) -> None:
    row = row_of(lines_of(run), "broken")
    assert row.split() == ["?", "broken", "-", "wrong", "result"]


def test_no_word_is_cut_off_at_80_columns() -> None:
    made = Synthetic()
    names = ("a_name_of_a_variant_that_is_long", "another_name_that_is_longer_than_all_of_the_columns_for_names")
    for variant, role in zip(names, ("naive", "optimized"), strict=True):
        made.times(made.case(variant, role), noisy(100)[:4])
    lines = lines_of(made.run())
    assert max(map(len, lines)) <= 80
    assert {*names, "too", "few", "blocks"} <= {word.strip(",") for line in lines for word in line.split()}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_signs_have_stand_ins_where_the_output_cannot_show_them(all_answers: Run, encoding: str) -> None:
    text = render_text(all_answers, 80, encoding=encoding)
    assert text.encode(encoding).decode(encoding) == text
    lines = text.splitlines()
    signs = {line[2:].split()[0]: line[0] for line in lines if line[:1] in "+x=?.-" and line[1:2] == " "}
    assert (signs["all_in_one_kernel"], signs["slow"], signs["equal"]) == ("+", "x", "=")
    assert [*map(len, lines)] == [*map(len, lines_of(all_answers))]


def test_colour_is_beside_the_signs(all_answers: Run) -> None:
    coloured = render_text(all_answers, 80, colour=True, encoding="utf-8")
    assert "\x1b[" in coloured
    for sign in {SIGNS[answer] for answer in Answer}:
        assert sign in coloured
    assert "\x1b[" not in render_text(all_answers, 80, colour=False, encoding="utf-8")
