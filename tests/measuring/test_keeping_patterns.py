"""Variants that keep something of an earlier execution are found out, and honest ones that look like these are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from family_kit import Sender, measure

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("_recorded")]

KEEPING = Path(__file__).parents[1] / "faulty/keeping_patterns.py"


@pytest.fixture(scope="module")
def _recorded() -> None:
    """Direct calls of libraries are seen, as in a worker."""
    from xebench.dpex import direct_calls

    direct_calls.install()


def of_last(done: Sender) -> tuple[str, str]:
    """Status and reason of the variant that is declared last; the others must be right."""
    cases = {name: (case["status"], case["reason"]) for name, case in done.cases.items()}
    _, last = cases.popitem()
    assert set(cases.values()) == {("ok", "")}
    return last


@pytest.mark.parametrize(
    "pattern",
    [
        "own_scratch",
        "own_scratch_of_the_same_data",
        "own_scratch_on_the_host",
        "own_scratch_and_data_read_before",
        "results_on_the_host_and_data_read_before",
        "results_on_the_host_of_the_same_data",
        "results_in_an_object_and_data_read_before",
        "results_in_the_session_and_data_read_before",
        "results_as_bytes_and_data_read_before",
        "scratch_of_a_library",
        "scratch_of_a_library_and_the_same_data",
        "scratch_of_the_first_call",
        "memo_by_pointer",
        "memo_by_identity",
    ],
)
def test_what_is_kept_is_stale_on_other_data(pattern: str) -> None:
    status, reason = of_last(measure(KEEPING, pattern))
    assert status == "wrong" and "64 of 64 elements differ" in reason


@pytest.mark.parametrize(
    "pattern",
    [
        "looks_at_its_callers",
        "looks_at_lines_of_its_callers",
        "a_few_times_and_data_read_before",
        "a_few_times_of_the_same_data",
    ],
)
def test_checks_among_samples_are_calls_like_theirs_of_the_same_function(pattern: str) -> None:
    status, reason = of_last(measure(KEEPING, pattern, budget_s=20.0, max_blocks=40))
    assert status == "wrong" and "elements differ" in reason


@pytest.mark.parametrize(
    "pattern",
    [
        "output_is_right",
        "memo_by_some_elements",
        "memo_by_all_elements_and_data_read_before",
        "marks_beside_results",
    ],
)
def test_work_that_is_done_on_new_data_alone_is_found_by_its_time(pattern: str) -> None:
    status, reason = of_last(measure(KEEPING, pattern))
    assert status == "wrong"
    how = "as long on new data as when called again|fewer commands when called again|with outputs overwritten in part"
    assert re.search(how, reason)


@pytest.mark.parametrize(
    "pattern",
    [
        "bytes_from_the_third_call_on_and_data_read_before",
        "text_from_the_third_call_on_beside_a_launch_and_data_read_before",
        "a_short_kernel_that_works_twice",
        "memo_of_what_the_host_computes",
    ],
)
def test_what_is_kept_from_some_call_on_is_found_by_what_most_samples_lack(pattern: str) -> None:
    status, reason = of_last(measure(KEEPING, pattern, budget_s=20.0, max_blocks=24))
    assert status == "wrong" and "on new data" in reason


@pytest.mark.parametrize(
    "pattern",
    [
        "memo_by_elements_from_the_third_call_on",
        "memo_in_a_process_of_its_own",
        "most_launches_left_out_from_the_fifth_call_on",
    ],
)
def test_what_is_kept_of_data_that_come_often_is_found_by_calls_on_the_same_data(pattern: str) -> None:
    status, reason = of_last(measure(KEEPING, pattern, budget_s=20.0, max_blocks=24))
    assert status == "wrong" and ("on new data" in reason or "fewer commands when called again" in reason)


def test_what_the_reference_has_computed_is_found_by_data_that_it_never_had() -> None:
    status, reason = of_last(measure(KEEPING, "what_the_reference_has_computed"))
    assert status == "wrong" and re.search("on new data|when called again", reason)


def test_what_samples_alone_leave_out_is_found_by_a_call_on_their_data_with_a_part_of_outputs_overwritten() -> None:
    status, reason = of_last(measure(KEEPING, "leaves_out_the_first_data_from_the_fourth_call_on", max_blocks=24))
    assert status == "wrong" and "after outputs were overwritten in part: " in reason


def test_a_memo_on_the_device_is_spoilt_or_found_by_its_time() -> None:
    status, reason = of_last(measure(KEEPING, "memo_on_the_device"))
    assert status == "wrong"
    assert "64 of 64 elements differ" in reason or "when called again" in reason


@pytest.mark.parametrize(
    "pattern",
    [
        "answers_on_the_host",
        "answers_on_the_device",
        "answers_among_others",
        "answers_in_a_row_of_memory",
        "answers_in_double",
        "answers_in_a_list",
        "answers_after_a_download",
        "answers_as_text_by_a_kernel",
        "answers_in_halves_by_a_kernel",
        "bytes_of_the_same_data_beside_a_launch",
        "list_of_the_same_data_beside_a_launch",
        "tuple_of_the_same_data_beside_a_launch",
    ],
)
def test_results_that_are_ready_before_a_call_are_found(pattern: str) -> None:
    status, reason = of_last(measure(KEEPING, pattern))
    assert status == "wrong" and reason.startswith("y was ready before the call: ")


def test_data_of_which_most_results_are_equal_are_the_same_data() -> None:
    done = measure(KEEPING, "results_of_data_that_hardly_differ")
    assert {case["data_sets"] for case in done.cases.values()} == {1}
    status, reason = of_last(done)
    assert status == "wrong" and "was submitted by its first call alone" in reason


@pytest.mark.parametrize("kept", ["by_name", "in_a_class", "in_a_default", "as_bytes"])
def test_what_is_kept_of_the_same_data_in_any_form_is_found_by_the_commands_of_the_first_call(kept: str) -> None:
    status, reason = of_last(measure(KEEPING, f"results_{kept}_of_the_same_data"))
    assert status == "wrong" and reason.startswith("kernel iterate was submitted by its first call alone: ")


def test_a_program_has_no_memory_of_its_own() -> None:
    status, reason = of_last(measure(KEEPING, "results_in_the_program"))
    assert status == "error" and "variable kept of its program lasts from call to call" in reason


def test_a_thread_that_works_between_the_calls_is_an_error() -> None:
    status, reason = of_last(measure(KEEPING, "answers_of_a_thread"))
    assert status == "error"
    # after whichever check it was given a core
    assert re.fullmatch(
        "(sample|recheck): its thread .* works on when the call is over: have the sample wait .*", reason
    )


@pytest.mark.parametrize("pattern", ["lookups", "moved", "updated", "counted", "clears_in_every_second_call"])
def test_honest_variants_may_read_data_beforehand_and_use_memory_again(pattern: str) -> None:
    done = measure(KEEPING, pattern, min_instances=2, max_blocks=24, budget_s=20.0)
    assert {(case["status"], case["reason"]) for case in done.cases.values()} == {("ok", "")}
    assert {case["data_sets"] for case in done.cases.values()} == {2}
    assert {row["data_set"] for row in done.samples(state="hot")} == {0, 1}, "instances take them in turn"


def test_a_variant_may_alternate_between_two_ways_on_one_data_set() -> None:
    done = measure(KEEPING, "alternates_with_one_data_set", min_instances=2, max_blocks=24, budget_s=20.0)
    assert {(case["status"], case["reason"]) for case in done.cases.values()} == {("ok", "")}


def test_a_variant_whose_first_call_alone_is_that_of_another_is_another_program() -> None:
    done = measure(KEEPING, "begins_as_the_other")
    assert {case["status"] for case in done.cases.values()} == {"ok"}
    one, other = (case["program"] for case in done.cases.values())
    assert one is not None and other is None


def test_a_family_whose_numbers_depend_on_the_seed_has_one_data_set() -> None:
    done = measure(KEEPING, "sized_by_data")
    assert {(case["status"], case["data_sets"]) for case in done.cases.values()} == {("ok", 1)}
    assert {row["data_set"] for row in done.samples(state="hot")} == {0}
