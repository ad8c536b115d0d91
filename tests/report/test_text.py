"""The report for a terminal."""

from __future__ import annotations

import re
from typing import Any

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
    assert lines[0] == "Of the guide's 5 claims: 1 holds, 2 do not, 2 have no answer."
    assert lines[1] == "Test CPU, CPU device · 1 pattern (smoke) · 3 min 52 s · noise 0.5 %"


@pytest.mark.parametrize(
    ("variant", "sign", "words"),
    [
        ("all_in_one_kernel", "✓", "holds | guide 2.9x on Max 1550; claimed for GPUs"),
        ("slow", "✗", "inverts | claimed faster"),
        ("equal", "=", "no effect | claimed faster"),
        ("few_samples", "?", "4 blocks undecided | too few blocks"),
        ("only_looked_at", "·", ""),
        ("not_here", "-", "needs sub-groups of 16; claimed for GPUs"),
        ("a_thousand_times", "✓", "holds"),
        ("races", "✓", "holds; wrong result, as claimed"),
        ("crashes", "?", "crashed"),
    ],
)
def test_a_row_has_its_sign_and_answer_and_a_line_of_remarks(
    all_answers: Run, variant: str, sign: str, words: str
) -> None:
    lines = lines_of(all_answers, 100)
    row = row_of(lines, variant)
    under = lines[lines.index(row) + 1]
    told = f"{row} | {under.strip()}" if under.startswith("    ") else row
    assert row.startswith(f"{sign} {variant} ")
    assert re.sub(r"^ *([\d.]+ [num]?s)? *([\d.]+x)? *([\d.]+ - [\d.]+)? *", "", told[2 + len(variant) :]) == words


def test_what_a_variant_is_compared_with_is_named_where_it_is_not_the_baseline(all_answers: Run) -> None:
    lines = lines_of(all_answers)
    at = lines.index("  against all_in_one_kernel:")
    words = " ".join(lines[at + 1 : at + 4]).split()
    assert words[:3] == ["✓", "as_fast_as_the_one_kernel_of_all", "1.003x"]
    assert " ".join(words[6:9]) == "holds claimed same"


def test_a_family_has_its_size_a_baseline_and_a_sentence(all_answers: Run) -> None:
    lines = lines_of(all_answers, 100)
    at = lines.index("ends, n=8, sub_group_size=16, work_group_size=256, device time")
    assert lines[at + 1].split() == ["variant", "time", "speed-up", "interval", "answer"]
    assert lines[at + 2].split() == ["one_by_one", "999", "us"]
    (sentence,) = [line for line in lines if " times as fast as one_by_one (" in line]
    assert re.fullmatch(r"  a_thousand_times is 1\d\d\d? times as fast as one_by_one \(\d+ to \d+\)\.", sentence)


def test_a_kernel_alone_has_its_time() -> None:
    made = Synthetic()
    made.times(made.case("only", "naive", chapter="c", pattern="p"), noisy(1e6))
    (row,) = [line for line in lines_of(made.run()) if line.startswith("  only ")]
    assert row.split()[1:] == ["999", "us"]


def test_a_run_of_many_patterns_shows_the_rows_of_those_that_are_named() -> None:
    made = Synthetic()
    for number in range(5):
        made.times(made.case("x", "naive", chapter="c", pattern=f"p{number}"), noisy(1e6))
        made.times(made.case("y", "optimized", chapter="c", pattern=f"p{number}"), noisy(1e6))
    run = made.run()

    def shown(**options: Any) -> list[str]:
        text = render_text(run, 80, colour=False, encoding="utf-8", **options)
        return re.findall(r"^(p\d)\b", text, re.MULTILINE)

    assert (shown(), shown(patterns=["p3"])) == ([], ["p3"])
    assert shown(verbose=True) == ["p0", "p1", "p2", "p3", "p4"]


def test_remarks_are_a_line_each_and_the_next_steps_and_the_folder_are_last(all_answers: Run) -> None:
    lines = lines_of(changed(all_answers, pairs=all_answers.pairs.assign(instances=1)))
    at = lines.index("Next:")
    failed, instances, folder = f"{lines[at - 3]} {lines[at - 2].strip()}", lines[at - 1], lines[-1]
    assert lines[at + 1].startswith("  xebench show ends slow  #")
    assert failed == "! ends/crashes [sub_group_size=16, work_group_size=256]: crashed: signal 11 in kernel twice"
    assert instances.startswith("! one instance decides nothing: ")
    assert folder == "run folder: runs/answers (complete)"


def test_a_run_that_its_budget_ended_says_how_it_goes_on(all_answers: Run) -> None:
    ended = {**all_answers.manifest, "state": "interrupted", "ended_by": "run budget"}
    lines = lines_of(changed(all_answers, manifest=ended))
    assert lines[-1] == "run folder: runs/answers (ended by its run budget)"
    command = lines.index("  xebench run --resume runs/answers")
    assert lines[command + 1].startswith("    # more time narrows the")


def test_rates_stand_beside_times_and_answers(run: Run) -> None:
    lines = lines_of(run, 100)
    (plain,) = [line for line in lines if line.startswith("  plain ") and "25.0" in line]  # the first size
    assert plain.split()[1:] == ["40.0", "us", "25.0", "50.0"]
    heading = lines[lines.index(plain) - 1]
    assert heading.split()[-3:] == ["answer", "GB/s", "GFLOP/s"]
    verbose = " ".join(" ".join(lines_of(run, verbose=True)).split())
    assert "convolution" in verbose and "plain, naive: 40.0 us, 25.0 GB/s, 50.0 GFLOP/s" in verbose


def test_a_long_reason_is_cut_between_words_on_a_terminal_and_whole_elsewhere(all_answers: Run) -> None:
    reason = "signal 11 in kernel twice " + "and so on " * 20 + "to the end"
    cases = all_answers.cases.assign(reason=reason)
    long = changed(all_answers, cases=cases)
    (line,) = [line for line in lines_of(long, colour=True) if line.startswith("! ends/crashes")]
    _, _, said = line.partition(": ")
    assert line.endswith(" ... (--verbose)") and set(said.split()[:-2]) <= set(reason.split())
    assert "on to the end" in " ".join(" ".join(lines_of(long)).split()), "in pipes and files it is whole"
    assert "on to the end" in " ".join(" ".join(lines_of(long, verbose=True)).split())


def test_the_verbose_report_says_who_claims_what(all_answers: Run) -> None:
    lines = " ".join(" ".join(lines_of(all_answers, verbose=True)).split())
    assert "guide: 2.9x on Max 1550 (G 4530)" in lines
    assert "a_thousand_times, optimized: 998 ns; claim: ours" in lines


def test_times_and_roofs_are_for_the_verbose_report(run: Run) -> None:
    brief, verbose = "\n".join(lines_of(run)), "\n".join(lines_of(run, verbose=True))
    for words in ("500 GB/s", "noise floor", "The guide states"):
        assert words not in brief
        assert words in " ".join(verbose.split())
    assert "noise 0.3 %" in brief


def test_a_wrong_variant_has_no_speed_up(run: Run) -> None:
    row = row_of(lines_of(run), "broken")
    assert row.split() == ["?", "broken", "wrong", "result"]


def test_no_word_is_cut_off_at_80_columns() -> None:
    made = Synthetic()
    names = ("a_name_of_a_variant_that_is_long", "another_name_that_is_longer_than_all_of_the_columns_for_names")
    for variant, role in zip(names, ("naive", "optimized"), strict=True):
        made.times(made.case(variant, role), noisy(100)[:4], instances=[0] * 4)
    lines = lines_of(made.run())
    assert max(map(len, lines)) <= 80
    assert {*names, "too", "few", "blocks"} <= {word.strip(",") for line in lines for word in line.split()}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_signs_have_stand_ins_where_the_output_cannot_show_them(all_answers: Run, encoding: str) -> None:
    text = render_text(all_answers, 80, encoding=encoding)
    assert text.encode(encoding).decode(encoding) == text
    lines = text.splitlines()
    signs = {
        line[2:].split()[0]: line[0] for line in lines if line[:1] in "+x=?.-" and line[1:2] == " " and line[2:].strip()
    }
    assert (signs["all_in_one_kernel"], signs["slow"], signs["equal"]) == ("+", "x", "=")
    assert [*map(len, lines)] == [*map(len, lines_of(all_answers))]


def test_colour_is_beside_the_signs(all_answers: Run) -> None:
    coloured = render_text(all_answers, 80, colour=True, encoding="utf-8")
    assert "\x1b[" in coloured
    for sign in {SIGNS[answer] for answer in Answer}:
        assert sign in coloured
    assert "\x1b[" not in render_text(all_answers, 80, colour=False, encoding="utf-8")
