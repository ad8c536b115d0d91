"""The text of kernels in SYCL C++: their names and parameters are read, and mistakes are one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from numba_sycl.errors import OptionError
from xebench import sycl_kernel
from xebench.dpex.foreign_parameters import GlobalPointer, LocalPointer, Number, StreamObject

KERNEL = 'extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::nd_range_kernel<1>))\nvoid {name}({parameters}) {{ }}\n'


def test_parameters_are_read_by_their_types() -> None:
    declared = (
        "const float *x, double* y, std::uint8_t *z, sycl::half *h, int n, unsigned m, unsigned long long_number, "
        "std::int64_t, size_t s, sycl::accessor<int> a, sycl::accessor<const float, 1, sycl::access_mode::read> b, "
        "sycl::local_accessor<float, 1> tile, sycl::stream out"
    )
    assert sycl_kernel(KERNEL.format(name="all_kinds", parameters=declared)).parameters == (
        *map(GlobalPointer, ("float32", "float64", "uint8", "float16")),
        *map(Number, ("int32", "uint32", "uint64", "int64", "uint64")),
        GlobalPointer("int32", is_accessor=True),
        GlobalPointer("float32", is_accessor=True),
        LocalPointer("float32", is_accessor=True),
        StreamObject(),
    )


def test_kernels_are_found_by_their_names_and_comments_are_none() -> None:
    text = KERNEL.format(name="one", parameters="int n").replace("void", "[[sycl::reqd_sub_group_size(8)]] void")
    text += KERNEL.format(name="two", parameters="") + "// " + KERNEL.format(name="three", parameters="").split("\n")[0]
    assert sycl_kernel(text, name="one").parameters == (Number("int32"),)
    assert sycl_kernel(text, name="two").parameters == ()
    with pytest.raises(OptionError, match=r"^the SYCL C\+\+ has 2 kernels \(one, two\): state name=$"):
        sycl_kernel(text)
    with pytest.raises(OptionError, match="no kernel 'tow': did you mean two"):
        sycl_kernel(text, name="tow")


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ("sycl::accessor<float, 2> x", "accessors have one dimension"),
        ("sycl::accessor<sycl::float4> x", "elements that numpy has"),
        ("sycl::half x", "no pointer, number, accessor or stream"),
        ("Mine x", "no pointer, number, accessor or stream"),
    ],
)
def test_other_parameters_are_refused(parameters: str, told: str) -> None:
    with pytest.raises(OptionError, match=f"^kernel mine: parameter '.*{told}"):
        sycl_kernel(KERNEL.format(name="mine", parameters=parameters))


def test_it_knows_the_file_that_made_it() -> None:
    assert sycl_kernel(KERNEL.format(name="mine", parameters="")).file == Path(__file__)


def test_products_are_not_contracted_unless_that_is_asked_for() -> None:
    text = KERNEL.format(name="mine", parameters="")
    assert sycl_kernel(text, build_options="-DA=1").sycl_options == ("-ffp-contract=off", "-DA=1")
    assert sycl_kernel(text, fp_contract=True).sycl_options == ()
