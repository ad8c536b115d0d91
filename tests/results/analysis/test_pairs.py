"""Pairs: who is compared with whom, over which blocks, and what comes of a side that failed."""

from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from synthetic import DEVICE, Synthetic, noisy

from xebench.records.claim import Claim, Figure, to_json


def test_every_variant_against_the_naive_one() -> None:
    made = Synthetic()
    for variant, role, time_ns in [("b", "optimized", 500), ("a", "naive", 1000), ("c", "intermediate", 800)]:
        made.times(made.case(variant, role), noisy(time_ns, seed=time_ns))
    found = made.run().pairs.set_index("variant")
    assert list(found.index) == ["b", "c"]
    assert set(found["baseline"]) == {"a"}
    assert list(found["speedup"]) == pytest.approx([2.0, 1.25], rel=0.01)
    assert list(found["blocks"]) == [20, 20]
    assert list(found["outcome"]) == ["faster", "faster"]
    assert list(found["answer"]) == ["holds", "holds"]
    assert (found["speedup_low"] < found["speedup"]).all()
    assert (found["speedup"] < found["speedup_high"]).all()
    assert found["baseline_ns"]["b"] / found["variant_ns"]["b"] == pytest.approx(found["speedup"]["b"], rel=0.01)


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (("baseline", "naive", "optimized"), "v1"),
        (("optimized", "baseline"), "v1"),
        (("antipattern", "optimized"), "v0"),
    ],
)
def test_the_baseline_is_naive_else_baseline_else_antipattern(roles: tuple[str, ...], expected: str) -> None:
    made = Synthetic()
    for number, role in enumerate(roles):
        made.times(made.case(f"v{number}", role), noisy(100))
    assert set(made.run().pairs["baseline"]) == {expected}


def test_a_claim_of_accuracy_is_answered_by_errors_beside_the_speedup_even_where_the_other_side_is_wrong() -> None:
    made = Synthetic()
    accurate = Claim("accurate"), Claim("accurate", against="rough")
    made.times(made.case("a", "naive", error_ulp=3.0), noisy(100))
    made.times(made.case("b", "optimized", error_ulp=0.5, claims=to_json(accurate)), noisy(200))
    made.case(
        "rough", "antipattern", status="wrong", reason="3 differ", error_ulp=47.0, claims=to_json([Claim("wrong")])
    )
    found = made.run().pairs
    own = found[found["variant"] == "b"]
    assert list(zip(own["claim"].fillna("none"), own["baseline"], own["answer"], strict=True)) == [
        ("none", "a", "no claim"),
        ("accurate", "a", "holds"),
        ("accurate", "rough", "holds"),
    ]
    assert own["speedup"].notna().tolist() == [True, False, False]
    assert own["reason"].tolist()[2] == "errs by 0.5 ulp, rough by 47 ulp"


def test_a_family_without_a_baseline_has_no_pairs() -> None:
    made = Synthetic()
    made.times(made.case("a", "optimized"), noisy(100))
    made.times(made.case("b", "optimized"), noisy(100))
    assert made.run().pairs.empty


def test_families_are_apart_by_preset_parameters_and_device() -> None:
    made = Synthetic()
    gpu = {"device_class": "gpu", "device": "opencl:gpu:0"}
    for changed in ({}, {"preset": "guide"}, {"parameters": '{"n": 8, "m": 2}'}, {"parameters": '{"n": 64}'}, gpu):
        made.times(made.case("a", "naive", **changed), noisy(100, seed=1))
        made.times(made.case("b", "optimized", **changed), noisy(100, seed=2))
    found = made.run().pairs
    assert len(found) == 5
    assert not found.duplicated(["preset", "parameters", "device_class"]).any()
    assert list(found["device"]) == [DEVICE] * 4 + ["opencl:gpu:0"]


def test_a_variant_is_never_paired_with_a_baseline_of_another_size() -> None:
    made = Synthetic()
    made.times(made.case("a", "naive", parameters='{"n": 64}'), noisy(100))
    made.times(made.case("b", "optimized", parameters='{"n": 384}'), noisy(50))
    assert made.run().pairs.empty


def test_samples_that_no_check_followed_are_in_no_block() -> None:
    made = Synthetic()
    for variant, role in (("a", "naive"), ("b", "optimized")):
        case_id = made.case(variant, role)
        for block in range(12):
            made.sample(case_id, block=block, device_ns=100.0, checked=variant == "a" or block < 8)
    assert made.run().pairs["blocks"].tolist() == [8]


def test_only_blocks_that_both_sides_have_are_compared() -> None:
    made = Synthetic()
    naive, optimized = made.case("a", "naive"), made.case("b", "optimized")
    for block in range(12):
        at = {"block": block, "instance": block // 6}
        made.sample(naive, device_ns=100.0 * 2**block, valid=block != 3, **at)
        if block != 5:
            made.sample(optimized, device_ns=50.0 * 2**block, **at)
    row = made.run().pairs.iloc[0]
    assert row["blocks"] == 10
    # within what the timer's quantum of 1 ns makes of times of microseconds
    assert [row["speedup"], row["speedup_low"], row["speedup_high"]] == pytest.approx([2, 2, 2], rel=1e-3)


def test_a_block_is_the_median_of_its_samples() -> None:
    made = Synthetic()
    naive, optimized = made.case("a", "naive"), made.case("b", "optimized")
    for block in range(8):
        for time_ns in (100.0, 120.0, 9000.0):
            made.sample(naive, block=block, device_ns=time_ns)
        made.sample(optimized, block=block, device_ns=60.0)
    assert made.run().pairs.iloc[0]["speedup"] == pytest.approx(2)


def test_hot_and_cold_are_never_mixed() -> None:
    made = Synthetic()
    naive, optimized = made.case("a", "naive"), made.case("b", "optimized")
    made.times(naive, [200.0] * 8)
    made.times(optimized, [100.0] * 8)
    made.times(naive, [900.0] * 8, state="cold")
    made.times(optimized, [300.0] * 8, state="cold")
    found = made.run().pairs
    assert list(zip(found["state"], found["speedup"].round(9), strict=True)) == [("hot", 2.0), ("cold", 3.0)]


@pytest.mark.parametrize(
    ("status", "answer", "reason"),
    [
        ("wrong", "undecided", "wrong result: 5 of 9 differ"),
        ("crashed", "undecided", "crashed: 5 of 9 differ"),
        ("interrupted", "undecided", "interrupted: 5 of 9 differ"),
        ("skipped", "skipped", "5 of 9 differ"),
    ],
)
@pytest.mark.parametrize("side", ["variant", "baseline"])
def test_a_side_that_is_not_ok_has_no_speedup(side: str, status: str, answer: str, reason: str) -> None:
    made = Synthetic()
    bad = {"status": status, "reason": "5 of 9 differ"}
    made.times(made.case("a", "naive", **(bad if side == "baseline" else {})), noisy(200))
    made.times(made.case("b", "optimized", **(bad if side == "variant" else {})), noisy(100))
    row = made.run().pairs.iloc[0]
    assert (row["outcome"], row["answer"]) == ("none", answer)
    of_baseline = f"baseline a {'skipped: ' if status == 'skipped' else ''}{reason}"
    assert row["reason"] == (reason if side == "variant" else of_baseline)
    assert row["reason_code"] == (status if side == "variant" else "baseline")
    assert row[["speedup", "speedup_low", "baseline_ns", "variant_ns"]].isna().all()


def test_sides_that_share_no_valid_block_have_no_speedup() -> None:
    made = Synthetic()
    made.times(made.case("a", "naive"), noisy(200))
    made.sample(made.case("b", "optimized"), block=0, device_ns=0.0, valid=False, sample_flags="zero")
    row = made.run().pairs.iloc[0]
    assert (row["blocks"], row["answer"]) == (0, "undecided")
    assert "1 of 1 samples of b are flagged zero" in row["reason"]


def test_few_blocks_show_the_estimate_and_no_interval() -> None:
    made = Synthetic()
    made.times(made.case("a", "naive"), [200.0] * 4, instances=[0] * 4)
    made.times(made.case("b", "optimized"), [100.0] * 4, instances=[0] * 4)
    row = made.run().pairs.iloc[0]
    assert row["speedup"] == pytest.approx(2)
    assert pd.isna(row["speedup_low"])
    assert row["reason"].startswith("too few blocks")


def test_no_claim_is_reported_and_not_judged() -> None:
    made = Synthetic()
    made.times(made.case("a", "naive", claims="[]"), noisy(200))
    made.times(made.case("b", "optimized", claims="[]"), noisy(100, seed=1))
    row = made.run().pairs.iloc[0]
    assert (row["outcome"], row["answer"]) == ("faster", "no claim")
    assert pd.isna(row["claim"]) and pd.isna(row["guide_source"])


def three(claims: list[Claim], **changes: Any) -> Synthetic:
    """A naive variant, one that is twice as fast, and one that is as fast as that, of which these are claimed."""
    made = Synthetic(**changes)
    made.times(made.case("plain", "naive"), noisy(200))
    made.times(made.case("few", "intermediate", claims="[]"), noisy(100, seed=1))
    made.times(made.case("many", "optimized", claims=to_json(claims)), noisy(100, seed=2))
    return made


def test_a_claim_against_another_variant_is_a_pair_of_its_own() -> None:
    found = three([Claim("faster", against="few", on=("gpu",)), Claim("faster", against="plain")]).run().pairs
    keys = list(zip(found["variant"], found["baseline"], found["answer"], found["outcome"], strict=True))
    assert keys == [
        ("few", "plain", "no claim", "faster"),
        ("many", "few", "no effect", "same"),
        ("many", "plain", "holds", "faster"),
    ]
    assert found["claimed_for"].tolist() == [pd.NA, "gpu", pd.NA]


def test_without_a_claim_against_the_baseline_that_pair_is_there_too() -> None:
    found = three([Claim("same", against="few"), Claim("registers")]).run().pairs
    assert list(zip(found["variant"], found["baseline"], found["answer"], strict=True)) == [
        ("few", "plain", "no claim"),
        ("many", "plain", "no claim"),
        ("many", "few", "holds"),
    ]


def test_the_guides_figure_stands_beside_what_was_measured() -> None:
    figure = Figure(4.0, device="Max 1550", line="G 12")
    elsewhere = three([Claim("faster", on=("gpu",), figure=figure)]).run().pairs.iloc[1]
    assert elsewhere[["guide_speedup", "guide_device", "guide_source", "strength"]].tolist() == [
        4.0,
        "Max 1550",
        "G 12",
        "figure",
    ]
    assert elsewhere["of_guide"] == pytest.approx(elsewhere["speedup"] / 4)
    assert not elsewhere["at_guides_size"]
    inferred = msgspec.structs.replace(figure, device="Max", inferred="G 3")
    assert three([Claim("faster", figure=inferred)]).run().pairs.iloc[1]["guide_device"] == "Max (inferred)"


@pytest.mark.parametrize(
    ("name", "changes", "here"),
    [
        ("Intel(R) Data Center GPU Max 1550", {}, True),
        ("Intel(R) Data Center GPU Max 1100", {}, False),
        ("Intel(R) Data Center GPU Max 1550", {"preset": "default"}, False),
        ("Intel(R) Data Center GPU Max 1550", {"parameters": '{"n": 9}'}, False),
        ("Intel(R) Data Center GPU Max 1550", {"metric": "span"}, False),
        ("Intel(R) Data Center GPU Max 1550", {"parameters_from": "ours: the guide has no program"}, False),
    ],
)
def test_how_much_is_judged_on_the_same_product_metric_and_size_only(
    name: str, changes: dict[str, Any], here: bool
) -> None:
    made = Synthetic(name=name, device_class="gpu")
    figure = Figure(4.0, device="Max 1550", line="G 12", metric="device")
    claims = to_json([Claim("faster", at_least=3, on=("gpu",), figure=figure)])
    same = {"preset": "guide", **changes}
    made.times(made.case("plain", "naive", **same), noisy(200))
    made.times(made.case("fast", "optimized", claims=claims, **same), noisy(100, seed=1))
    pair = made.run().pairs.iloc[0]
    assert pair["at_guides_size"] == here
    assert pair["answer"] == ("no effect" if here else "holds")


def test_a_variant_that_must_be_wrong_is_answered_and_no_failure() -> None:
    made = Synthetic()
    made.times(made.case("plain", "naive"), noisy(200))
    bad = {"status": "wrong", "reason": "5 of 9 differ"}
    made.case("bad", "antipattern", claims=to_json([Claim("wrong", source="G 1")]), **bad)
    made.case("worse", "antipattern", claims="[]", **bad)
    run = made.run()
    assert run.pairs[["variant", "claim", "answer"]].fillna("").to_numpy().tolist() == [
        ["bad", "wrong", "holds"],
        ["worse", "", "no claim"],
    ]
    assert run.failed_cases["variant"].tolist() == ["worse"]


def test_where_the_baseline_was_skipped_too_nothing_was_asked() -> None:
    made = Synthetic()
    skipped = {"status": "skipped", "reason": "needs fp64"}
    made.case("plain", "naive", **skipped)
    made.case("bad", "antipattern", claims=to_json([Claim("error", source="G 1")]), **skipped)
    assert made.run().pairs["answer"].tolist() == ["skipped"]


def test_the_cause_of_an_inconclusive_pair_comes_from_its_samples() -> None:
    def reason(case: dict[str, object] | None = None, variant: np.ndarray | None = None, **device: object) -> str:
        made = Synthetic(**device)
        made.times(made.case("a", "naive", **(case or {})), noisy(200, 12, 0.2, seed=1))
        times = noisy(200, 12, 0.2, seed=2) if variant is None else variant
        made.times(made.case("b", "optimized", **(case or {})), times)
        return str(made.run().pairs.iloc[0]["reason"])

    assert reason().startswith("noise: ")
    assert reason({"stopped_by": "budget"}).startswith("budget: ")
    assert reason(timer_resolution_ns=100.0).startswith("timer: ")
    assert reason({"metric": "wall"}, timer_resolution_ns=100.0).startswith("noise: ")


def test_a_batch_of_short_executions_is_long_enough_for_the_timer() -> None:
    def reason(batch: int | None) -> str:
        made = Synthetic(timer_resolution_ns=100.0)
        for seed, (name, role) in enumerate((("a", "naive"), ("b", "optimized")), start=1):
            case = made.case(name, role)
            for block, time_ns in enumerate(noisy(200, 12, 0.2, seed=seed)):
                made.sample(case, block=block, instance=block // 3, device_ns=time_ns, batch=batch)
        return str(made.run().pairs.iloc[0]["reason"])

    assert reason(None).startswith("timer: ")
    assert reason(1).startswith("timer: ")
    assert reason(1000).startswith("noise: ")


def test_drift_of_the_ratio_is_told_and_drift_of_both_sides_is_not_drift() -> None:
    made = Synthetic()
    halves = np.where(np.arange(24) < 12, 0.9, 1.15)
    made.times(made.case("a", "naive"), noisy(200, 24))
    made.times(made.case("b", "optimized"), noisy(200, 24, seed=1) * halves)
    assert made.run().pairs.iloc[0]["reason"].startswith("drift: ")
    both = Synthetic()
    both.times(both.case("a", "naive"), noisy(200, 24) * halves)
    both.times(both.case("b", "optimized"), noisy(200, 24, seed=1) * halves)
    assert both.run().pairs.iloc[0]["outcome"] == "same"


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("contention", "end the other programs that use the cores, and run again"),
        ("stolen time", "use another machine or another hour"),
        ("throttling", "cool the device"),
    ],
)
def test_disturbed_blocks_are_named_with_what_disturbed_them(flag: str, words: str) -> None:
    made = Synthetic()
    naive, optimized = made.case("a", "naive"), made.case("b", "optimized")
    flags = {0: "clock"} | dict.fromkeys((9, 10, 11), f"overlap,{flag}")
    for block, (slow, fast) in enumerate(zip(noisy(200, 12, 0.2, 1), noisy(200, 12, 0.2, 2), strict=True)):
        at = {"block": block, "instance": block // 3}
        made.sample(naive, device_ns=slow, sample_flags=flags.get(block, ""), **at)
        made.sample(optimized, device_ns=fast, **at)
    reason = made.run().pairs.iloc[0]["reason"]
    assert reason.startswith(f"{flag}: the machine was disturbed in 33% of the blocks; {words}")


@pytest.mark.parametrize(
    ("waited", "answer"),
    [((None, None), "holds"), ((0.6, 0.6), "holds"), ((0.6, 0.1), "undecided"), ((0.9, 0.9), "undecided")],
)
def test_load_on_one_side_undecides_and_on_both_sides_does_not(
    waited: tuple[float | None, float | None], answer: str
) -> None:
    made = Synthetic()
    for seed, (name, role, time_ns) in enumerate((("a", "naive", 400.0), ("b", "optimized", 200.0))):
        case = made.case(name, role)
        for block, device_ns in enumerate(noisy(time_ns, 24, seed=seed)):
            made.sample(case, block=block, instance=block // 4, device_ns=device_ns, waited=waited[seed])
    pair = made.run().pairs.iloc[0]
    assert pair["answer"] == answer and pair["speedup"] == pytest.approx(2, rel=0.05)
    assert (pair["reason_code"] == "contention") == (answer == "undecided")


def test_the_roof_fraction_is_the_variants() -> None:
    made = Synthetic(bandwidth_roof_gbps=20.0)
    made.times(made.case("a", "naive", bytes_moved=1000), [200.0] * 8)
    made.times(made.case("b", "optimized", bytes_moved=1000), [100.0] * 8)
    assert made.run().pairs.iloc[0]["roof_fraction"] == pytest.approx(0.5)


#: Lengths of both sides in quanta of the timer: close together, and far from whole numbers in opposite directions.
LENGTHS = [(12.1, 12.9), (20.1, 20.9), (40.1, 40.9), (15.05, 14.95), (30.05, 29.4), (10.45, 10.55), (20.3, 20.3)]


def read(quanta: float, blocks: int, phase: np.ndarray) -> np.ndarray:
    """What a timer of 100 ns shows of an interval that begins at a phase of its quantum."""
    shown: np.ndarray = 100 * np.floor(phase + np.full(blocks, quanta))
    return shown


@pytest.mark.parametrize("in_step", [False, True])
@pytest.mark.parametrize("blocks", [6, 30])
def test_a_coarse_timer_does_not_make_intervals_that_exclude_the_truth(blocks: int, in_step: bool) -> None:
    made, source, count = Synthetic(timer_resolution_ns=100.0), np.random.default_rng(8), 20
    for first, second in LENGTHS:
        for repeat in range(count):
            parameters = f'{{"n":{repeat},"length":{first}}}'
            # a kernel that keeps step with the timer begins at the same phase each time
            phases = source.random((2, 1)) if in_step else source.random((2, blocks))
            made.times(made.case("a", "naive", parameters=parameters), read(first, blocks, phases[0]))
            made.times(made.case("b", "optimized", parameters=parameters), read(second, blocks, phases[1]))
    found = made.run().pairs
    truth = np.repeat([first / second for first, second in LENGTHS], count)
    covered = (found["speedup_low"].to_numpy() <= truth) & (truth <= found["speedup_high"].to_numpy())
    assert covered.reshape(len(LENGTHS), count).mean(axis=1).min() >= 0.95
    # the answer follows from the numbers shown
    band = 1.02
    same = (found["speedup_low"] >= 1 / band) & (found["speedup_high"] <= band)
    assert ((found["outcome"] == "same") == same).all()
    assert ((found["outcome"] == "faster") == ((found["speedup_low"] > 1) & ~same)).all()


def test_the_error_of_the_timer_does_not_end_at_a_number_of_quanta() -> None:
    def width(length: float) -> float:
        made = Synthetic(timer_resolution_ns=100.0)
        for seed, (name, role) in enumerate((("a", "naive"), ("b", "optimized"))):
            made.times(made.case(name, role), 100 * length * (1 + noisy(0.004, 30, seed=seed)))
        row = made.run().pairs.iloc[0]
        return float(np.log(row["speedup_high"] / row["speedup_low"]) / 2)

    widths = [width(length) for length in (9.9, 10.1, 100.0, 1000.0)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] < 1.1 * widths[1]
    assert widths[3] < 0.0025


def test_a_fine_timer_widens_nothing() -> None:
    def interval(resolution_ns: float) -> list[float]:
        made = Synthetic(timer_resolution_ns=resolution_ns)
        made.times(made.case("a", "naive"), noisy(20_000, seed=1))
        made.times(made.case("b", "optimized"), noisy(10_000, seed=2))
        return [float(made.run().pairs.iloc[0][name]) for name in ("speedup_low", "speedup_high")]

    assert interval(1.0) == pytest.approx(interval(0.0), rel=1e-5)


def test_executions_in_step_with_the_timer_are_not_averaged_by_a_batch() -> None:
    def row(jitter: float) -> pd.Series:
        made = Synthetic(timer_resolution_ns=100.0)
        for seed, (name, role) in enumerate((("a", "naive"), ("b", "optimized"))):
            case = made.case(name, role)
            for block, time_ns in enumerate(noisy(200, 12, jitter, seed=seed)):
                made.sample(case, block=block, instance=block // 3, device_ns=time_ns, batch=50)
        return made.run().pairs.iloc[0]

    assert row(0.0)["speedup_high"] == pytest.approx(2)
    assert row(0.0)["reason"].startswith("timer: ")
    assert row(0.03)["speedup_high"] < 1.1


def test_instances_that_differ_are_not_drift() -> None:
    source, drifts, inconclusive = np.random.default_rng(3), 0, 0
    made = Synthetic()
    for family in range(60):
        shifts = np.repeat(source.normal(0, 0.05, 6), 8)
        parameters, instances = f'{{"n":{family}}}', [block // 8 for block in range(48)]
        for name, role, own in (("a", "naive", shifts), ("b", "optimized", 0 * shifts)):
            times = 1e6 * np.exp(own + source.normal(0, 0.005, 48))
            made.times(made.case(name, role, parameters=parameters), times, instances=instances)
    for row in made.run().pairs.to_dict("records"):
        inconclusive += row["outcome"] == "inconclusive"
        drifts += row["reason"].startswith("drift")
    assert inconclusive > 40
    assert drifts <= 0.1 * inconclusive


def test_a_drift_over_the_instances_is_told() -> None:
    made = Synthetic()
    instances = [block // 8 for block in range(48)]
    shifts = np.where(np.arange(48) < 24, 0.9, 1.15) * (1 + np.array(instances) % 3 / 100)
    made.times(made.case("a", "naive"), noisy(1e6, 48, seed=1), instances=instances)
    made.times(made.case("b", "optimized"), noisy(1e6, 48, seed=2) * shifts, instances=instances)
    row = made.run().pairs.iloc[0]
    assert row["instances"] == 6
    assert row["reason"].startswith("drift: ")


def test_blocks_and_instances_are_those_of_the_interval() -> None:
    made = Synthetic()
    instances = [0] * 20 + [1] * 20 + [2] * 2
    for seed, (name, role) in enumerate((("a", "naive"), ("b", "optimized"))):
        made.times(made.case(name, role), noisy(1e6, 42, seed=seed), instances=instances)
    row = made.run().pairs.iloc[0]
    assert (row["blocks"], row["instances"]) == (40, 2)
    assert "40 blocks of 2 instances" in row["reason"]


def test_where_no_sample_is_valid_the_flag_is_named_with_what_to_do() -> None:
    made = Synthetic()
    for variant, role, valid in (("a", "naive", True), ("b", "optimized", False)):
        case = made.case(variant, role, metric="span")
        for block in range(20):
            flags = "" if valid else "overlap,stale submit"
            made.sample(case, block=block, span_ns=100.0, device_ns=50.0, host_ns=90.0, valid=valid, sample_flags=flags)
    pair = made.run().pairs.iloc[0]
    assert pair["reason_code"] == "no valid sample"
    assert pair["reason"].startswith("no valid sample: 20 of 20 samples of b are flagged stale submit (first submit to")
    assert pair["reason"].endswith("declare metric='device' or metric='wall', which need no submissions")


def test_where_few_samples_are_valid_the_flag_is_named_too() -> None:
    made = Synthetic()
    for variant, role, lost in (("a", "naive", 0), ("b", "optimized", 16)):
        case = made.case(variant, role)
        for block in range(20):
            flags = {"valid": False, "sample_flags": "stale"} if block < lost else {}
            made.sample(case, block=block, device_ns=50.0, host_ns=90.0, **flags)
    reason = made.run().pairs.iloc[0]["reason"]
    assert reason.startswith(
        "too few blocks: 4 of the 6 that an interval needs; 16 of 20 samples of b are flagged stale"
    )


def test_sides_that_drift_to_the_end_of_the_instances_are_undecided() -> None:
    made = Synthetic()
    instances = np.repeat(np.arange(6), 40).tolist()
    slope = np.tile(np.linspace(-0.1, 0.08, 40), 6)
    made.times(made.case("a", "naive"), noisy(200, 240), instances=instances)
    made.times(made.case("b", "optimized"), noisy(200, 240, seed=1) * np.exp(slope), instances=instances)
    pair = made.run().pairs.iloc[0]
    assert (pair["answer"], pair["reason_code"]) == ("undecided", "drift")
    assert "blocks of an instance differ from those that follow" in pair["reason"]


def test_the_interval_of_one_instance_is_as_wide_as_instances_differ() -> None:
    made = Synthetic()
    for seed, (name, role) in enumerate((("a", "naive"), ("b", "optimized"), ("c", "optimized"))):
        made.times(made.case(name, role), noisy((1200, 1000, 500)[seed], seed=seed), instances=[0] * 20)
    near, far = made.run().pairs.to_dict("records")
    assert near["speedup_low"] < 1 < near["speedup"] and near["speedup_high"] > 1.5
    assert far["speedup_low"] > 1 and far["reason_code"] == near["reason_code"] == "one instance"
    assert near["outcome"] == far["outcome"] == "inconclusive"


@pytest.mark.parametrize(
    ("gain", "word", "barely"), [(1.02, "faster", True), (1.2, "faster", False), (1.0, "same", False)]
)
def test_a_claim_that_holds_by_less_than_the_noise_barely_holds(gain: float, word: str, barely: bool) -> None:
    made = Synthetic()
    made.times(made.case("a", "naive"), noisy(1e6 * gain, spread=1e-4))
    made.times(made.case("b", "optimized", claims=to_json([Claim(word)])), noisy(1e6, spread=1e-4, seed=1))
    assert not made.run().pairs["barely"].any(), "the noise is that of the run's own samples"
    for pattern in ("noisy", "as noisy"):
        for seed, (name, role) in enumerate((("a", "naive"), ("b", "optimized"))):
            made.times(made.case(name, role, pattern=pattern), noisy(1e6, spread=0.06, seed=seed))
    (row,) = made.run().pairs.query("pattern == 'p'").to_dict("records")
    assert (row["answer"], row["barely"]) == ("holds", barely)


def test_pairs_of_a_file_before_the_last_are_marked_as_edited() -> None:
    made = Synthetic()
    for n, digest in ((8, "old"), (9, "new"), (10, "new")):
        for name, role in (("a", "naive"), ("b", "optimized")):
            made.times(made.case(name, role, parameters=f'{{"n":{n}}}', source_sha256=digest), noisy(1e6))
    assert made.run().pairs["edited"].tolist() == [True, False, False]
