"""The two sentences that a report begins with."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest
from changed_run import changed
from synthetic import Synthetic, noisy

from xebench.records.claim import Claim, to_json
from xebench.report.result_rows import result_rows, sorted_pairs
from xebench.report.run_summary import (
    NBSP,
    answer_sentences,
    counted_answers,
    gain,
    gains,
    headline,
    highlights,
    in_a_sentence,
    next_steps,
    rounds_line,
)
from xebench.results import Run


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


def told(run: Run) -> list[str]:
    return [highlight.sentence for highlight in highlights(run)]


def test_the_headline_tells_where_how_much_and_how_long(all_answers: Run) -> None:
    assert plain(headline(all_answers)) == "Test CPU, CPU device · 1 pattern (smoke) · 3 min 52 s · noise 0.5 %"


def test_the_headline_tells_that_the_machine_was_busy(all_answers: Run) -> None:
    for waited, told in ((0.02, ""), (0.64, " · busy machine: others had 64 % of its core time")):
        run = changed(all_answers, samples=all_answers.samples.assign(waited=waited))
        assert plain(headline(run)).endswith(f"3 min 52 s{told} · noise 0.5 %")


def test_a_run_without_intervals_tells_no_noise(all_answers: Run) -> None:
    unknown = all_answers.pairs.assign(speedup_low=None, speedup_high=None)
    assert plain(headline(changed(all_answers, pairs=unknown))).endswith("3 min 52 s")


def test_a_gpu_is_called_one(run: Run) -> None:
    assert plain(headline(run)).startswith("A GPU, GPU · 2 patterns (default) · ")


@pytest.mark.parametrize("change", [{"resumed": [{}]}, {"finished": None}])
def test_a_run_with_pauses_or_without_an_end_has_no_duration(all_answers: Run, change: dict[str, Any]) -> None:
    other = changed(all_answers, manifest={**all_answers.manifest, **change})
    assert "min" not in headline(other)


def test_claims_are_counted_by_who_makes_them_and_for_what(all_answers: Run) -> None:
    assert answer_sentences(all_answers) == [
        "Of the guide's 5 claims: 1 holds, 2 do not, 2 have no answer.",
        "The guide's claim for GPUs, which says nothing of a CPU device, holds.",
        "Of 4 other claims: 2 hold, 1 does not, 1 has no answer.",
        "1 case failed: 1 crashed.",
    ]
    assert counted_answers(all_answers) == [
        "The guide states 5 claims: 1 holds, 2 do not hold, 2 are undecided.",
        "For GPUs, which say nothing of a CPU device, the guide gives a figure for 1 claim: 1 holds.",
        "4 claims are not the guide's: 2 hold, 1 does not hold, 1 was skipped.",
        "2 pairs have no claim.",
    ]


def test_nothing_is_said_of_nothing(all_answers: Run) -> None:
    empty = {name: getattr(all_answers, name).iloc[:0] for name in ("pairs", "cases", "summaries")}
    nothing = changed(all_answers, **empty)
    assert answer_sentences(nothing) == ["Nothing was compared."]


def test_a_program_alone_has_its_time_in_the_first_sentence() -> None:
    made = Synthetic()
    made.times(made.case("plain", "naive", pattern="one"), noisy(20_000))
    (sentence,) = answer_sentences(made.run())
    assert re.fullmatch(r"one/plain takes 20\.\d us \((19|20)\.\d us to 20\.\d us\)\.", sentence)


def test_the_headline_tells_of_the_current_stack(all_answers: Run) -> None:
    current = changed(all_answers, manifest={**all_answers.manifest, "stack": "current"})
    assert " · current stack · " in plain(headline(current))
    assert "stack" not in plain(headline(all_answers))


def test_the_parts_of_rounds_are_those_of_each_family_once(all_answers: Run) -> None:
    assert rounds_line(all_answers) == "", "runs of earlier versions do not say"
    cases = all_answers.cases.assign(round_seconds='{"sampling": 30.0, "checking": 90.0, "ending": 0.01}')
    assert rounds_line(changed(all_answers, cases=cases)) == "rounds took 2 min 0 s: checking 75.0 %, sampling 25.0 %"


def test_what_helps_and_hurts_most_is_named_by_what_is_sure() -> None:
    made = Synthetic()
    variants = {"a": [500, 250], "b": [100], "c": [2000], "d": [125], "e": [1000]}
    for pattern, times in variants.items():
        made.times(made.case("naive", "naive", pattern=pattern), noisy(1000))
        for number, time in enumerate(times):
            claims = to_json([Claim("faster", source="G 1")])
            made.times(
                made.case(f"v{number}", "optimized", pattern=pattern, claims=claims), noisy(time, seed=number + 1)
            )
    helps, hurts, gained = highlights(made.run())
    names = [["".join(row).partition(NBSP)[0] for row in told.rows] for told in (helps, hurts)]
    assert (helps.sentence, names[0]) == ("Helps most:", ["b/v0", "d/v0", "a/v1"]), "a pattern once, by its best"
    assert (hurts.sentence, names[1]) == ("Hurts most:", ["c/v0"]), "what has no effect does neither"
    # a: by 2 and 4, so 2.83; b: by 10; c: by 0.5; d: by 8; e: by 1
    mean = float(re.search(r"faster: ([\d.]+)x, the geometric mean of 5 patterns", gained.sentence)[1])  # type: ignore[index]
    assert mean == pytest.approx((2.83 * 10 * 0.5 * 8 * 1) ** (1 / 5), rel=0.02)


def test_why_advice_hurts_stands_beside_it() -> None:
    run = many()
    assert highlights(run)[0].sentence == "Hurts most:", "nothing is measured of why"
    for_gpus = run.pairs.assign(claimed_for="gpu")
    first, *_ = highlights(changed(run, pairs=for_gpus))
    assert first.sentence == "Hurts most, and why, as far as is measured:"
    assert len(first.rows) == 5 and all(plain(words).endswith("x: claimed for GPUs") for _, words in first.rows)


def test_a_short_run_is_seen_at_a_glance(all_answers: Run) -> None:
    assert highlights(all_answers) == []


def many(**causes: Any) -> Run:
    """A run of five patterns, one of them with these circumstances."""
    made = Synthetic()
    claims = to_json([Claim("faster", source="G 1")])
    for number, pattern in enumerate("abcde"):
        chapter = {"pattern": pattern, "chapter": "slm"}
        made.times(made.case("naive", "naive", **chapter), noisy(1000))
        own = causes if pattern == "c" else {}
        made.times(made.case("v", "optimized", claims=claims, **chapter, **own), noisy(2000, seed=number + 1)[:40])
    made.case("w", "optimized", pattern="a", claims=claims, status="skipped", reason="needs fp64, the device is X")
    made.case("w", "optimized", pattern="b", claims=claims, status="skipped", reason="needs fp64, the device is Y")
    return made.run()


def test_what_could_not_be_told_is_counted_by_its_reason() -> None:
    assert "Without an answer: 2 skipped (2 x needs fp64)." in told(many())


def test_long_reasons_are_whole() -> None:
    reason = "needs " + " and ".join(map(str, range(100)))
    run = many()
    pairs = run.pairs.assign(reason=run.pairs["reason"].where(run.pairs["answer"] != "skipped", reason))
    assert f"Without an answer: 2 skipped (2 x {reason})." in told(changed(run, pairs=pairs))


def test_how_long_kernels_were_compiled_is_told_of_each_case_once() -> None:
    run = many()
    assert not [line for line in told(run) if "ompiling" in line]
    times = [5e6 if case.startswith("a/v") else None for case in run.summaries["case_id"]]
    twice = run.summaries.assign(compile_ns=pd.array(times, dtype="Float64"))
    last = told(changed(run, summaries=pd.concat([twice, twice])))[-1]
    assert last == "Compiling took 5.00 ms for 1 case, at most 5.00 ms (a/v)."


def test_the_next_steps_are_commands() -> None:
    run = many()
    (first, why), (rows, _), (last, _) = next_steps(run)
    assert re.fullmatch(rf"xebench report {run.path} [abcde]", rows)
    assert re.fullmatch("xebench show [abcde] v", first) and why == "what hurts most, beside naive"
    assert last == f"xebench report {run.path} --format html -o report.html"
    ended = changed(run, manifest={**run.manifest, "ended_by": "run budget"})
    assert f"xebench run --resume {run.path}" in dict(next_steps(ended))
    noisy_ones = run.pairs.assign(answer="undecided", reason_code="noise")
    command = ["run", "a b.py", "--preset=smoke", "--budget", "3", "--set", "n=4"]
    of_files = {**run.manifest, "command": command, "request": {"paths": ["/a b.py"]}}
    again = changed(run, pairs=noisy_ones, manifest=of_files)
    step = "xebench run a b c --path '/a b.py' --preset=smoke --set n=4 --precision 0.005 --budget 2m"
    assert (step, "may decide what is undecided (2 more patterns likewise)") in next_steps(again)
    assert re.fullmatch("xebench show [abcde] v --path '/a b.py'", next_steps(changed(run, manifest=of_files))[0][0])


def test_each_chapter_has_its_mean(all_answers: Run) -> None:
    ((chapter, (mean, patterns)),) = gains(sorted_pairs(many())).items()
    assert (chapter, patterns) == ("slm", 5) and mean == pytest.approx(0.5, rel=0.02)
    assert gain(sorted_pairs(all_answers)) == "", "a run of few patterns is seen at a glance"


@pytest.mark.parametrize("claims", [None, to_json((Claim("faster"),))])
def test_what_one_instance_says_is_no_sentence(claims: str | None) -> None:
    for instances, sentence in ((6, "b is 2.0"), (1, "No variant is surely faster or slower than a.")):
        made = Synthetic()
        of = made.case("a", "naive"), made.case("b", "optimized", claims=claims)
        for key, median_ns in zip(of, (2000, 1000), strict=True):
            made.times(key, noisy(median_ns), instances=[block % instances for block in range(20)])
        assert in_a_sentence(result_rows(made.run())).startswith(sentence)
