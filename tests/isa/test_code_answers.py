"""Claims on generated code, answered from figures made up by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xebench.isa import text as isa_text
from xebench.isa.collect import Collected, KernelLaunch, VariantWithoutKernel
from xebench.isa.compilation import Compiler, Target
from xebench.isa.kernel_code import KernelOnGpu
from xebench.isa.table import ISA, CodeAnswer, code_answers, judge_counts
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.plan import Family
from xebench.records.claim import Claim
from xebench.vocabulary import Answer, CodeClaim

COLUMNS = [name for word in CodeClaim for name in word.columns]


class Made(KernelOnGpu):
    """A kernel whose figures were not read from code."""

    figures: dict[str, Any] = {}


def launch(variant: str, name: str = "k", **axes: int) -> KernelLaunch:
    return KernelLaunch("p", "slm", variant, "naive", json.dumps(axes), name, f"{variant}.{name}", b"")


def kernel(of: KernelLaunch, gpu: str = "pvc", status: str = "ok", **figures: int) -> KernelOnGpu:
    made = Made(of, Target(gpu), Compiler(("ocloc",), "1.0", "libigc.so.2"), status, "" if status == "ok" else "why")
    object.__setattr__(made, "figures", {**dict.fromkeys(COLUMNS, 0), **figures} if status == "ok" else {})
    return made


def families(*claims: Claim, **axes: tuple[int, ...]) -> list[Family]:
    variants = (VariantInfo("slow", "naive", (), ""), VariantInfo("fast", "optimized", claims, ""))
    info = PatternInfo("p", "slm", "", "", (), "device", {"smoke": {}}, axes, variants, "p.py")
    points: list[dict[str, int]] = [{}]
    for name, values in axes.items():
        points = [{**point, name: value} for point in points for value in values]
    return [Family(info, "smoke", point, {}) for point in points]


def answers(claim: Claim, *kernels: KernelOnGpu, missing: tuple[VariantWithoutKernel, ...] = ()) -> list[CodeAnswer]:
    collected = Collected(list(dict.fromkeys(kernel.launch for kernel in kernels)), list(missing))
    return code_answers(families(claim), collected, kernels)


def test_every_word_is_explained_where_the_command_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "without-a-gpu.md").read_text(encoding="utf-8")
    assert not [word for word in CodeClaim if f"| `{word}` |" not in page]


def test_every_word_is_measured_by_columns_of_the_table() -> None:
    assert set(COLUMNS) <= {column.name for column in ISA}


@pytest.mark.parametrize(
    ("number", "against", "at_least", "answer"),
    [
        (8, 16, 1.0, Answer.HOLDS),
        (8, 16, 2.0, Answer.HOLDS),
        (8, 15, 2.0, Answer.NO_EFFECT),
        (16, 16, 1.0, Answer.NO_EFFECT),
        (17, 16, 1.0, Answer.INVERTS),
        (0, 0, 1.0, Answer.NO_EFFECT),
        (0, 1, 100.0, Answer.HOLDS),
    ],
)
def test_fewer_holds(number: int, against: int, at_least: float, answer: Answer) -> None:
    assert judge_counts(number, against, at_least) == answer


def test_each_gpu_has_its_own_answer() -> None:
    slow, fast = launch("slow"), launch("fast")
    found = answers(
        Claim("registers", against="slow"),
        kernel(slow, registers_used=16),
        kernel(slow, "dg2", registers_used=11),
        kernel(fast, registers_used=8),
        kernel(fast, "dg2", registers_used=12),
    )
    assert [(one.target.gpu, one.answer, one.reason) for one in found] == [
        ("pvc", Answer.HOLDS, "8 against 16 registers"),
        ("dg2", Answer.INVERTS, "12 against 11 registers"),
    ]


@pytest.mark.parametrize(
    ("word", "column", "number"), [("registers", "registers_used", 7), ("messages", "loads_slm", 12)]
)
def test_of_several_kernels_what_a_thread_holds_is_the_largest_and_the_rest_adds_up(
    word: str, column: str, number: int
) -> None:
    kernels = [kernel(launch("fast", name), "pvc", "ok", **{column: count}) for name, count in (("a", 7), ("b", 5))]
    (found,) = answers(Claim(word, against="slow"), kernel(launch("slow"), "pvc", "ok", **{column: 20}), *kernels)
    assert (found.number, found.against_number, found.answer) == (number, 20, Answer.HOLDS)


def test_spills_are_all_that_has_no_register() -> None:
    kernels = kernel(launch("slow"), spill_bytes=64, private_bytes=1024), kernel(launch("fast"), spill_bytes=64)
    (found,) = answers(Claim("spills", against="slow"), *kernels)
    assert found.reason == "64 against 1088 bytes outside registers"


def test_fewer_bytes_that_are_read_more_often_do_not_hold() -> None:
    slow = kernel(launch("slow"), private_bytes=8192, loads_scratch=100, stores_scratch=20)
    (more,) = answers(
        Claim("spills", against="slow"), slow, kernel(launch("fast"), private_bytes=64, loads_scratch=121)
    )
    assert more.answer == Answer.NO_EFFECT
    assert more.reason == "64 against 8192 bytes outside registers, but 121 against 120 messages to that memory"
    (fewer,) = answers(
        Claim("spills", against="slow"), slow, kernel(launch("fast"), private_bytes=64, loads_scratch=120)
    )
    assert (fewer.answer, fewer.reason) == (Answer.HOLDS, "64 against 8192 bytes outside registers")


def test_different_widths_stand_in_the_answer() -> None:
    slow, fast = (
        kernel(launch("slow"), instructions=9, simd_width=32),
        kernel(launch("fast"), instructions=8, simd_width=8),
    )
    (found,) = answers(Claim("instructions", against="slow"), slow, fast)
    assert found.reason == "8 against 9 instructions (8 lanes against 32)"


def test_what_fits_registers_has_no_kernel_that_spills() -> None:
    claim = Claim("spilling_kernels", against="slow")
    spilling, fitting = kernel(launch("slow"), private_bytes=64), kernel(launch("fast"))
    (found,) = answers(claim, spilling, fitting)
    assert (found.reason, found.answer) == ("0 against 1 kernels with bytes outside registers", Answer.HOLDS)
    (less,) = answers(claim, spilling, kernel(launch("fast"), spill_bytes=32))
    assert less.answer == Answer.NO_EFFECT, "fewer bytes are not none"


def test_a_side_without_code_leaves_it_undecided() -> None:
    claim = Claim("instructions", against="slow")
    (refused,) = answers(claim, kernel(launch("slow"), status="refused"), kernel(launch("fast")))
    assert (refused.answer, refused.number) == (Answer.UNDECIDED, 0)
    assert refused.reason == "no code of slow: refused: why"
    (absent,) = answers(claim, kernel(launch("slow")), missing=(VariantWithoutKernel("p", "fast", "ValueError: no"),))
    assert (absent.answer, absent.reason) == (Answer.UNDECIDED, "no code of fast: ValueError: no")
    (library,) = answers(claim, kernel(launch("slow")))
    assert library.reason == "no code of fast: it launches no kernel"


def test_a_point_is_answered_where_it_is_claimed_and_once_for_the_same_kernels() -> None:
    claim = Claim("messages", against="slow", where={"lanes": [16, 32]})
    slow = [launch("slow", f"k{lanes}", lanes=lanes) for lanes in (8, 16, 32)]
    fast = [launch("fast", "k", lanes=lanes) for lanes in (8, 16, 32)]  # whatever the lanes are
    # a kernel of a variant is compiled once
    compiled = [*(kernel(one, loads_global=one.kernel == "k32") for one in slow), kernel(fast[0])]
    found = code_answers(families(claim, lanes=(8, 16, 32)), Collected([*slow, *fast]), compiled)
    assert [(one.axes, one.answer) for one in found] == [
        ('{"lanes": 16}', Answer.NO_EFFECT),
        ('{"lanes": 32}', Answer.HOLDS),
    ]
    again = code_answers(families(claim, lanes=(8, 16), other=(1, 2)), Collected(), compiled)
    assert len(again) == 1, "both sides lack code at every point"


def test_claims_of_time_are_not_answered_here() -> None:
    assert answers(Claim("faster", against="slow"), kernel(launch("slow")), kernel(launch("fast"))) == []


def test_the_answers_are_shown() -> None:
    slow = kernel(launch("slow"), instructions=30, simd_width=32, loads_global=4)
    fast = kernel(launch("fast"), instructions=20, simd_width=16, loads_slm=3, private_bytes=64)
    kernels = slow, fast
    found = answers(Claim("instructions", against="slow", at_least=1.5, on=("gpu",), source="G 2272"), *kernels)
    line = (
        "holds: p/fast, pvc: fewer instructions than slow by at least 1.5 times, for GPUs [G 2272]: "
        "20 against 30 instructions (16 lanes against 32); "
        "lanes 16 against 32, messages 3 against 4, bytes 64 against 0, instructions 20 against 30"
    )
    assert isa_text.claims(found) == [line]
    assert line in " ".join(isa_text.as_text((), (), found, 200).splitlines())
    assert line in isa_text.as_html(kernels, (), (), found)
    (told,) = json.loads(isa_text.as_json((), (), found))["claims"]
    assert (told["answer"], told["gpu"], told["number"], told["against_number"]) == ("holds", "pvc", 20, 30)
    assert (told["claim"]["word"], told["claim"]["against"]) == ("instructions", "slow")
    assert told["both_sides"]["lanes"] == ["16", "32"]


def test_the_narrowest_kernel_of_a_variant_is_its_lanes() -> None:
    slow = kernel(launch("slow", "a"), simd_width=32), kernel(launch("slow", "b"), simd_width=8)
    (found,) = answers(Claim("lanes", against="slow"), *slow, kernel(launch("fast"), simd_width=16))
    assert (found.answer, found.reason) == (Answer.INVERTS, "16 against 8 lanes")
    assert found.both_sides["lanes"] == ("16", "8 and 32")


def test_what_is_claimed_of_other_gpus_is_not_asked() -> None:
    claim = Claim(CodeClaim.BRANCHES, against="slow", requires=("native_float_atomics=0",))
    kernels = [
        kernel(launch(variant), gpu, instructions_control=3) for variant in ("slow", "fast") for gpu in ("pvc", "gen9")
    ]
    found = {answer.target.gpu: answer for answer in answers(claim, *kernels)}
    assert (found["gen9"].answer, found["gen9"].number) == (Answer.NO_EFFECT, 3)
    assert (found["pvc"].answer, found["pvc"].number) == (Answer.NOT_ASKED, None)
    (line,) = isa_text.claims([found["pvc"]])
    assert line.startswith("not asked: p/fast, pvc: ") and "native_float_atomics here: 1" in line
