"""What a kernel is told by: the same on both stacks, another for everything that changes what it computes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xebench.dpex import KernelOptions, device_func, kernel, kernel_api, sub_group
from xebench.dpex.identity import UnknownIdentity, kernel_key, source_digest
from xebench.dpex.kernel_options import SourceFunction, SourceKernel
from xebench.dpex.signature import ArrayType, Signature
from xebench.patterns.pattern_file import load_file

NUMPY_ERRORS = {"error_model": "numpy"}

#: A pattern file whose kernel refers to a module beside it.
OF_A_NEIGHBOUR = """
from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi
from . import sizes

pattern = Pattern("mine", guide="none", lesson="Any.", presets={"smoke": {"n": 8}, "default": {"n": 8}})

@kernel
def widths(item: kapi.Item, y):
    y[item.get_id(0)] = sizes.WIDTH

@pattern.problem
def problem(rng, n):
    return Problem(y=output(n, "int32"))

@pattern.reference
def expected(p):
    return {"y": [8] * p.n}

@pattern.naive
def write(session, p):
    session.launch(widths, kapi.Range(p.n), p.y)

@pattern.optimized
def again(session, p):
    session.launch(widths, kapi.Range(p.n), p.y)
"""


def doubled(item: kernel_api.Item, x: Any) -> None:
    i = item.get_id(0)
    kernel_api.AtomicRef(x, i).fetch_add(np.float32(len(x)))


def of_value(value: Any) -> Any:
    def run(item: kernel_api.Item, x: Any) -> None:
        x[item.get_id(0)] = value

    return run


def of_helper(helper: Any) -> Any:
    def run(item: kernel_api.Item, x: Any) -> None:
        x[item.get_id(0)] = helper(x[0])

    return run


def half(value: Any) -> Any:
    return value / 2


def test_a_kernel_is_the_same_on_both_stacks() -> None:
    assert source_digest(kernel(doubled)) == source_digest(SourceKernel(doubled, NUMPY_ERRORS))
    pinned, current = device_func(half), SourceFunction(half, NUMPY_ERRORS)
    assert source_digest(kernel(of_helper(pinned))) == source_digest(SourceKernel(of_helper(current), NUMPY_ERRORS))
    wide = SourceKernel(doubled, NUMPY_ERRORS, KernelOptions(sub_group_size=16))
    assert source_digest(kernel(doubled, sub_group_size=16)) == source_digest(wide)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (3, 4),
        (1, True),
        (1, 1.0),
        (1.0, np.float32(1)),
        (np.int32(1), np.int64(1)),
        (np.bool_(True), True),
        ((1, 23), (12, 3)),
        (kernel_api.MemoryScope.WORK_GROUP, kernel_api.MemoryScope.DEVICE),
        (sub_group.reduce_add, sub_group.reduce_max),
    ],
)
def test_what_is_captured_counts(one: Any, other: Any) -> None:
    assert source_digest(kernel(of_value(one))) != source_digest(kernel(of_value(other)))
    assert source_digest(kernel(of_value(one))) == source_digest(kernel(of_value(one)))


def test_options_and_the_error_model_count() -> None:
    variants = [kernel(doubled), kernel(doubled, unroll=2), kernel(doubled, error_model="python")]
    assert len(set(map(source_digest, variants))) == 3


def test_the_signature_counts() -> None:
    one = Signature("Item", 1, (ArrayType("float32", 1, "C"),))
    others = [
        Signature("Item", 1, (ArrayType("float32", 1, "A"),)),
        Signature("Item", 1, (ArrayType("float32", 1, "C"),), atomic64=False),
    ]
    assert len({kernel_key(kernel(doubled), signature) for signature in (one, *others)}) == 3


def test_what_nobody_can_tell_is_no_identity() -> None:
    with pytest.raises(UnknownIdentity, match="object object"):
        source_digest(kernel(of_value(object())))
    namespace: dict[str, Any] = {}
    exec(compile("def run(item, x):\n    x[0] = 1\n", "<made>", "exec"), namespace)
    with pytest.raises(UnknownIdentity, match="run, whose source is not in a file"):
        source_digest(kernel(namespace["run"]))


def test_where_a_pattern_file_lies_does_not_count(tmp_path: Path) -> None:
    digests = set()
    for place in ("here", "there"):
        folder = tmp_path / place / "chapter"
        folder.mkdir(parents=True)
        (folder / "sizes.py").write_text("WIDTH = 8\n")
        (folder / "mine.py").write_text(OF_A_NEIGHBOUR)
        (pattern,) = load_file(folder / "mine.py")
        digests.add(source_digest(pattern.variants["write"].function.__globals__["widths"]))
    assert len(digests) == 1
