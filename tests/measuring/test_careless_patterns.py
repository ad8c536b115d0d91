"""Pattern files that change inputs, write outputs now and then, or return the wrong thing: the culprit is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from family_kit import Sender, measure
from pattern_copies import write_pattern

from xebench.measuring import family

pytestmark = pytest.mark.device

CARELESS = Path(__file__).parents[1] / "faulty/careless_patterns.py"
OK = ("ok", "")

ADVICE = "does it write beyond an array? If it is to change it, declare it inout"


def statuses(done: Sender) -> dict[str, tuple[str, str]]:
    return {name: (case["status"], case["reason"]) for name, case in done.cases.items()}


def outcomes(pattern: str, **sampling: Any) -> dict[str, tuple[str, str]]:
    return statuses(measure(CARELESS, pattern, **sampling))


def test_a_variant_that_changes_an_input_is_named_and_the_others_are_measured() -> None:
    done = measure(CARELESS, "spoils_input")
    wrong = (
        "wrong",
        f"variant spoils changed input x: {ADVICE}",
    )
    assert statuses(done) == {"spoils": wrong, "right": OK, "right_too": OK}
    assert {row["case_id"] for row in done.samples(state="hot")} == {"right", "right_too"}


@pytest.mark.parametrize("size", [3, 3 << 20, (3 << 20) + 1])
def test_one_bit_in_an_input_is_seen_on_the_host_and_on_the_device(size: int, tmp_path: Path) -> None:
    path = tmp_path / "careless.py"
    write_pattern(path, CARELESS.read_text().replace("BYTES = 3", f"BYTES = {size}"))
    done = measure(path, "spoils_large_input")
    wrong = (
        "wrong",
        f"variant changes_the_last_byte changed input big: {ADVICE}",
    )
    assert statuses(done) == {"right": OK, "changes_the_last_byte": wrong}


def test_an_input_that_is_changed_while_it_is_sampled_costs_every_variant_that_worked_on_it() -> None:
    found = outcomes("spoils_later")
    reason = "input x was changed in a sample, by this variant or another: declare it inout"
    assert found == {"right": ("wrong", reason), "spoils_once": ("wrong", reason)}


def test_an_input_that_is_changed_in_another_instance_is_seen_there() -> None:
    found = outcomes("spoils_new_instance", min_instances=2, max_blocks=40)
    wrong = (
        "wrong",
        f"variant spoils_when_prepared_again changed input x: {ADVICE}",
    )
    assert found == {"right": OK, "spoils_when_prepared_again": wrong}


def test_a_variant_that_fails_after_it_changed_an_input_fails_alone() -> None:
    found = outcomes("spoils_and_fails")
    assert found == {"fails": ("error", "check: RuntimeError: after it changed x"), "right": OK}


def test_the_names_of_the_problem_stay_as_they_are() -> None:
    found = outcomes("swaps")
    assert found["right"] == OK
    assert found["swaps_arrays"][0] == "error" and "p.x cannot be set" in found["swaps_arrays"][1]


def test_arrays_on_the_host_are_read_only() -> None:
    found = outcomes("changes_host_input")
    assert found.pop("right") == OK
    for status, reason in found.values():
        assert status == "error"
        assert reason.endswith("read-only: arrays of p.host belong to the problem: change a copy")


def test_a_reference_that_works_in_place_is_told_so() -> None:
    why = ("error", "reference: the reference changes p.x in place: copy it first")
    assert outcomes("reference_in_place") == {"right": why}


def test_an_array_of_the_authors_own_is_none_of_the_problems() -> None:
    assert outcomes("captured", min_instances=2, max_blocks=40) == {"right": OK, "changes_its_own_array": OK}


def test_a_variant_that_leaves_outputs_as_they_are_is_wrong() -> None:
    found = outcomes("writes_when_nan", max_blocks=200, precision=1e-9, budget_s=20.0)
    assert found["right"] == OK
    status, reason = found["writes_where_it_sees_nan"]
    assert status == "wrong"
    assert reason.startswith(("wrong in block ", "wrong after its samples"))
    assert "two calls on the same data differ" in reason


def test_a_variant_whose_work_depends_on_what_it_updates_is_right() -> None:
    assert outcomes("until_done") == {"steps": OK}


def test_an_output_that_is_written_in_part_keeps_its_fill() -> None:
    found = outcomes("written_in_part")
    assert found.pop("writes_all")[0] == "wrong"
    assert found == {"writes_even_ones": OK, "writes_even_ones_too": OK}


def test_an_output_that_is_written_in_part_can_be_batched(monkeypatch: pytest.MonkeyPatch) -> None:
    def batches(pattern: str) -> set[int]:
        return {row["batch"] for row in measure(CARELESS, pattern).samples(state="hot")}

    # what a family would choose depends on how fast the machine is: whether it may choose does not
    monkeypatch.setattr(family, "batch_size", lambda *_, **limits_of_a_block: 3)
    assert batches("written_in_part") == {3}
    assert batches("until_done") == {1}


@pytest.mark.parametrize(
    ("pattern", "reasons"),
    [
        ("reference_none", ["reference: the reference returned None: return {'y': array}"]),
        ("reference_list", ["reference: the reference returned a list: return {'y': array}"]),
        ("reference_empty", ["reference: the reference must return {'y': array}: missing ['y'], unknown []"]),
        ("reference_words", ["reference: y: the reference is a str, not an array of numbers"]),
        ("problem_dict", ["problem: @pattern.problem returned a dict: return Problem(...) with the fields"]),
        (
            "misspelt",
            [
                "check: AttributeError: the problem has no 'guesses': did you mean guess?",
                "check: AttributeError: the problem has no 'm': known are guess, host, n, y",
            ],
        ),
        (
            "not_allowed",
            [
                "check: ArgumentError: plain_function is no kernel: give a function that is decorated with "
                "numba_dpex.kernel",
                "check: ValueError: usm='gpu': use one of 'device', 'shared', 'host'",
                "check: ArgumentError: plain_function is no kernel: give a function that is decorated with "
                "numba_dpex.kernel",
                "check: IndexSpaceError: tuple is no index space: use kernel_api.Range or NdRange",
            ],
        ),
    ],
)
def test_mistakes_are_told_in_a_line_that_helps(pattern: str, reasons: list[str]) -> None:
    assert list(outcomes(pattern).values()) == [("error", reason) for reason in reasons]


def test_a_variant_that_writes_beyond_an_array_is_named_and_costs_no_other() -> None:
    found = outcomes("beyond_the_end")
    assert found.pop("right") == OK
    advice = "its last work-items must check their index"
    assert found == {
        "writes_beyond": ("wrong", f"writes beyond y: {advice}"),
        "writes_beyond_its_scratch": ("wrong", f"writes beyond (64,) of session.alloc: {advice}"),
    }


def test_an_odd_size_is_tried_once_and_what_is_wrong_there_is_a_remark() -> None:
    done = measure(CARELESS, "left_out", rounds=2)
    assert set(statuses(done).values()) == {OK}
    assert done.cases["right"]["odd_size"] == "right at n=63"
    assert done.cases["whole_groups_alone"]["odd_size"].startswith("wrong at n=63: y: 15 of 63 elements differ")
    assert {case["odd_size"] for case in measure(CARELESS, "even_sizes").cases.values()} == {None}


def odd_sizes(pattern: str) -> dict[str, str]:
    return {name: case["odd_size"] for name, case in measure(CARELESS, pattern).cases.items()}


def test_every_integer_size_is_made_odd_and_one_alone_where_that_is_wrong() -> None:
    found = odd_sizes("dropped_rows")
    assert found["twice_of_rows"] == "right at rows=63, steps=3"
    assert found["tail_dropped"].startswith("wrong at rows=63: y: 15 of 63 elements differ")


def test_a_baseline_that_is_wrong_at_an_odd_size_is_named() -> None:
    found = odd_sizes("dropped_by_baseline")
    assert found["twice_of_rows"] == "right at rows=63, steps=3"
    assert found["tail_dropped"].startswith("wrong at rows=63: y: 15 of 63 elements differ")


def test_where_all_variants_are_wrong_the_baseline_alone_is_named_with_advice() -> None:
    found = odd_sizes("dropped_by_all")
    assert found.keys() == {"tail_dropped", "tail_dropped_too"}
    assert found["tail_dropped"].endswith("if it must be a multiple, name other sizes with odd_sizes=")
    assert found["tail_dropped_too"] is None


def test_a_size_that_the_problem_refuses_says_what_it_must_be() -> None:
    assert odd_sizes("whole_tiles") == {"right": "refused: n=63: n=63: give a multiple of 16"}


def test_a_size_that_a_launch_refuses_alone_is_not_in_the_way_of_others() -> None:
    assert odd_sizes("refused") == {"in_groups": "right at steps=3"}


def test_results_in_any_order_are_compared_in_their_canonical_form() -> None:
    found = outcomes("any_order")
    assert (found["right"], found["backwards"]) == (OK, OK)
    assert found["others"][0] == "wrong"


def test_one_of_several_valid_results_is_judged_by_the_pattern() -> None:
    found = outcomes("any_index")
    assert (found["right"], found["more_than_twice"]) == (OK, OK)
    assert found["less_than_twice"][0] == "wrong" and "elements are below twice x" in found["less_than_twice"][1]
    (why,) = set(outcomes("accepts_all").values())
    assert why == (
        "error",
        "reference: @pattern.check accepts outputs that nothing wrote: make it check all of them",
    )


def races(pattern: str) -> dict[str, str | None]:
    done = measure(CARELESS, pattern)
    assert {case["status"] for case in done.cases.values()} == {"ok"}
    return {name: case["races"] for name, case in done.cases.items()}


def test_a_stencil_in_place_is_a_race() -> None:
    words = "kernel smooth reads u[0] in one work-item and stores it in another: a race"
    assert races("in_place") == {"by_scratch": None, "where_it_is": words}


def test_a_maximum_by_test_and_plain_store_is_a_race() -> None:
    found = races("maxima")
    assert found["with_atomics"] is None
    assert (found["with_a_test"] or "").startswith("kernel maximum_by_test reads largest[")


def test_work_items_that_use_their_own_elements_or_store_equal_values_are_none() -> None:
    assert races("own_elements") == {"each_its_own": None}


def test_a_sample_that_is_not_returned_and_an_array_of_records_are_told_in_words() -> None:
    assert outcomes("forgotten") == {
        "right": OK,
        "without_return": ("wrong", "it submitted no command and returned nothing: is 'return sample' missing?"),
        "of_records": ("error", "check: an array of records (a, b): use an array for each field"),
    }
