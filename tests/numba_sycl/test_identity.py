"""What a kernel is told by: another identity for everything that changes what it computes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numba_sycl import compiler, device_func, kernel, kernel_api, spirv_cache, stacks, sub_group
from numba_sycl.identity import UnknownIdentity, digest, kernel_key
from numba_sycl.signature import ArrayType, Signature
from numba_sycl.stacks import is_current

NUMPY_ERRORS = {"error_model": "numpy"}


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
    assert digest(kernel(of_value(one))) != digest(kernel(of_value(other)))
    assert digest(kernel(of_value(one))) == digest(kernel(of_value(one)))


def test_options_and_the_error_model_count() -> None:
    variants = [kernel(doubled), kernel(doubled, unroll=2), kernel(doubled, error_model="python")]
    assert len(set(map(digest, variants))) == 3


@pytest.mark.parametrize("package", ["numba", "llvmlite", "numpy"])
def test_versions_count(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    signature = Signature("Item", 1, (ArrayType("float32", 1, "C"),))
    installed = compiler._fingerprint(kernel(doubled), signature)
    monkeypatch.setattr(
        spirv_cache, "_version", lambda name: "0.0" if name == package else stacks.installed_version(name)
    )
    monkeypatch.setattr(compiler, "toolchain", spirv_cache.toolchain.__wrapped__)
    assert installed is not None
    assert compiler._fingerprint(kernel(doubled), signature) not in (None, installed)


def test_the_signature_counts() -> None:
    one = Signature("Item", 1, (ArrayType("float32", 1, "C"),))
    others = [
        Signature("Item", 1, (ArrayType("float32", 1, "A"),)),
        Signature("Item", 1, (ArrayType("float32", 1, "C"),), atomic64=False),
    ]
    assert len({kernel_key(kernel(doubled), signature) for signature in (one, *others)}) == 3


def test_what_nobody_can_tell_is_no_identity() -> None:
    with pytest.raises(UnknownIdentity, match="object object"):
        digest(kernel(of_value(object())))


def made(code: str, **names: Any) -> Any:
    namespace: dict[str, Any] = dict(names)
    exec(compile(f"def run(item, x):\n    {code}\n", "<made>", "exec"), namespace)
    return kernel(namespace["run"])


def test_code_counts_that_no_file_has() -> None:
    assert digest(made("x[0] = 1")) == digest(made("x[0] = 1")) != digest(made("x[0] = 2"))


def test_lambdas_of_one_line_are_told_apart() -> None:
    one, other = device_func(lambda x: x + 1), device_func(lambda x: x * 10)
    assert digest(kernel(of_helper(one))) != digest(kernel(of_helper(other)))


def test_what_a_file_says_after_its_import_does_not_count(tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"

    def loaded(text: str) -> Any:
        file.write_text(text)
        namespace: dict[str, Any] = {}
        exec(compile(text, str(file), "exec"), namespace)
        return kernel(namespace["run"])

    before, after = (f"def run(item, x):\n    x[0] = x[0] * {factor}\n" for factor in (2, 3))
    twice, expected = loaded(before), digest(loaded(before))
    file.write_text(after)
    assert digest(twice) == expected != digest(loaded(after))


@pytest.mark.skipif(not is_current(), reason="a kernel of numba-dpex imports numba, which is not looked at here")
def test_extensions_of_numba_count() -> None:
    from numba.core.typing.templates import builtin_registry
    from numba.extending import intrinsic, overload

    def extended(text: str, factor: int) -> str:
        def stub(x: Any) -> Any:
            return x

        @intrinsic
        def times(context: Any, x: Any) -> Any:
            return x(x), lambda context, builder, sig, args: builder.mul(args[0], args[0].type(factor))

        def implementation(x: Any) -> Any:
            return (lambda x: times(x + 0)) if text == "times" else (lambda x: x)

        kept = [*builtin_registry.functions], [*builtin_registry.globals]
        overload(stub)(implementation)
        try:
            return kernel_key(kernel(of_helper(stub)), Signature("Item", 1, (ArrayType("int64", 1, "C"),)))
        finally:
            builtin_registry.functions[:], builtin_registry.globals[:] = kept

    assert extended("times", 2) == extended("times", 2)
    assert len({extended(*each) for each in (("times", 2), ("times", 3), ("as it is", 2))}) == 3
